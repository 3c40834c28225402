// SPDX-License-Identifier: Apache-2.0
#include "hidden_text.hpp"

namespace clprobe {
namespace {

void hide_in(std::initializer_list<std::string*> texts) {
  for (std::string* const text : texts) *text += all_hidden();
}

void hide_in(std::vector<Warning>& warnings) {
  warnings.push_back({"odd" + all_hidden(), {{"fact" + all_hidden(), "value" + all_hidden()}}});
  warnings.push_back({"clock_refused", {{"clock", all_hidden()}, {"reason", all_hidden()}}});
}

}  // namespace

Run with_hidden_text(Run run) {
  DeviceInfo& device = run.device;
  hide_in({&run.started, &run.tool.version, &run.tool.commit, &run.tool.compiler, &run.host.cpu,
           &run.host.os, &run.host.kernel, &device.platform_index, &device.platform, &device.name,
           &device.vendor, &device.driver, &device.version, &device.isa});
  device.reported.set("name" + all_hidden(), Value{"value" + all_hidden()});
  run.arguments.push_back(all_hidden());
  hide_in(run.warnings);
  for (ProbeResult& result : run.results) {
    hide_in({&result.probe, &result.reason, &result.view.value_title});
    hide_in(result.warnings);
    for (KernelBuild& kernel : result.kernels) hide_in({&kernel.sha256, &kernel.options});
    for (Point& point : result.points) {
      hide_in({&point.series});
      if (!point.failure.empty()) hide_in({&point.failure});
      point.parameters.set("note" + all_hidden(), Value{"text" + all_hidden()});
      point.facts.set("fact" + all_hidden(), Value{"text" + all_hidden()});
    }
    for (Finding& finding : result.findings) {
      hide_in({&finding.series, &finding.label, &finding.method, &finding.unit});
      if (!finding.value) hide_in({&finding.name, &finding.reason});
    }
  }
  return run;
}

}  // namespace clprobe
