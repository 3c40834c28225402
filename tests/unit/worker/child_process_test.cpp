// SPDX-License-Identifier: Apache-2.0
// The worker process as its parent sees it. This program is its own worker: with --worker it
// performs the actions in each line, which imitate broken drivers.
#define DOCTEST_CONFIG_IMPLEMENT
#include "measure/worker/child_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "measure/api/engine.hpp"
#include "measure/api/worker.hpp"
#include "measure/worker/protocol.hpp"
#include "run/api/json.hpp"

namespace clprobe {
namespace {

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count <= 0) _exit(77);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void answer(const std::string& text) { write_all(worker_channel, text + "\n"); }

[[noreturn]] void hang() {
  for (;;) pause();
}

/// Starts a process in the worker's group that outlives the worker, as some drivers do.
pid_t start_grandchild() {
  const pid_t pid = fork();
  if (pid == 0) {
    close(worker_channel);
    hang();
  }
  return pid;
}

/// Restores the default handler and raises the signal, since sanitizers handle crashes themselves.
void die_by(int signal_number) {
  static_cast<void>(std::signal(signal_number, SIG_DFL));
  static_cast<void>(raise(signal_number));
}

struct Action {
  std::string_view word;
  void (*perform)(const std::string& rest);
};

constexpr std::array actions{
    Action{"echo", [](const std::string& rest) { answer(rest); }},
    Action{"length", [](const std::string& rest) { answer(std::to_string(rest.size())); }},
    Action{"repeat", [](const std::string& rest) { answer(std::string(std::stoul(rest), 'x')); }},
    Action{"variable",
           [](const std::string& rest) {
             const char* const value = std::getenv(rest.c_str());
             answer(value == nullptr ? "(none)" : value);
           }},
    Action{"pid", [](const std::string&) { answer(std::to_string(getpid())); }},
    Action{"group", [](const std::string&) { answer(std::to_string(getpgrp())); }},
    Action{"signal", [](const std::string& rest) { die_by(std::stoi(rest)); }},
    Action{"exit", [](const std::string& rest) { _exit(std::stoi(rest)); }},
    Action{"hang", [](const std::string&) { hang(); }},
    Action{"print", [](const std::string& rest) { write_all(STDOUT_FILENO, rest + "\n"); }},
    Action{"complain", [](const std::string& rest) { write_all(STDERR_FILENO, rest + "\n"); }},
    Action{"half", [](const std::string& rest) { write_all(worker_channel, rest); }},
    Action{"deaf",
           [](const std::string&) {
             answer("deaf");
             hang();
           }},
    Action{"close",
           [](const std::string&) {
             close(worker_channel);
             hang();
           }},
    Action{"leave", [](const std::string&) { answer(std::to_string(start_grandchild())); }},
};

/// Performs the actions of a line, which are separated by ';'.
void perform(std::string line) {
  while (!line.empty()) {
    const std::string action = line.substr(0, line.find(';'));
    line.erase(0, action.size() + 1);
    const std::string word = action.substr(0, action.find(' '));
    const std::string rest = action.size() > word.size() ? action.substr(word.size() + 1) : "";
    const auto* const found = std::find_if(actions.begin(), actions.end(),
                                           [&](const Action& each) { return each.word == word; });
    if (found == actions.end()) _exit(78);
    found->perform(rest);
  }
}

/// Variable with the path of a file. The worker appends each line to it and does nothing else.
constexpr const char* log_variable = "CLPROBE_TEST_HEARD";

/// Variable with the worker's answers to any request: one per line, repeating the last. '|'
/// separates the lines of an answer.
constexpr const char* answers_variable = "CLPROBE_TEST_ANSWERS";

int be_the_worker() {
  const char* const script = std::getenv(answers_variable);
  std::string answers = script == nullptr ? "" : script;
  std::string unread;
  std::array<char, 65536> bytes{};
  for (;;) {
    const ssize_t count = read(worker_channel, bytes.data(), bytes.size());
    if (count <= 0) return 0;
    unread.append(bytes.data(), static_cast<std::size_t>(count));
    for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
      const std::string line = unread.substr(0, end);
      unread.erase(0, end + 1);
      if (const char* const log = std::getenv(log_variable); log != nullptr) {
        const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        write_all(file, line + "\n");  // one write, so that lines of several workers do not mix
        close(file);
        continue;
      }
      if (script == nullptr) {
        perform(line);
        continue;
      }
      const auto first = answers.find('\n');
      std::string lines = answers.substr(0, first);
      std::replace(lines.begin(), lines.end(), '|', '\n');
      answer(lines);
      if (first != std::string::npos) answers.erase(0, first + 1);
    }
  }
}

using std::chrono::milliseconds;

// Timeout that no passing test reaches.
constexpr milliseconds ample{60'000};
constexpr milliseconds brief{200};

std::string ask(ChildProcess& child, std::string_view line, milliseconds timeout = ample) {
  return child.ask(line, timeout, {});
}

/// Sends a line that must not be answered. Returns the reason of the loss.
std::string loss(ChildProcess& child, std::string_view line, milliseconds timeout = ample,
                 const std::function<bool()>& cancelled = {}) {
  try {
    return "answered: " + child.ask(line, timeout, cancelled);
  } catch (const ChildLost& lost) {
    return lost.what();
  }
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

/// Returns true if no child is left, not even as a zombie.
bool has_no_children() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

TEST_CASE("lines are answered in turn") {
  ChildProcess child;
  CHECK(ask(child, "echo one") == "one");
  CHECK(ask(child, "echo two") == "two");
  CHECK(ask(child, "echo") == "");
}

TEST_CASE("a child has this process's variables, with its own and the drivers' folder above them") {
  setenv("CLPROBE_TEST_KEPT", "kept", 1);
  setenv("OCL_ICD_FILENAMES", "lib.so", 1);
  const auto ask = [](ChildProcess& child, const std::string& name) {
    return child.ask("variable " + name, std::chrono::seconds(20), {});
  };
  ChildProcess plain;
  CHECK(ask(plain, "CLPROBE_TEST_KEPT") == "kept");
  CHECK(ask(plain, "CLPROBE_TEST_OWN") == "(none)");
  ChildProcess own("", {{"CLPROBE_TEST_OWN", "a=b"}, {"CLPROBE_TEST_KEPT", "changed"}});
  CHECK(ask(own, "CLPROBE_TEST_OWN") == "a=b");
  CHECK(ask(own, "CLPROBE_TEST_KEPT") == "changed");
  CHECK(ask(own, "OCL_ICD_FILENAMES") == "lib.so");
  ChildProcess with_folder("/folder", {{"OCL_ICD_VENDORS", "/other"}});
  CHECK(ask(with_folder, "OCL_ICD_VENDORS") == "/folder");
  CHECK(ask(with_folder, "OCL_ICD_FILENAMES").empty());
  unsetenv("OCL_ICD_FILENAMES");
  unsetenv("CLPROBE_TEST_KEPT");
}

TEST_CASE("lines of a megabyte travel both ways") {
  constexpr std::size_t megabyte = 1U << 20U;
  ChildProcess child;
  CHECK(ask(child, "length " + std::string(megabyte, 'y')) == std::to_string(megabyte));
  CHECK(ask(child, "repeat " + std::to_string(megabyte)) == std::string(megabyte, 'x'));
  CHECK(ask(child, "echo still here") == "still here");
}

TEST_CASE("what libraries print does not get between the lines") {
  ChildProcess child;
  CHECK(ask(child, "print {\"garbage\": 1};complain more;echo right") == "right");
}

TEST_CASE("an answer that comes in pieces is one answer") {
  ChildProcess child;
  CHECK(ask(child, "half be;half gin;echo ning") == "beginning");
}

TEST_CASE("a child that dies by a signal is told by the signal's name") {
  ChildProcess child;
  const std::string how = loss(child, "signal 11");
  CHECK(has(how, "signal 11"));
  CHECK(has(how, "Segmentation fault"));
  CHECK(has_no_children());
}

TEST_CASE("a child that exits is told by its status") {
  ChildProcess child;
  CHECK(has(loss(child, "exit 42"), "status 42"));
  CHECK(has_no_children());
}

TEST_CASE("half an answer is no answer") {
  ChildProcess child;
  CHECK(has(loss(child, "half {\"work\":;exit 3"), "status 3"));
  ChildProcess hanging;
  CHECK(has(loss(hanging, "half {\"work\":", brief), "did not respond"));
}

TEST_CASE("a child that hangs is given up after the time that it has, and killed") {
  ChildProcess child;
  const pid_t pid = std::stoi(ask(child, "pid"));
  const std::string how = loss(child, "hang", brief);
  CHECK(has(how, "did not respond within 0.2 s"));
  CHECK(has(how, "--timeout"));
  CHECK(is_gone(pid));
}

TEST_CASE("a child that no longer reads is given up as well") {
  ChildProcess child;
  CHECK(ask(child, "deaf") == "deaf");
  // The line is longer than the buffer of a socket.
  CHECK(has(loss(child, "echo " + std::string(8U << 20U, 'z'), brief), "did not respond"));
  CHECK(has_no_children());
}

TEST_CASE("a child that closes its end without ending is killed") {
  ChildProcess child;
  const pid_t pid = std::stoi(ask(child, "pid"));
  CHECK_FALSE(loss(child, "close").empty());
  CHECK(is_gone(pid));
}

TEST_CASE("an interrupt ends the wait and the child") {
  ChildProcess child;
  const pid_t pid = std::stoi(ask(child, "pid"));
  int checks = 0;
  CHECK(has(loss(child, "hang", ample, [&] { return ++checks > 1; }), "interrupted"));
  CHECK(is_gone(pid));
  ChildProcess deaf;
  CHECK(ask(deaf, "deaf") == "deaf");
  CHECK(has(loss(deaf, "echo " + std::string(8U << 20U, 'z'), ample, [] { return true; }),
            "interrupted"));
}

TEST_CASE("a child that is gone stays gone, and says so at once") {
  ChildProcess child;
  CHECK(has(loss(child, "exit 1"), "status 1"));
  CHECK(has(loss(child, "echo one"), "process has ended"));
  CHECK(has(loss(child, "echo one"), "process has ended"));
}

TEST_CASE("a child that dies between two questions is told at the next") {
  ChildProcess child;
  CHECK(ask(child, "echo one;exit 9") == "one");
  CHECK(has(loss(child, "echo two"), "status 9"));
}

TEST_CASE("what the child printed last tells why it ended") {
  ChildProcess child;
  const std::string how = loss(child, "complain LLVM ERROR: cannot select;complain stack;exit 1");
  CHECK(has(how, "status 1"));
  CHECK(has(how, "\"LLVM ERROR: cannot select\""));
  CHECK_FALSE(has(how, "stack"));
}

TEST_CASE("last words are one line without control characters, and not a page") {
  ChildProcess child;
  const std::string how =
      loss(child, "complain \x1b[31mred\r\x07" + std::string(9000, 'w') + ";exit 1");
  CHECK(how.size() < 400);
  CHECK(
      std::none_of(how.begin(), how.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}

TEST_CASE("a terminal's Ctrl-C reaches the program alone: the child has a group of its own") {
  ChildProcess child;
  CHECK(ask(child, "group") == ask(child, "pid"));
  CHECK(ask(child, "group") != std::to_string(getpgrp()));
}

TEST_CASE("children and what they start end with their object") {
  pid_t pid = 0;
  pid_t grandchild = 0;
  {
    ChildProcess child;
    pid = std::stoi(ask(child, "pid"));
    grandchild = std::stoi(ask(child, "leave"));
  }
  CHECK(is_gone(pid));
  CHECK(has_no_children());
  // The grandchild cannot be waited for here: it has ended or is a zombie.
  CHECK(grandchild > 0);
}

TEST_CASE("many children one after another leave no descriptors behind") {
  const auto free_descriptor = [] {
    const int descriptor = dup(STDERR_FILENO);
    close(descriptor);
    return descriptor;
  };
  const int before = free_descriptor();
  for (int i = 0; i < 20; ++i) {
    ChildProcess child;
    CHECK(has(loss(child, "exit 0"), "status 0"));
  }
  CHECK(free_descriptor() == before);
  CHECK(has_no_children());
}

/// Answers of all workers that are started during the object's lifetime.
class Answers {
 public:
  explicit Answers(const std::string& lines) { setenv(answers_variable, lines.c_str(), 1); }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  Answers(Answers&&) = delete;
  Answers& operator=(Answers&&) = delete;
  ~Answers() { unsetenv(answers_variable); }
};

WorkerSettings patient() {
  WorkerSettings settings;
  settings.timeout = ample;
  return settings;
}

constexpr std::array broken_answers{"no JSON",
                                    "{\"cut\": ",
                                    "[]",
                                    "3",
                                    "null",
                                    "{}",
                                    "{\"device\": 7}",
                                    "{\"error\": 7}",
                                    "{\"error\": {}}",
                                    "{\"devices\": [{}], \"problems\": []}"};

/// Returns the answer of a worker that has opened and tested a device.
std::string opened() {
  json::Json answer;
  DeviceInfo device;
  device.name = "Device";
  answer["device"] = json::encode(device);
  answer["clocks"] = json::Json::array();
  return json::one_line(answer);
}

std::string prepared_line() {
  return json::one_line(
      {{"facts", json::encode(Parameters{})}, {"build", json::encode(KernelBuild{})}});
}

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "(none)";
}

TEST_CASE("answers that cannot be read are the device's error, when it is listed and opened") {
  for (const char* const text : broken_answers) {
    CAPTURE(text);
    const Answers answers(text);
    CHECK(has(complaint([] { list_devices(patient()); }), "sent an invalid response"));
    CHECK(
        has(complaint([] { remote_backend(0, patient(), nullptr); }), "sent an invalid response"));
  }
}

TEST_CASE("answers that cannot be read while a device is tried cost a warning each") {
  const Answers answers(opened() + "\nno JSON");
  const auto backend = remote_backend(0, patient(), nullptr);
  CHECK(backend->device().name == "Device");
  const auto warnings = backend->warnings();
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[0].code == "event_times_false");
  CHECK(has(warnings[0].facts.text_or("reason", ""), "sent an invalid response"));
}

TEST_CASE("answers that cannot be read while measuring are the point's failure") {
  const std::string tried = opened() + '\n' + opened() + '\n' + opened() + '\n' + opened() + '\n';
  for (const char* const text : {"no JSON", "[]", "{}", "{\"facts\": []}", "{\"error\": []}"}) {
    CAPTURE(text);
    const Answers answers(tried + text);
    const auto backend = remote_backend(0, patient(), nullptr);
    REQUIRE(backend->warnings().empty());
    CHECK(has(complaint([&] { backend->prepare(Probe{}, Point{}); }), "sent an invalid response"));
  }
  const std::string prepared = prepared_line();
  for (const char* const text : {"no JSON", "{}", "{\"sample\": {\"ticks\": \"many\"}}"}) {
    CAPTURE(text);
    const Answers answers(tried + prepared + '\n' + text);
    const auto backend = remote_backend(0, patient(), nullptr);
    const PreparedPoint point = backend->prepare(Probe{}, Point{});
    CHECK(has(complaint([&] { point.sample({}, [](const Sample&, const Parameters&) {}); }),
              "sent an invalid response"));
    CHECK(has_no_children());
  }
}

std::string line_of(std::uint64_t ticks) {
  Sample sample;
  sample.ticks = ticks;
  return json::one_line({{"sample", json::encode(sample)}});
}

TEST_CASE("the samples of a visit are one question, and those before an error are there") {
  std::string prepared;
  for (int i = 0; i < 4; ++i) prepared += opened() + '\n';
  prepared += prepared_line() + '\n';
  std::string with_facts = line_of(8);
  with_facts.insert(1, "\"facts\": {\"power_mw\": 70000}, ");
  const std::string two = line_of(7) + "|{\"slow\": true}|" + with_facts + '|';
  struct LastLine {
    const char* line;
    const char* problem;
  };
  for (const LastLine end :
       {LastLine{"{\"done\": true}", "(none)"}, LastLine{"{\"error\": \"clFinish\"}", "clFinish"},
        LastLine{"{\"voided\": \"wrong\"}", "wrong"}}) {
    CAPTURE(end.line);
    const Answers answers(fmt::format("{}{}{}", prepared, two, end.line));
    const auto backend = remote_backend(0, patient(), nullptr);
    const PreparedPoint point = backend->prepare(Probe{}, Point{});
    std::vector<std::uint64_t> ticks;
    Parameters facts;
    const std::string problem = complaint([&] {
      point.sample({}, [&](const Sample& each, const Parameters& found) {
        ticks.push_back(*each.ticks);
        for (const auto& [name, value] : found) facts.set(name, value);
      });
    });
    CHECK(problem == end.problem);
    CHECK(facts == Parameters{{"power_mw", std::int64_t{70000}}});
    CHECK(ticks == std::vector<std::uint64_t>{7, 8});
  }
}

TEST_CASE("builders share the programs out, the first ones first, and open the device before") {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("heard-{}", getpid());
  const auto log = [&] {
    std::vector<json::Json> lines;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) lines.push_back(json::Json::parse(line));
    return lines;
  };
  WorkerSettings settings = patient();
  settings.environment = {{log_variable, file.string()}};
  std::vector<Program> programs;
  for (const char* const name : {"0", "1", "2", "3", "4"}) programs.push_back({name, {"-D", ""}});
  const Builders builders(DeviceInfo{}, settings, programs, 2);
  const auto give_up = std::chrono::steady_clock::now() + ample;
  while (log().size() < 4 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::vector<std::string> shares;
  for (const json::Json& line : log()) {
    if (line.at("do") != "build") {
      CHECK(line.at("do") == "open");
      continue;
    }
    std::string share;
    for (const json::Json& each : line.at("programs")) share += each.at("file").get<std::string>();
    shares.push_back(share);
  }
  std::sort(shares.begin(), shares.end());
  CHECK(shares == std::vector<std::string>{"024", "13"});
  std::filesystem::remove(file);
}

TEST_CASE("a program of each file tells whether the driver's cache has the programs") {
  const std::vector<Program> programs{
      {"a", {"1", ""}}, {"a", {"2", ""}}, {"b", {"3", ""}}, {"c", {"4", ""}}};
  std::string built;
  const auto build_s = [&](double seconds_of_b) {
    return [&built, seconds_of_b](const Program& each) {
      built += each.variant.options;
      return each.file == "b" ? seconds_of_b : 0.01;
    };
  };
  CHECK(are_cached(programs, build_s(0.049)));
  CHECK(built == "134");
  built.clear();
  CHECK_FALSE(are_cached(programs, build_s(0.05)));
  CHECK(built == "13");
  CHECK(are_cached({}, build_s(1.0)));
}

TEST_CASE(
    "programs are built ahead for GPUs alone, by half of the cores and a part of the memory") {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.global_memory = gibibytes(80);
  CHECK(builder_count(device, 16) == 8);
  CHECK(builder_count(device, 64) == 8);
  CHECK(builder_count(device, 6) == 3);
  CHECK(builder_count(device, 1) == 0);
  device.global_memory = gibibytes(8);
  CHECK(builder_count(device, 16) == 4);
  device.global_memory = gibibytes(1);
  CHECK(builder_count(device, 16) == 0);
  device.global_memory = gibibytes(80);
  device.type = DeviceType::cpu;
  CHECK(builder_count(device, 16) == 0);
}

}  // namespace
}  // namespace clprobe

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "--worker") return clprobe::be_the_worker();
  return doctest::Context(count, words).run();
}
