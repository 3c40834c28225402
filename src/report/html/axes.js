// SPDX-License-Identifier: Apache-2.0
// Axes. Their ticks come with their texts (page_axes.cpp); which of them lie on the axis and find
// room is known here alone, since it follows from the width and from the curves that are shown.
import { colour } from "./elements.js";

const roomOf = (axis) =>
  (axis.isHorizontal() ? Math.max(2, Math.floor(axis.chart.width / 90)) : 12);

function chooseTicks(axis, about) {
  const inside = about.ticks
    .map(([value, label], i) => ({ value, label, i }))
    .filter(({ value }) => value >= axis.min && value <= axis.max);
  const room = roomOf(axis);
  const step = about.steps.find((n) => inside.length / n <= room) ||
    about.steps[about.steps.length - 1];
  return inside.filter(({ i }) => i % step === 0).map(({ value, label }) => ({ value, label }));
}

// Logarithmic, where nothing else is said.
export const isLinear = (about) => about.type === "linear";

export function axisOf(about) {
  return {
    type: about.type || "logarithmic",
    title: { display: about.title !== "", text: about.title },
    afterBuildTicks: (axis) => { axis.ticks = chooseTicks(axis, about); },
    ticks: { callback: (_, i, ticks) => ticks[i].label, maxRotation: 0, autoSkipPadding: 12 },
  };
}

// Of a heat map: a place for each value.
export function placesAxis(about) {
  return {
    type: "category", labels: about.texts, offset: true, grid: { display: false },
    title: { display: true, text: about.title },
    ticks: { maxRotation: 0, autoSkipPadding: 8 },
  };
}

export function colourTexts(axis) {
  axis.ticks.color = axis.title.color = colour("quiet");
}

export function colourAxis(axis, grid = { color: colour("grid") }) {
  axis.grid = { ...grid, borderColor: colour("quiet") };
  colourTexts(axis);
}

export function tooltipStyle() {
  return {
    backgroundColor: colour("ink"), titleColor: colour("surface"), bodyColor: colour("surface"),
    padding: 10, cornerRadius: 6, boxPadding: 4, usePointStyle: true,
  };
}

// Not Math.min(...values), which has a limit of how many values it takes.
export const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
export const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

// Of a linear axis the least span is a tenth of the largest value.
function linearBounds(low, high) {
  const span = Math.max(high - low, high / 10);
  const aside = (span - (high - low)) / 2 + span / 5;
  return { min: low - aside, max: high + aside };
}

// Room above and below; a flat curve is not blown up until its noise looks like levels.
export function boundsOf(values, about) {
  if (isLinear(about)) return linearBounds(least(values), largest(values));
  const low = least(values) / 1.35;
  const high = largest(values) * 1.7;
  if (!(high > 0)) return {};
  const missing = Math.sqrt(Math.max(1, 10 / (high / low)));
  return { min: low / missing, max: high * missing };
}
