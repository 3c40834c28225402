// SPDX-License-Identifier: Apache-2.0
// Reads a number of `clprobe describe -o device.json`: describe device.json last_cache.capacity
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

double value_of(const char* path, const char* name, double otherwise) {
  const nlohmann::json device = nlohmann::json::parse(std::ifstream(path));
  const nlohmann::json number = device.at("numbers").value(name, nlohmann::json::object());
  for (const char* key : {"value", "low"})  // without a value, the lower bound
    if (number.contains(key) && number[key].is_number()) return number[key];
  return otherwise;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::cout << value_of(argv[1], argv[2], std::numeric_limits<double>::quiet_NaN()) << '\n';
}
