// SPDX-License-Identifier: Apache-2.0
// The view of stacked bars: where the time of kernels goes, a bar for each.
import { axisOf, colourAxis, colourTexts, largest, tooltipStyle } from "./axes.js";
import { choice, controls, swatch } from "./controls.js";
import { colour, element, hueOf } from "./elements.js";
import { stage, tableBehind, withKeys } from "./stage.js";

// Sub-classes of a category are lighter and lighter.
const tints = ["ff", "c4", "94", "6c", "4c"];

// Long names in lines, where the bars would have no room beside them.
const narrow = 700;
const inLines = (name, width) =>
  (width < narrow ? name.replace(/, /g, ",\n").split("\n") : name);

function sentenceOfPart({ text, lowText, highText }) {
  return highText ? `${text} (${lowText} to ${highText})` : text;
}

class Stacks {
  constructor(chart, devices) {
    this.chart = chart;
    this.devices = devices;
    this.isOne = new Set(chart.stacks.map((s) => s.device)).size === 1;
    this.view = 0;
    this.bars = [];
    this.sets = chart.labels.map((label, i) => ({
      label, data: [], borderWidth: 0.5, stack: "all", tint: this.tintOf(i) }));
  }

  tintOf(i) {
    const { categories } = this.chart;
    const before = categories.slice(0, i).filter((each) => each === categories[i]).length;
    return tints[Math.min(before, tints.length - 1)];
  }

  name(stack) {
    return this.isOne ? stack.series : `${this.devices[stack.device]}, ${stack.series}`;
  }

  where({ y }) {
    const { time } = this.bars[y];
    return this.name(this.bars[y]) + (time ? ` (${time})` : "");
  }

  draw(canvas) {
    const names = (_, i) => inLines(this.name(this.bars[i]), this.box.clientWidth);
    return new Chart(canvas, {
      type: "bar",
      data: { datasets: this.sets },
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, indexAxis: "y",
        interaction: { mode: "nearest", axis: "xy", intersect: true },
        scales: {
          x: { ...axisOf("linear", this.chart.x), stacked: true },
          y: { type: "category", stacked: true, grid: { display: false },
               ticks: { autoSkip: false, callback: names } },
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: ([item]) => (item ? this.where(item.raw) : ""),
              label: (item) => `${item.dataset.label}: ${item.raw.sentence}`,
            },
          },
        },
      },
    });
  }

  fillSets() {
    this.sets.forEach((set, i) => {
      set.data = this.bars.flatMap((bar, y) => bar.points
        .filter((p) => p.label === i)
        .map((p) => ({ x: p.share, y, sentence: sentenceOfPart(p) })));
      set.backgroundColor = colour(hueOf(this.chart.categories[i])) + set.tint;
      set.borderColor = colour("surface");
    });
  }

  // The longest bar below 0, and above it.
  reach(sign) {
    return largest(this.bars.map((bar) =>
      bar.points.reduce((sum, p) => sum + Math.max(0, sign * p.share), 0)));
  }

  refresh() {
    this.bars = this.chart.stacks.filter((s) => s.view === this.view);
    this.fillSets();
    this.graph.data.labels = this.bars.map((bar) => this.name(bar));
    const { scales: { x, y }, plugins } = this.graph.options;
    x.min = -this.reach(-1);
    x.max = Math.max(1, Math.round(this.reach(1) * 1e6) / 1e6);
    colourAxis(x);
    colourTexts(y);
    Object.assign(plugins.tooltip, tooltipStyle());
    const row = this.box.clientWidth < narrow ? 46 : 30;
    this.box.style.height = `${60 + row * Math.max(this.bars.length, 4)}px`;
    this.graph.update("none");
    this.table.refresh();
  }

  rows() {
    return this.bars.flatMap((bar) => bar.points.map((p) => [
      this.name(bar), this.chart.labels[p.label], p.text, p.lowText || "", p.highText || ""]));
  }

  controls() {
    const { views, probe } = this.chart;
    if (views.length < 2) return [];
    const show = (view) => {
      this.view = view;
      this.refresh();
    };
    return [controls([
      choice("Show", `view-${probe}`, [...views.keys()], (i) => views[i], show).part])];
  }

  legend() {
    const { categories, labels } = this.chart;
    return element("ul", { className: "legend" }, ...[...new Set(categories)].map((category) =>
      element("li", {}, swatch(category), element("span", {
        textContent: labels[categories.indexOf(category)].split(":")[0] }))));
  }
}

export function drawStacks(chart, place, devices) {
  const stacks = new Stacks(chart, devices);
  const { canvas, said, box } = stage(`Where the time of ${chart.stacks.length} bars goes, ` +
    "stacked by cause. Arrow keys read the parts; a table follows.");
  stacks.box = box;
  stacks.graph = stacks.draw(canvas);
  stacks.table = tableBehind(["bar", "cause", "share", "low", "high"], () => stacks.rows());
  place.append(...stacks.controls(), box, stacks.legend(), said, stacks.table.details);
  withKeys(canvas, stacks.graph, said,
           (set, p) => `${stacks.where(p)}, ${set.label}: ${p.sentence}`);
  stacks.refresh();
  return () => stacks.refresh();
}
