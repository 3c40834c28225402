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
  const length = axis.isHorizontal() ? axis.chart.width / 90 : axis.chart.height / 50;
  const room = Math.max(2, Math.floor(length));
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
    // Of which kernel bars of parts are shown.
    this.kernel = Number(stored(`${this.key}.kernel`)) || 0;
    this.bars = [];
    this.causes = new Causes(chart, this.key, () => this.refresh());
    this.legend = element("ul", { className: "legend" });
    this.sets = chart.labels.map((label) => (
      { label, data: [], borderWidth: 0.5, stack: "all" }));
  }

  name(stack) {
    return this.isOne ? stack.series : `${this.devices[stack.device]}, ${stack.series}`;
  }

  // Whether the bars are parts of kernels; and windows of the time, which goes from left to right.
  hasParts() { return this.chart.parts[this.view] !== ""; }
  isTimeline() { return this.chart.parts[this.view] === "timeline"; }

  // The axis of the shares, and that of the bars.
  axes() { return this.isTimeline() ? ["y", "x"] : ["x", "y"]; }

  // Beside a bar: its name, of a part what of its kernel it is, of a window where it begins.
  label(bar) {
    if (this.isTimeline()) return bar.part.split(" ")[1];
    return this.hasParts() ? bar.part : inLines(this.name(bar), this.box.clientWidth);
  }

  where(point) {
    const bar = this.bars[point[this.axes()[1]]];
    return this.name(bar) + (bar.time ? ` (${bar.time})` : "");
  }

  draw(canvas) {
    const [shares, names] = this.axes();
    this.drawn = shares;
    return new Chart(canvas, {
      type: "bar",
      data: { datasets: this.sets },
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, indexAxis: names,
        interaction: { mode: "nearest", axis: "xy", intersect: true },
        scales: {
          [shares]: { ...axisOf({ ...this.chart.x, type: "linear" }), axis: shares, stacked: true,
                      afterBuildTicks: (axis) => { axis.ticks = percentTicks(axis); } },
          [names]: { type: "category", axis: names, stacked: true, grid: { display: false },
                     ticks: { autoSkip: this.isTimeline(), maxRotation: 0,
                              callback: (_, i) => this.label(this.bars[i]) } },
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
    return this.whole !== null && !this.hasParts() && this.causes.shareOf(this.whole) > 0;
  }

  fillSets() {
    const [shares, names] = this.axes();
    const thick = this.isTimeline() ? 1 : undefined;
    this.sets.forEach((set, i) => {
      set.data = this.bars.flatMap((bar, at) => this.causes.pointsOf(bar)
        .filter((p) => p.label === i)
        .map((p) => ({ [shares]: p.share * this.lengthOf(bar), [names]: at,
                       sentence: sentenceOfPart(p) })));
      set.barPercentage = set.categoryPercentage = thick;
      set.backgroundColor = this.causes.inkOf(i);
      set.borderColor = colour("quiet");  // which every fill may stand beside, in both schemes
    });
  }

  // The longest bar below 0, and above it.
  reach(sign) {
    return largest(this.bars.map((bar) => this.lengthOf(bar) * this.causes.pointsOf(bar)
      .reduce((sum, p) => sum + Math.max(0, sign * p.share), 0)));
  }

  chooseBars() {
    this.bars = this.chart.stacks.filter((s) => s.view === this.view);
    this.kernelPart.hidden = !this.hasParts();
    if (this.hasParts()) {
      this.bars = this.bars.filter((bar) => bar.kernel === this.kernel);
    } else if (this.whole && !this.bars.includes(this.whole)) {
      this.whole = this.bars.find((bar) => bar.series === this.whole.series) || null;
    }
  }

  // Of windows a column each; of other parts thinner rows than of kernels, of which there are few.
  height() {
    if (this.isTimeline()) return 340;
    const ofKernel = this.box.clientWidth < narrow ? 46 : 30;
    return 60 + (this.hasParts() ? 18 : ofKernel) * Math.max(this.bars.length, 4);
  }

  titleOfShares() {
    const what = this.causes.whole();
    if (this.hasWhole()) return `share of the ${what} of ${this.name(this.whole)}`;
    return this.isTimeline() ? `share of ${what}` : `share of each bar's own ${what}`;
  }

  refresh() {
    this.chooseBars();
    if (this.drawn !== this.axes()[0]) {
      this.graph.destroy();
      this.graph = this.draw(this.canvas);
    }
    this.fillSets();
    this.graph.data.labels = this.bars.map((bar) => this.name(bar));
    const { scales, plugins } = this.graph.options;
    const [shares, names] = this.axes().map((axis) => scales[axis]);
    shares.min = -roundUp(this.reach(-1));
    shares.max = Math.max(1, roundUp(this.reach(1)));
    shares.title = { display: true, text: this.titleOfShares() };
    names.title = { display: this.isTimeline(), text: "start cycle" };
    colourAxis(shares);
    colourTexts(names);
    Object.assign(plugins.tooltip, tooltipStyle());
    this.box.style.height = `${this.height()}px`;
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

  // Whose parts are shown.
  kernelGroup() {
    const select = element("select", {}, ...this.chart.kernels.map((kernel, i) =>
      element("option", { value: i, textContent: this.isOne ? kernel.series : this.name(kernel),
                          selected: i === this.kernel })));
    select.addEventListener("change", () => {
      this.kernel = Number(select.value);
      store(`${this.key}.kernel`, this.kernel || null);
      this.refresh();
    });
    this.kernelPart = element("label", { className: "choose" }, "of ", select);
    return this.kernelPart;
  }

  // Bars of one kernel in several ways are best seen beside one of them.
  wholeGroup() {
    const view = this.hasParts() ? 0 : this.view;
    const timed = this.chart.stacks.filter((s) => s.view === view && s.duration);
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
    const kernel = this.kernelGroup();
    const parts = this.chart.views.length > 1 ? [this.viewsGroup()] : [];
    if (this.chart.kernels.length) parts.push(kernel);
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
        const { scales, chartArea: { left, right, top, bottom } } = this.graph;
        const at = scales[this.axes()[0]].getPixelForValue(0);
        const d = this.isTimeline() ? `M${left} ${at}H${right}` : `M${at} ${top}V${bottom}`;
        group.append(make("path", { d, stroke: colour("ink") }));
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
  const { canvas, said, box } = stage(`Time of ${chart.stacks.length} bars, ` +
    "stacked by cause. Use the arrow keys to read the parts; a table follows.");
  stacks.box = box;
  stacks.canvas = canvas;
  stacks.graph = stacks.draw(canvas);
  const titles = { timeText: "time", appText: "effect on the app" };
  stacks.table = tableBehind(
    ["bar", "cause", "share", "low", "high", ...stacks.more().map((key) => titles[key])],
    () => stacks.rows());
  place.append(...stacks.controls(), box, stacks.legend, said, pictureButtons(stacks),
               stacks.table.details);
  withKeys(canvas, stacks, said,
           (set, p) => `${stacks.where(p)}, ${set.label}: ${p.sentence}`);
  stacks.refresh();
  return stacks;
}
