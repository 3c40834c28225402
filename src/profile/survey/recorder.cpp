// SPDX-License-Identifier: Apache-2.0
#include "profile/survey/recorder.hpp"

#include <algorithm>

namespace clprobe::survey {

std::uint64_t hash_text(std::string_view text, std::uint64_t before) {
  constexpr std::uint64_t prime = 0x100000001b3U;
  std::uint64_t hash = before;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * prime;
  return hash;
}

void Recorder::note_kernel(Handle kernel, std::string_view name, Program program) {
  const std::pair identity(std::string(name.substr(0, limits_.name_bytes)), program);
  const auto found = identity_numbers_.find(identity);
  std::uint32_t number = no_identity;
  if (found != identity_numbers_.end()) {
    number = found->second;
  } else if (identities_.size() < limits_.kernels) {
    number = static_cast<std::uint32_t>(identities_.size());
    identities_.push_back({identity.first, program});
    identity_numbers_.emplace(identity, number);
  }
  kernels_[kernel] = {.identity = number};
}

void Recorder::note_clone(Handle kernel, Handle copy) {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return;
  const Kernel same = found->second;
  kernels_[copy] = same;
}

void Recorder::note_svm(Handle kernel) {
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end()) found->second.uses_svm = true;
}

std::uint32_t Recorder::number_device(std::string_view name) {
  const std::string kept(name.substr(0, limits_.name_bytes));
  const auto found = std::find(devices_.begin(), devices_.end(), kept);
  if (found == devices_.end()) {
    devices_.push_back(kept);
    return static_cast<std::uint32_t>(devices_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - devices_.begin());
}

Signature Recorder::signature_of(const Key& key) const {
  const Identity& identity = identities_[key.identity];
  return {.kernel = identity.name,
          .program = identity.program,
          .device = devices_[key.device],
          .dimensions = key.shape.dimensions,
          .global = key.shape.global,
          .local = key.shape.local};
}

std::optional<Signature> Recorder::signature_of(Handle kernel, std::uint32_t device,
                                                const Shape& shape) const {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || found->second.identity == no_identity) return std::nullopt;
  return signature_of({found->second.identity, device, shape});
}

std::size_t Recorder::row_of(const Key& key) {
  const auto found = indices_.find(key);
  if (found != indices_.end()) return found->second;
  const bool is_various = key.shape.dimensions == 0;
  if (!is_various && indices_.size() >= limits_.shapes) {
    return row_of({key.identity, key.device, {.dimensions = 0}});
  }
  rows_.push_back({.signature = signature_of(key)});
  untimed_.emplace_back();
  indices_.emplace(key, rows_.size() - 1);
  return rows_.size() - 1;
}

std::size_t Recorder::count_launch(Handle kernel, std::uint32_t device, const Shape& shape) {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || found->second.identity == no_identity) {
    add_gap(Gap::unnamed);
    return no_row;
  }
  const std::size_t index = row_of({found->second.identity, device, shape});
  Row& row = rows_[index];
  ++row.sum.launches;
  row.uses_svm = row.uses_svm || found->second.uses_svm;
  return index;
}

std::size_t Recorder::count_untimed(Handle kernel, std::uint32_t device, const Shape& shape,
                                    std::uint64_t enough) {
  const auto known = kernels_.find(kernel);
  if (known == kernels_.end() || known->second.uses_svm) return no_row;
  const auto found = indices_.find({known->second.identity, device, shape});
  if (found == indices_.end() || rows_[found->second].sum.launches < enough) return no_row;
  ++rows_[found->second].sum.launches;
  ++untimed_[found->second].launches;
  return found->second;
}

void Recorder::take_back(std::size_t row) {
  --rows_[row].sum.launches;
  --untimed_[row].launches;
}

void Recorder::add_time(std::size_t row, TimedLaunch launch) {
  if (rows_[row].sum.timed == 0) untimed_[row].first_ns = launch.ns;
  rows_[row].sum.add_time(launch.ns);
  if (times_ == limits_.kept_times) return;
  untimed_[row].times.push_back(launch);
  ++times_;
}

Survey Recorder::survey() const {
  Survey survey{{}, rows_, gaps_};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Sum& sum = survey.rows[i].sum;
    survey.rows[i].typical = typical_launch(untimed_[i].times);
    if (untimed_[i].launches == 0) continue;
    if (sum.timed < 2) {
      survey.gaps[Gap::too_few_times] += untimed_[i].launches;
      continue;
    }
    const auto others_ns = static_cast<double>(sum.total_ns - untimed_[i].first_ns);
    const double each_ns = others_ns / static_cast<double>(sum.timed - 1);
    sum.estimated = untimed_[i].launches;
    sum.total_ns += static_cast<std::uint64_t>(each_ns * static_cast<double>(sum.estimated));
  }
  return survey;
}

}  // namespace clprobe::survey
