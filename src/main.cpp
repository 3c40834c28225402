// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/run.hpp"
#include "system/api/files.hpp"

namespace {

int complain(const std::exception& error, int exit_code) {
  clprobe::terminal::complain(error.what());
  return exit_code;
}

}  // namespace

int main(int count, char** words) {
  using namespace clprobe;
  system::open_missing_streams();
  system::ignore_signals_of_writing();
  const std::vector<std::string> arguments(words + 1, words + count);
  try {
    return commands::run(cli::parse(arguments, all_probes()), arguments);
  } catch (const cli::UsageError& error) {
    return complain(error, commands::exit_usage);
  } catch (const RunFormatError& error) {
    return complain(error, commands::exit_usage);
  } catch (const commands::NoDevice& error) {
    return complain(error, commands::exit_no_device);
  } catch (const std::exception& error) {
    return complain(error, commands::exit_failed);
  }
}
