// SPDX-License-Identifier: Apache-2.0
// The cases as points: what their parameters say, and back. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/stalls.hpp"
#include "probes/gsi/case_options.hpp"
#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {

/// The bars of a case.
std::vector<Point> case_points(const simulator::Machine& machine, std::string_view name,
                               const CaseOptions& options);

/// Nothing where the point is of another case. These throw PointError for what no plan made.
std::optional<TreeSearch> search_of(const Point& point);
std::optional<ComputeWork> compute_of(const Point& point);
Implicit implicit_of(const Point& point);
/// `machine` as the point has it.
simulator::Machine machine_for(const simulator::Machine& machine, const Point& point);

/// Whether a view of parts of the kernel was asked for: one of view_words.
bool shows(const Point& point, std::string_view view);
/// By which priorities, and with which timeline.
simulator::Accounting accounting_of(const Point& point);
/// What was asked for of these, as parameters.
void write_accounting(const CaseOptions& options, Point& point);

/// The bar that the others are shown relative to, as a parameter of each point; and which it is,
/// empty where none was chosen.
void write_baseline(const std::string& bar, std::vector<Point>& points);
std::string baseline_in(std::span<const Point> points);

/// The first number or word that no point of a case can have.
std::optional<PointProblem> find_case_problem(const Point& point);

}  // namespace clprobe::gsi
