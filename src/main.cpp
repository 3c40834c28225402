// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/run.hpp"
#include "commands/commands.hpp"
#include "commands/selection.hpp"
#include "system/standard_streams.hpp"
#include "system/write.hpp"
#include "terminal/output.hpp"

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
