// SPDX-License-Identifier: Apache-2.0
// From the runs of a folder to the report: which run counts, which devices are compared, and which
// are slow.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/api/statistics.hpp"
#include "clprobe/run.hpp"
#include "clprobe/units.hpp"
#include "fleet/api/fleet.hpp"
#include "fleet/causes.hpp"
#include "fleet/statistics.hpp"
#include "text/api/text.hpp"

namespace clprobe::fleet {
namespace {

// Quantile of the normal distribution for two-sided 95 %, and for one-sided 90 %.
constexpr double normal_95 = 1.96;
constexpr double normal_90 = 1.2816;
constexpr double false_discovery_rate = 0.05;

/// Identifies a device across runs.
std::string identity(const Device& device) {
  if (!device.uuid.empty()) return device.uuid;
  const std::string& place = device.slot.empty() ? device.pci : device.slot;
  return device.node.empty() && place.empty() ? device.file : device.node + "\n" + place;
}

/// Returns a number's value as a logarithm, signed so that larger is better; nothing if the number
/// has no direction or is not positive.
std::optional<double> score(const Number& number) {
  if (!(number.value > 0.0)) return std::nullopt;
  const bool is_capacity = number.unit == "bytes" && number.name.ends_with(".capacity");
  switch (is_capacity ? Better::more : usual_direction(number.unit)) {
    case Better::more:
      return std::log(number.value);
    case Better::less:
      return -std::log(number.value);
    case Better::unknown:
      break;
  }
  return std::nullopt;
}

const Number* find_number(const Device& device, std::string_view name) {
  const auto found = std::ranges::find(device.numbers, name, &Number::name);
  return found == device.numbers.end() ? nullptr : &*found;
}

/// A number of the devices of one kind, and of its populations.
struct Column {
  std::string name{};
  std::string unit{};
  std::vector<std::size_t> devices{};
  std::vector<double> scores{};
  std::vector<double> noise{};
};

std::vector<Column> columns_of(const std::vector<Device>& devices,
                               std::span<const std::size_t> of_kind) {
  std::map<std::string, Column, std::less<>> columns;
  for (const std::size_t device : of_kind) {
    for (const Number& number : devices[device].numbers) {
      const std::optional<double> value = score(number);
      if (!value) continue;
      Column& column = columns[number.name];
      column.name = number.name;
      column.unit = number.unit;
      column.devices.push_back(device);
      column.scores.push_back(*value);
      column.noise.push_back(number.noise);
    }
  }
  std::vector<Column> all;
  all.reserve(columns.size());
  for (auto& [name, column] : columns) all.push_back(std::move(column));
  return all;
}

Column part_of(const Column& column, double from, double to) {
  Column part{.name = column.name, .unit = column.unit};
  for (std::size_t i = 0; i < column.scores.size(); ++i) {
    if (column.scores[i] <= from || column.scores[i] > to) continue;
    part.devices.push_back(column.devices[i]);
    part.scores.push_back(column.scores[i]);
    part.noise.push_back(column.noise[i]);
  }
  return part;
}

std::string kind_of(const Device& device) {
  const std::string major = device.driver.substr(0, device.driver.find('.'));
  std::string name = fmt::format("{}, driver {}", device.name, major);
  if (device.memory_bytes > 0.0) {
    name +=
        fmt::format(", {}", format_bytes(Bytes{static_cast<std::uint64_t>(device.memory_bytes)}));
  }
  return device.together.empty() ? name : fmt::format("{}, together {}", name, device.together);
}

struct Label {
  std::string_view name;
  std::string (*of)(const Device&);
};

constexpr std::array places{Label{"node", [](const Device& each) { return each.node; }},
                            Label{"slot", [](const Device& each) { return each.slot; }},
                            Label{"rack", [](const Device& each) { return each.rack; }}};
// Labels that may separate two groups of devices.
constexpr std::array separators{Label{"driver", [](const Device& each) { return each.driver; }},
                                Label{"rack", [](const Device& each) { return each.rack; }},
                                Label{"slot", [](const Device& each) { return each.slot; }},
                                Label{"node", [](const Device& each) { return each.node; }}};

/// Returns the groups of devices by a label, numbered from 0, and the labels of the groups.
std::pair<std::vector<std::size_t>, std::vector<std::string>> groups_by(
    const Label& label, const std::vector<Device>& devices, std::span<const std::size_t> members) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> names;
  std::vector<std::size_t> groups;
  for (const std::size_t device : members) {
    const std::string name = label.of(devices[device]);
    const auto [found, is_new] = numbers.emplace(name, names.size());
    if (is_new) names.push_back(name);
    groups.push_back(found->second);
  }
  return {groups, names};
}

class Reporter {
 public:
  Reporter(Folder folder, std::span<const Device> reference) : reference_(reference) {
    choose_runs(std::move(folder));
  }

  Report report(const Wishes& wishes) {
    find_missing(wishes);
    make_kinds();
    for (const Kind& kind : report_.kinds) judge_kind(kind);
    decide();
    add_drift();
    add_offenders();
    return std::move(report_);
  }

 private:
  /// Keeps the newest run of each device in the newest campaign. Older runs are history.
  void choose_runs(Folder folder) {
    report_.failed = std::move(folder.bad_files);
    std::vector<Device>& all = folder.devices;
    std::ranges::stable_sort(all, {}, &Device::started);
    if (!all.empty()) report_.campaign = all.back().campaign;
    std::map<std::string, Device> newest;
    for (Device& each : all) {
      if (!each.failure.empty()) {
        report_.failed.push_back({each.file, each.failure, each.node});
        continue;
      }
      Device& kept = newest[identity(each)];
      if (!kept.file.empty()) history_[identity(each)].push_back(std::move(kept));
      kept = std::move(each);
    }
    for (auto& [id, device] : newest) {
      report_.older += history_[id].size();
      const bool is_current = device.campaign == report_.campaign;
      if (is_current) {
        report_.devices.push_back(std::move(device));
      } else {
        ++report_.older;
        gone_.push_back(device.node);
      }
    }
    std::ranges::sort(report_.devices, {},
                      [](const Device& each) { return std::tie(each.node, each.slot, each.file); });
  }

  void find_missing(const Wishes& wishes) {
    std::set<std::string> there;
    for (const Device& each : report_.devices) {
      if (!each.node.empty()) there.insert(each.node);
    }
    report_.nodes = there.size();
    // Nodes of earlier campaigns are expected, too.
    std::set<std::string> expected(wishes.nodes.begin(), wishes.nodes.end());
    if (wishes.nodes.empty()) expected.insert(gone_.begin(), gone_.end());
    expected.erase("");
    std::ranges::set_difference(expected, there, std::back_inserter(report_.missing));
    const std::size_t devices = report_.devices.size();
    if (wishes.expected > devices) report_.missing_devices = wishes.expected - devices;
  }

  void make_kinds() {
    std::map<std::string, Kind> kinds;
    for (std::size_t i = 0; i < report_.devices.size(); ++i) {
      Kind& kind = kinds[kind_of(report_.devices[i])];
      kind.devices.push_back(i);
    }
    for (auto& [name, kind] : kinds) {
      kind.name = name;
      report_.kinds.push_back(std::move(kind));
    }
    for (Kind& kind : report_.kinds) {
      if (kind.devices.size() >= min_devices) continue;
      const bool has_reference = !references_of(kind).empty();
      kind.note = has_reference ? "few devices: compared with the reference"
                                : "too few for statistics: compare by --reference";
    }
  }

  std::vector<const Device*> references_of(const Kind& kind) const {
    std::vector<const Device*> found;
    const std::string& name = report_.devices[kind.devices.front()].name;
    for (const Device& each : reference_) {
      if (each.name == name && each.failure.empty()) found.push_back(&each);
    }
    return found;
  }

  void judge_kind(const Kind& kind) {
    for (const Column& column : columns_of(report_.devices, kind.devices)) {
      add_distribution(kind, column);
      if (kind.devices.size() < min_devices) {
        judge_by_reference(kind, column);
        continue;
      }
      if (column.scores.size() < min_devices) continue;
      const double noise = median(column.noise);
      const std::optional<double> gap = gap_between_groups(column.scores, noise);
      if (!gap) {
        judge(column);
        continue;
      }
      constexpr double all = 1e300;
      const Column low = part_of(column, -all, *gap);
      const Column high = part_of(column, *gap, all);
      add_two_groups(column, low, high, *gap);
      for (const Column& part : {low, high}) {
        if (part.scores.size() >= min_devices) judge(part);
      }
    }
  }

  void add_distribution(const Kind& kind, const Column& column) {
    Distribution all{.kind = kind.name, .name = column.name, .unit = column.unit};
    for (const std::size_t device : column.devices) {
      all.values.push_back(find_number(report_.devices[device], column.name)->value);
    }
    all.devices = column.devices;
    all.median = median(all.values);
    all.low = quantile(all.values, 0.05);
    all.high = quantile(all.values, 0.95);
    const auto worst = std::ranges::min_element(column.scores) - column.scores.begin();
    all.worst = all.values[static_cast<std::size_t>(worst)];
    if (column.scores.size() >= min_devices) {
      const double noise = median(column.noise);
      const Population population = population_of(column.scores, noise);
      all.detectable = std::max(relevant_share, suspect_z * population.scale) + normal_90 * noise;
    }
    report_.distributions.push_back(std::move(all));
  }

  Deviation deviation_of(const Column& column, std::size_t i, double centre) const {
    Deviation each{.device = column.devices[i], .name = column.name, .unit = column.unit};
    each.value = find_number(report_.devices[each.device], column.name)->value;
    each.loss = centre - column.scores[i];
    const bool is_rate = column.scores[i] * std::log(each.value) >= 0.0;
    each.centre = std::exp(is_rate ? centre : -centre);
    each.is_sure = is_confirmed(each, centre);
    return each;
  }

  /// Returns true if an older run of the device, in this campaign, deviates by at least half as
  /// much.
  bool is_confirmed(const Deviation& deviation, double centre) const {
    const Device& device = report_.devices[deviation.device];
    const auto older = history_.find(identity(device));
    if (older == history_.end()) return false;
    return std::ranges::any_of(older->second, [&](const Device& each) {
      const Number* const number = find_number(each, deviation.name);
      const std::optional<double> value = number == nullptr ? std::nullopt : score(*number);
      return each.campaign == device.campaign && value && (centre - *value) / deviation.loss >= 0.5;
    });
  }

  void judge(const Column& column) {
    const Population population = population_of(column.scores, median(column.noise));
    for (std::size_t i = 0; i < column.scores.size(); ++i) {
      ++tests_;
      Deviation each = deviation_of(column, i, population.centre);
      each.z = each.loss / population.scale;
      each.p = tail_probability(population, std::fabs(each.loss));
      const bool is_relevant =
          std::fabs(each.loss) > relevant_share && std::fabs(each.z) > suspect_z;
      if (!is_relevant) continue;
      const bool is_noise = normal_95 * column.noise[i] > std::fabs(each.loss);
      each.standing = is_noise          ? Standing::unsure
                      : each.loss > 0.0 ? Standing::suspect
                                        : Standing::fast;
      report_.deviations.push_back(std::move(each));
    }
    add_places(column, population);
  }

  /// Judges few devices by reference devices: worse than all of them by more than the noise.
  void judge_by_reference(const Kind& kind, const Column& column) {
    std::vector<double> good;
    for (const Device* const each : references_of(kind)) {
      const Number* const number = find_number(*each, column.name);
      const std::optional<double> value = number == nullptr ? std::nullopt : score(*number);
      if (value) good.push_back(*value);
    }
    if (good.empty()) return;
    const double spread = good.size() < 2 ? 0.0 : standard_deviation(good);
    for (std::size_t i = 0; i < column.scores.size(); ++i) {
      Deviation each = deviation_of(column, i, median(good));
      const double error = std::max({spread, column.noise[i], 0.002});
      each.z = each.loss / error;
      if (std::fabs(each.loss) <= relevant_share || std::fabs(each.z) <= suspect_z) continue;
      each.standing = each.loss > 0.0 ? Standing::suspect : Standing::fast;
      each.p = two_sided_p(each.z, normal_degrees);
      report_.deviations.push_back(std::move(each));
    }
    tests_ += column.scores.size();
  }

  void add_two_groups(const Column& column, const Column& low, const Column& high, double gap) {
    std::string by;
    constexpr double enough = 0.9;
    for (const Label& label : separators) {
      std::vector<double> side;
      for (const double each : column.scores) side.push_back(each > gap ? 1.0 : 0.0);
      const auto [groups, names] = groups_by(label, report_.devices, column.devices);
      if (!by.empty() || names.size() < 2 || names.size() * 2 > side.size()) continue;
      const Explained found = explained_by(side, groups);
      if (found.share >= enough) by = fmt::format(", separated by {}", label.name);
    }
    const double difference = std::expm1(median(high.scores) - median(low.scores));
    report_.remarks.push_back(
        {"two groups", fmt::format("{}: {} and {} devices, {:.1f} % apart{}", column.name,
                                   low.scores.size(), high.scores.size(), 100.0 * difference, by)});
  }

  /// Adds labels that explain the variance of a number, if the group that is worst is worse by a
  /// relevant share.
  void add_places(const Column& column, const Population& population) {
    constexpr double max_p = 0.001;
    constexpr double min_share = 0.1;
    constexpr double max_scales = 5.0;  // single outliers must not count as an effect of a place
    std::vector<double> clipped;
    for (const double each : column.scores) {
      const double limit = max_scales * population.scale;
      clipped.push_back(std::clamp(each - population.centre, -limit, limit));
    }
    for (const Label& label : places) {
      const auto [groups, names] = groups_by(label, report_.devices, column.devices);
      if (names.size() < 2 || names.size() * 2 > clipped.size()) continue;
      const Explained found = explained_by(clipped, groups);
      if (found.p > max_p || found.share < min_share) continue;
      std::vector<std::vector<double>> of_group(names.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        of_group[groups[i]].push_back(column.scores[i] - population.centre);
      }
      std::size_t worst = 0;
      for (std::size_t i = 1; i < names.size(); ++i) {
        if (median(of_group[i]) < median(of_group[worst])) worst = i;
      }
      const double loss = -median(of_group[worst]);
      if (loss <= relevant_share) continue;
      const auto slow = std::ranges::count_if(of_group[worst],
                                              [](double each) { return -each > relevant_share; });
      report_.remarks.push_back(
          {std::string(label.name),
           fmt::format("{} {} is {:.1f} % worse in {} on {} of {} devices ({:.0f} % of the "
                       "variance, p {:.2g})",
                       label.name, names[worst], 100.0 * std::expm1(loss), column.name, slow,
                       of_group[worst].size(), 100.0 * found.share, found.p)});
    }
  }

  /// Marks the suspects that stand out from the tails, over all numbers together.
  void decide() {
    std::vector<double> p;
    for (const Deviation& each : report_.deviations) {
      if (each.standing == Standing::suspect) p.push_back(each.p);
    }
    const std::optional<double> limit = significant_p(p, tests_, false_discovery_rate);
    for (Deviation& each : report_.deviations) {
      if (each.standing != Standing::suspect) continue;
      const bool is_significant = limit && each.p <= *limit;
      if (is_significant || each.loss > large_share) each.standing = Standing::slow;
    }
    std::ranges::stable_sort(report_.deviations, [](const Deviation& a, const Deviation& b) {
      if (a.standing != b.standing) return a.standing > b.standing;
      return std::fabs(a.loss) > std::fabs(b.loss);
    });
  }

  /// Adds changes of devices against their own history, without the change of the whole fleet.
  void add_drift() {
    constexpr std::size_t min_runs = 5;
    constexpr double max_noise = 4.0;
    struct Change {
      std::size_t device;
      double change;
      double noise;
    };
    std::map<std::string, std::vector<Change>> changes;
    for (std::size_t i = 0; i < report_.devices.size(); ++i) {
      const auto older = history_.find(identity(report_.devices[i]));
      if (older == history_.end() || older->second.size() < min_runs) continue;
      for (const Number& number : report_.devices[i].numbers) {
        std::vector<double> before;
        for (const Device& each : older->second) {
          const Number* const old = find_number(each, number.name);
          const auto value = old == nullptr ? std::nullopt : score(*old);
          if (value) before.push_back(*value);
        }
        const std::optional<double> now = score(number);
        if (!now || before.size() < min_runs) continue;
        const double noise = std::max({scaled_mad(before), number.noise, 0.002});
        changes[number.name].push_back({i, *now - median(before), noise});
      }
    }
    for (const auto& [name, all] : changes) {
      std::vector<double> shifts;
      for (const Change& each : all) shifts.push_back(each.change);
      const double fleet = shifts.size() >= min_devices ? median(shifts) : 0.0;
      if (std::fabs(fleet) > relevant_share) {
        report_.remarks.push_back({"drift", fmt::format("{}: the whole fleet changed by {:+.1f} %",
                                                        name, 100.0 * std::expm1(fleet))});
      }
      for (const Change& each : all) {
        const double own = fleet - each.change;
        if (own <= relevant_share || own <= max_noise * each.noise) continue;
        const Device& device = report_.devices[each.device];
        report_.remarks.push_back(
            {"drift", fmt::format("{}: {} {} is {:.1f} % worse than in its own earlier runs", name,
                                  device.node, device.slot, 100.0 * std::expm1(own))});
      }
    }
  }

  void add_offenders() {
    std::map<std::size_t, std::map<std::string, double, std::less<>>> losses;
    for (const Distribution& each : report_.distributions) {
      for (std::size_t i = 0; i < each.devices.size(); ++i) {
        const double loss = std::log(each.values[i] / each.median);
        const Number number{.name = each.name, .unit = each.unit, .value = each.median};
        const bool is_rate = score(number).value_or(0.0) * std::log(each.median) >= 0.0;
        losses[each.devices[i]].emplace(each.name, is_rate ? -loss : loss);
      }
    }
    for (const Deviation& each : report_.deviations) {
      if (each.standing == Standing::unsure) continue;
      const auto known = std::ranges::find(report_.offenders, each.device, &Offender::device);
      if (known != report_.offenders.end()) continue;
      Offender offender{.device = each.device, .worst = each};
      if (each.standing != Standing::fast) offender.cause = cause_of(losses[each.device]);
      report_.offenders.push_back(std::move(offender));
    }
  }

  std::span<const Device> reference_;
  Report report_{};
  std::map<std::string, std::vector<Device>> history_{};  ///< older runs by identity, oldest first
  std::vector<std::string> gone_{};  ///< nodes that only earlier campaigns have
  std::size_t tests_{0};
};

}  // namespace

std::string_view to_word(Standing standing) {
  switch (standing) {
    case Standing::usual:
      return "usual";
    case Standing::unsure:
      return "unsure";
    case Standing::fast:
      return "fast";
    case Standing::suspect:
      return "suspect";
    case Standing::slow:
      return "slow";
  }
  return "";
}

std::size_t Report::count(Standing standing) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      offenders, [standing](const Offender& each) { return each.worst.standing == standing; }));
}

Report analyse(Folder folder, std::span<const Device> reference, const Wishes& wishes) {
  return Reporter(std::move(folder), reference).report(wishes);
}

}  // namespace clprobe::fleet
