// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "clprobe/device.hpp"

namespace clprobe {
namespace {

/// "latency (global, 64 KiB)": where an error happened.
std::string place(const Probe& probe, const Point& point) {
  const auto size = point.parameters.integer_or("working_set_bytes", -1);
  if (size < 0) return fmt::format("{} ({})", probe.id, point.series);
  return fmt::format("{} ({}, {})", probe.id, point.series,
                     format_bytes({static_cast<std::uint64_t>(size)}));
}

/// Runs `action`; what OpenCL throws becomes one line that says where it happened.
template <typename Action>
auto translated(const std::string& where, Action action) {
  try {
    return action();
  } catch (const cl::Error& error) {
    throw DeviceError(fmt::format("{} in {}", describe(error), where));
  }
}

class OpenClBackend final : public Backend {
 public:
  explicit OpenClBackend(Session& session) : session_(session) {}

  [[nodiscard]] const DeviceInfo& device() const override { return session_.info(); }

  Work prepare(const Probe& probe, const Point& point) override {
    const std::string where = place(probe, point);
    if (probe.open == nullptr) throw Unsupported(fmt::format("{} has no kernel", where));
    if (opened_ != &probe) open(probe, where);
    Work work = translated(where, [&] { return prepare_(point); });
    work.run = [run = std::move(work.run), where](std::uint64_t iterations) {
      return translated(where, [&] { return run(iterations); });
    };
    return work;
  }

 private:
  /// One probe is open at a time: what it held is free before the next one takes its own.
  void open(const Probe& probe, const std::string& where) {
    opened_ = nullptr;
    prepare_ = nullptr;
    prepare_ = translated(where, [&] { return probe.open(session_); });
    opened_ = &probe;
  }

  Session& session_;
  const Probe* opened_{nullptr};
  Preparer prepare_{};
};

}  // namespace

std::unique_ptr<Backend> opencl_backend(Session& session) {
  return std::make_unique<OpenClBackend>(session);
}

}  // namespace clprobe
