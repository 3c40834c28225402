// SPDX-License-Identifier: Apache-2.0
// The view of stacked bars: where the time of kernels goes, a bar for each.
import { axisOf, colourAxis, colourTexts, largest, tooltipStyle } from "./axes.js";
import { Causes } from "./causes.js";
import { choice, controls } from "./controls.js";
import { colour, element } from "./elements.js";
import { pictureButtons } from "./pictures.js";
import { stage, tableBehind, withKeys } from "./stage.js";
import { store, stored } from "./state.js";

// To a hundredth beyond the longest bar, without the noise of its sum.
const roundUp = (share) => Math.ceil(Math.round(share * 1e6) / 1e4) / 100;

// Round numbers of per cent, 0 and 100 among them.
function percentTicks(axis) {
  const room = Math.max(2, Math.floor(axis.chart.width / 90));
  const step = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
    .find((n) => 100 * (axis.max - axis.min) / n <= room) || 20000;
  const ticks = [];
  for (let percent = Math.ceil(100 * axis.min / step) * step; percent <= 100 * axis.max + 1e-6;
    percent += step) ticks.push({ value: percent / 100, label: `${percent} %` });
  return ticks;
}

// Long names in lines, where the bars would have no room beside them.
const narrow = 700;
const inLines = (name, width) =>
  (width < narrow ? name.replace(/, /g, ",\n").split("\n") : name);

function sentenceOfPart({ text, lowText, highText, timeText, appText }) {
  const share = highText ? `${text} (${lowText} to ${highText})` : text;
  return [share, timeText, appText].filter((each) => each).join(", ");
}

class Stacks {
  constructor(chart, place, devices) {
    this.chart = chart;
    this.place = place;
    this.devices = devices;
    this.isOne = new Set(chart.stacks.map((s) => s.device)).size === 1;
    this.key = `s${place.dataset.chart}`;
    this.paperHeight = 900;  // a row for each bar
    this.view = Number(stored(`${this.key}.view`)) || 0;
    if (!(this.view in chart.views)) this.view = 0;
    // The bar whose time is 100 %; none: each bar's own.
    this.whole = chart.stacks[Number(stored(`${this.key}.whole`) || -1)] || null;
    this.bars = [];
    this.causes = new Causes(chart, this.key, () => this.refresh());
    this.legend = element("ul", { className: "legend" });
    this.sets = chart.labels.map((label) => (
      { label, data: [], borderWidth: 0.5, stack: "all" }));
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
          x: { ...axisOf({ ...this.chart.x, type: "linear" }), stacked: true,
               afterBuildTicks: (axis) => { axis.ticks = percentTicks(axis); } },
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

  // How long a share of the bar is: by itself, or beside the bar that is 100 %.
  lengthOf(bar) {
    const own = this.causes.shareOf(bar);
    if (own === 0) return 0;
    if (!this.hasWhole() || !bar.duration) return 1 / own;
    return bar.duration / this.whole.duration / this.causes.shareOf(this.whole);
  }

  hasWhole() {
    return this.whole !== null && this.causes.shareOf(this.whole) > 0;
  }

  fillSets() {
    this.sets.forEach((set, i) => {
      set.data = this.bars.flatMap((bar, y) => this.causes.pointsOf(bar)
        .filter((p) => p.label === i)
        .map((p) => ({ x: p.share * this.lengthOf(bar), y, sentence: sentenceOfPart(p) })));
      set.backgroundColor = this.causes.inkOf(i);
      set.borderColor = colour("quiet");  // which every fill may stand beside, in both schemes
    });
  }

  // The longest bar below 0, and above it.
  reach(sign) {
    return largest(this.bars.map((bar) => this.lengthOf(bar) * this.causes.pointsOf(bar)
      .reduce((sum, p) => sum + Math.max(0, sign * p.share), 0)));
  }

  refresh() {
    this.bars = this.chart.stacks.filter((s) => s.view === this.view);
    if (this.whole && !this.bars.includes(this.whole)) {
      this.whole = this.bars.find((bar) => bar.series === this.whole.series) || null;
    }
    this.fillSets();
    this.graph.data.labels = this.bars.map((bar) => this.name(bar));
    const { scales: { x, y }, plugins } = this.graph.options;
    x.min = -roundUp(this.reach(-1));
    x.max = Math.max(1, roundUp(this.reach(1)));
    x.title = { display: true, text: this.hasWhole()
      ? `share of the ${this.causes.whole()} of ${this.name(this.whole)}`
      : `share of each bar's own ${this.causes.whole()}` };
    colourAxis(x);
    colourTexts(y);
    Object.assign(plugins.tooltip, tooltipStyle());
    const row = this.box.clientWidth < narrow ? 46 : 30;
    this.box.style.height = `${60 + row * Math.max(this.bars.length, 4)}px`;
    this.fillLegend();
    this.graph.update("none");
    this.table.refresh();
  }

  rows() {
    return this.bars.flatMap((bar) => this.causes.pointsOf(bar).map((p) => [
      this.name(bar), this.chart.labels[p.label], p.text, p.lowText || "", p.highText || "",
      ...this.more().map((key) => p[key] || "")]));
  }

  // What some part has besides its share.
  more() {
    const parts = this.chart.stacks.flatMap((bar) => bar.points);
    return ["timeText", "appText"].filter((key) => parts.some((p) => p[key]));
  }

  viewsGroup() {
    const { views, probe } = this.chart;
    const show = (view) => {
      this.view = view;
      store(`${this.key}.view`, view || null);
      this.refresh();
    };
    const nameOf = (i) => views[i];
    return choice("Show", `view-${probe}`, [...views.keys()], nameOf, show, this.view).part;
  }

  // Bars of one kernel in several ways are best seen beside one of them.
  wholeGroup() {
    const timed = this.chart.stacks.filter((s) => s.view === this.view && s.duration);
    const own = element("option", { value: "", textContent: "each bar's own" });
    const select = element("select", {}, own, ...timed.map((s) => element("option", {
      value: this.chart.stacks.indexOf(s), textContent: this.name(s),
      selected: s === this.whole })));
    select.addEventListener("change", () => {
      this.whole = select.value === "" ? null : this.chart.stacks[Number(select.value)];
      store(`${this.key}.whole`, this.whole ? select.value : null);
      this.refresh();
    });
    return element("label", { className: "choose" }, "100 % is ", select);
  }

  controls() {
    const parts = this.chart.views.length > 1 ? [this.viewsGroup()] : [];
    const causes = this.causes.part();
    if (causes) parts.push(causes);
    if (this.chart.stacks.some((s) => s.duration)) parts.push(this.wholeGroup());
    return parts.length ? [controls(parts)] : [];
  }

  // For drawing.js.
  about() {
    return {
      title: `${this.chart.probe}: ${this.chart.views[this.view]}, ${this.causes.whole()}`,
      legend: this.causes.legend(),
      after: (group, make) => {
        const { scales: { x }, chartArea: { top, bottom } } = this.graph;
        const at = x.getPixelForValue(0);
        group.append(make("path", { d: `M${at} ${top}V${bottom}`, stroke: colour("ink") }));
      },
    };
  }

  fillLegend() {
    this.legend.replaceChildren(...this.causes.legend().map(({ name, ink }) => {
      const swatch = element("span", { className: "swatch fill", ariaHidden: "true" });
      swatch.style.background = ink;
      return element("li", {}, swatch, element("span", { textContent: name }));
    }));
  }
}

// Draws `chart` into `place`; returns the view.
export function drawStacks(chart, place, devices) {
  const stacks = new Stacks(chart, place, devices);
  const { canvas, said, box } = stage(`Where the time of ${chart.stacks.length} bars goes, ` +
    "stacked by cause. Arrow keys read the parts; a table follows.");
  stacks.box = box;
  stacks.graph = stacks.draw(canvas);
  const titles = { timeText: "time", appText: "of the app" };
  stacks.table = tableBehind(
    ["bar", "cause", "share", "low", "high", ...stacks.more().map((key) => titles[key])],
    () => stacks.rows());
  place.append(...stacks.controls(), box, stacks.legend, said, pictureButtons(stacks),
               stacks.table.details);
  withKeys(canvas, stacks.graph, said,
           (set, p) => `${stacks.where(p)}, ${set.label}: ${p.sentence}`);
  stacks.refresh();
  return stacks;
}
