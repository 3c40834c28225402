// SPDX-License-Identifier: Apache-2.0
// Findings about the link between host and device.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/shared/finding.hpp"
#include "probes/transfer/transfer.hpp"

namespace clprobe::transfer {

namespace {

constexpr std::string_view pinned_series = "to-device-pinned";

/// Returns the bytes per second of one direction of a link such as "PCIe 5.0 x16", after encoding;
/// 0 for another text. Source: PCI Express Base Specification 6.0 (8b/10b, 128b/130b, and flits of
/// 242 in 256 bytes).
double rate_of_link(const std::string& link) {
  struct Lane {
    double transfers_per_second;
    double encoding;
  };
  constexpr std::array all{Lane{2.5e9, 0.8},          Lane{5e9, 0.8},
                           Lane{8e9, 128.0 / 130.0},  Lane{16e9, 128.0 / 130.0},
                           Lane{32e9, 128.0 / 130.0}, Lane{64e9, 242.0 / 256.0},
                           Lane{128e9, 242.0 / 256.0}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string start = fmt::format("PCIe {}.0 x", i + 1);
    unsigned lanes = 0;
    const char* const end = link.data() + link.size();
    if (!link.starts_with(start) ||
        std::from_chars(link.data() + start.size(), end, lanes).ptr != end) {
      continue;
    }
    return all.at(i).transfers_per_second * all.at(i).encoding * lanes / 8.0;
  }
  return 0.0;
}

/// Adds the host-to-device bandwidth as a share of the link's rate.
void add_share(Findings& found, const std::string& link) {
  constexpr double clearly_above = 1.02;
  const Finding* const rate = find_value(found.findings, "bandwidth", pinned_series);
  if (rate == nullptr) return;
  const double peak = rate_of_link(link);
  Finding share = finding_of("share_of_link", pinned_series, "share", "compared with " + link);
  share.source = Source::derived;
  if (*rate->value > clearly_above * peak) {
    share.reason = "transfers exceed this link's peak rate, so they take another path";
  } else {
    share =
        with_value(std::move(share), *rate->value / peak, rate->low.value_or(*rate->value) / peak,
                   rate->high.value_or(*rate->value) / peak);
  }
  found.findings.push_back(std::move(share));
}

}  // namespace

void add_link(Findings& found, const DeviceInfo& device, std::span<const Point> points) {
  Finding link;
  for (const Point& point : points) {
    const std::string now = point.facts.text_or(link_fact, "");
    if (now.empty()) continue;
    if (link.name.empty()) link = finding_of("link", point.series, "", "reported");
    // A driver may raise the speed of an idle link only after the first transfers.
    if (rate_of_link(now) > rate_of_link(link.label)) link.label = now;
  }
  if (link.name.empty()) return;
  link.source = Source::reported;
  if (link.label.empty()) {
    link.reason = "neither NVML nor the system reports the link; virtual machines often hide it";
    found.findings.push_back(std::move(link));
    return;
  }
  add_share(found, link.label);
  const std::string max = device.reported.text_or("max_link", "");
  if (rate_of_link(link.label) < rate_of_link(max)) {
    found.warnings.push_back(
        {"narrow_link", {{"link", link.label}, {"max_link", max}}, WarningSource::analysis});
  }
  found.findings.push_back(std::move(link));
}

void combine(std::vector<Finding>& findings) {
  const Finding* const rate = find_value(findings, "bandwidth", pinned_series);
  for (Finding& share : findings) {
    if (share.name != "share_of_link" || !share.value || rate == nullptr) continue;
    const double per_rate = *share.value / *rate->value;
    if (rate->low) share.low = *rate->low * per_rate;
    if (rate->high) share.high = *rate->high * per_rate;
  }
}

}  // namespace clprobe::transfer
