// SPDX-License-Identifier: Apache-2.0
// The view of curves: a line for each series of each device over logarithmic or linear axes.
import { axisOf, boundsOf, colourAxis, isLinear, largest, least, tooltipStyle } from "./axes.js";
import {
  choice, controls, dash, group, setToggle, smallButton, swatch, toggle,
} from "./controls.js";
import { colour, element, hueOf } from "./elements.js";
import { drawLevels, drawSpreads, placeLevels, sketchLevels, sketchSpreads } from "./levels.js";
import { pictureButtons } from "./pictures.js";
import { stage, tableBehind, withKeys } from "./stage.js";
import { store, storeSet, stored, storedSet } from "./state.js";
import { cellsOf, pointsOf, sentenceOf } from "./unpack.js";
import { withZoom } from "./zoom.js";

// As in svg.cpp: with the marks no two of 56 curves are alike without their colours.
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 4], [12, 4], [6, 2, 2, 2]];
const marks = ["circle", "rect", "triangle", "rectRot", "cross", "crossRot", "star"];
const marksOfCurve = 7;

// What can be drawn up: the values in their unit, in cycles of the core, or as ratios to the
// baseline's.
const kindsOf = (chart) => [
  "value",
  ...(chart.cycles && chart.curves.every((c) => c.cycleValues) ? ["cycles"] : []),
  ...(chart.ratio ? ["ratio"] : []),
];

// More curves than these cannot be told apart: the first ones are shown, the others when wanted.
const maxSeries = 10;
const firstSeries = 5;

class Curves {
  constructor(chart, place, devices) {
    this.chart = chart;
    this.place = place;
    this.key = `c${place.dataset.chart}`;
    this.devices = devices;
    this.numbers = [...new Set(chart.curves.map((c) => c.device))];
    this.series = [...new Set(chart.curves.map((c) => c.series))];
    this.isOne = this.numbers.length === 1;
    this.isCrowded = this.series.length > maxSeries;
    const all = this.isCrowded ? firstSeries : this.series.length;
    this.usual = { devices: this.numbers,
                   series: this.isOne ? this.series.slice(0, all) : [this.firstSeries()] };
    this.shown = {
      devices: storedSet(`${this.key}.devices`, this.numbers, this.usual.devices),
      series: storedSet(`${this.key}.series`, this.series, this.usual.series),
      levels: stored(`${this.key}.levels`) !== "no", spread: stored(`${this.key}.spread`) !== "no",
      beside: stored(`${this.key}.beside`) === "yes",
    };
    this.kinds = kindsOf(chart);
    this.kind = this.kinds.find((kind) => kind === stored(`${this.key}.as`)) || "value";
    const ends = (stored(`${this.key}.x`) || "").split("-").map(Number);
    this.zoom = ends.length === 2 && ends[0] > 0 && ends[1] > ends[0] ? ends : null;
    this.sets = chart.curves.map((c) => this.lineOf(c));
    // A second axis, as of Thread-Latency curves, which is there when it is asked for.
    this.besides = chart.curves.filter((c) => c.beside).map((c) => this.besideOf(c));
    this.texts = null;  // of levels, where they are
  }

  // What only helps others, as an overhead, has few points.
  firstSeries() {
    const longest = (name) => largest(this.chart.curves.filter((c) => c.series === name)
      .map((c) => c.values.length));
    const enough = largest(this.series.map(longest)) / 2;
    return this.series.find((name) => longest(name) >= enough);
  }

  // Of one device each series has a colour; of several, the device has. The series has the line.
  hue(curve) { return hueOf(this.isOne ? this.series.indexOf(curve.series) : curve.device); }

  line(number) { return dashes[number % dashes.length]; }

  // Of several devices the mark tells the device, as the colour does.
  mark(curve) {
    const number = this.isOne ? this.series.indexOf(curve.series)
      : this.numbers.indexOf(curve.device);
    return marks[number % marks.length];
  }

  name(curve) {
    return this.isOne ? curve.series : `${this.devices[curve.device]}, ${curve.series}`;
  }

  isShown(curve) {
    return this.shown.devices.has(curve.device) && this.shown.series.has(curve.series);
  }

  placed(at, points) {
    const { values, texts } = this.chart.places[at];
    return points.map((point, i) => ({ x: values[i], place: texts[i], ...point }));
  }

  pointsAs(curve) {
    if (this.kind === "ratio") {
      const { at, values, texts } = curve.ratios;
      return this.placed(at, values.map((y, i) => ({ y, text: texts[i], sentence: texts[i] })));
    }
    const points = this.placed(curve.at, pointsOf(curve))
      .map((p) => ({ ...p, sentence: sentenceOf(p) }));
    if (this.kind === "value") return points;
    return points.map((p, i) => {
      const cycles = curve.cycleValues[i];
      return { ...p, y: cycles, low: p.low * cycles / p.y, high: p.high * cycles / p.y };
    });
  }

  levelsAs(curve) {
    if (this.kind === "value") return curve.levels;
    if (this.kind === "ratio") return [];
    return curve.levels.filter((level) => level.cycles)
      .map((level) => ({ ...level, value: level.cycles, text: level.cyclesText }));
  }

  lineOf(curve) {
    return {
      curve, label: this.name(curve), levels: [], hidden: !this.isShown(curve), data: [],
      borderWidth: 2, pointHitRadius: 8, pointHoverRadius: 5, pointStyle: this.mark(curve),
      borderDash: this.line(this.series.indexOf(curve.series)),
    };
  }

  // The points of what is chosen, a few of them marked: not at the same places on each curve.
  fillSets() {
    this.sets.forEach((set, number) => {
      set.data = this.pointsAs(set.curve);
      set.levels = this.levelsAs(set.curve);
      const every = Math.max(1, Math.floor(set.data.length / marksOfCurve));
      const first = Math.floor(every * (number % 5) / 5);
      set.pointRadius = set.data.map((_, i) => (i % every === first ? 3.5 : 0));
    });
  }

  axis() { return this.chart[this.kind]; }

  besideOf(curve) {
    const { at, values, texts } = curve.beside;
    return {
      curve, label: `${this.name(curve)}, ${this.chart.besideLabel}`, levels: [], hidden: true,
      data: this.placed(at, values.map((y, i) => ({ y, sentence: texts[i] }))),
      yAxisID: "beside", borderWidth: 1, pointRadius: 0, pointHitRadius: 8, pointHoverRadius: 5,
      borderDash: [2, 2],
    };
  }

  scales() {
    const { x, beside } = this.chart;
    const scales = { x: axisOf(x), y: axisOf(this.axis()) };
    if (this.besides.length) {
      const values = this.besides.flatMap((set) => set.data.map((p) => p.y));
      scales.beside = { ...axisOf(beside), position: "right", ...boundsOf(values, beside) };
    }
    return scales;
  }

  draw(canvas) {
    return new Chart(canvas, {
      type: "line",
      data: { datasets: [] },  // which refresh gives, so that nothing is drawn twice
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales: this.scales(),
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: ([item]) => (item ? item.raw.place : ""),
              label: (item) => [item.dataset.label, item.raw.sentence],
            },
          },
        },
      },
      plugins: [{
        afterUpdate: (graph) => { this.texts = placeLevels(graph); },
        beforeDatasetsDraw: (graph) => {
          if (this.kind === "ratio") this.drawOne(graph);
          if (this.shown.spread) drawSpreads(graph);
        },
        afterDatasetsDraw: (graph) => { if (this.shown.levels) drawLevels(graph, this.texts); },
      }],
    });
  }

  // Where nothing changed.
  drawOne({ ctx, chartArea: { left, right }, scales: { y } }) {
    const at = y.getPixelForValue(1);
    ctx.save();
    ctx.strokeStyle = colour("quiet");
    ctx.beginPath();
    ctx.moveTo(left, at);
    ctx.lineTo(right, at);
    ctx.stroke();
    ctx.restore();
  }

  // For drawing.js.
  about() {
    const shown = [...this.sets, ...this.besides].filter((set) => !set.hidden);
    const where = this.isOne ? `${this.devices[this.numbers[0]]}: ` : "";
    return {
      title: `${where}${this.chart.probe}, ${this.axis().title} by ${this.chart.x.title}`,
      legend: shown.map((set) => ({ name: set.label, ink: set.borderColor, dash: set.borderDash,
                                    mark: set.pointStyle })),
      before: (part, make) => { if (this.shown.spread) sketchSpreads(this.graph, part, make); },
      after: (part, make) => {
        if (this.shown.levels) sketchLevels(this.graph, this.texts, part, make);
      },
    };
  }

  rows() {
    return this.sets.filter((set) => !set.hidden).flatMap((set) => set.data.map((p) => [
      this.devices[set.curve.device], set.curve.series, p.place, ...cellsOf(p), p.cycles]));
  }

  colourSets(sets, isWanted) {
    for (const set of sets) {
      set.hidden = !isWanted || !this.isShown(set.curve);
      set.borderColor = colour(this.hue(set.curve));
      set.backgroundColor = set.borderColor;
      set.pointBackgroundColor = colour("surface");
      set.pointBorderWidth = 1.5;
    }
  }

  refresh() {
    this.colourSets(this.sets, true);
    this.colourSets(this.besides, this.shown.beside);
    this.graph.data.datasets = [...this.sets, ...this.besides];
    const { scales, plugins } = this.graph.options;
    if (this.besides.length) {
      scales.beside.display = this.shown.beside;
      colourAxis(scales.beside, { drawOnChartArea: false });
    }
    Object.assign(scales.y, axisOf(this.axis()));
    const points = this.sets.filter((set) => !set.hidden).flatMap((set) => set.data);
    if (points.length) {
      const [min, max] = this.range();
      Object.assign(scales.x, { min, max });
      const inside = points.filter((p) => p.x >= min && p.x <= max).map((p) => p.y);
      const ys = inside.length ? inside : points.map((p) => p.y);
      Object.assign(scales.y, this.kind === "ratio" ? ratioBounds(ys) : boundsOf(ys, this.axis()));
    }
    colourAxis(scales.x);
    colourAxis(scales.y);
    Object.assign(plugins.tooltip, tooltipStyle());
    this.graph.update("none");
    this.table.refresh();
  }

  // Of the curves that are shown.
  full() {
    const xs = this.sets.filter((set) => !set.hidden).flatMap((set) => set.data).map((p) => p.x);
    return [least(xs), largest(xs)];
  }

  range() { return this.zoom || this.full(); }

  isLinear() { return isLinear(this.chart.x); }

  zoomTo(range) {
    this.zoom = range;
    const ends = range && range.map((end) => Math.round(end * 100) / 100);
    store(`${this.key}.x`, ends && ends.join("-"));
    this.reset.hidden = !range;
    this.refresh();
  }

  resetButton() {
    this.reset = smallButton("reset zoom", () => this.zoomTo(null));
    this.reset.hidden = !this.zoom;
    return this.reset;
  }

  // What happens when one of a kind is chosen or no more.
  change(kind, value) {
    return (isOn) => {
      if (isOn) this.shown[kind].add(value);
      else this.shown[kind].delete(value);
      this.keep(kind);
      this.refresh();
    };
  }

  keep(kind) {
    const all = kind === "devices" ? this.numbers : this.series;
    storeSet(`${this.key}.${kind}`, all, this.shown[kind], this.usual[kind]);
  }

  devicesGroup() {
    return group("Devices", this.numbers.map((number) => toggle(
      this.devices[number], this.shown.devices.has(number), [swatch(number)],
      this.change("devices", number))));
  }

  seriesGroup() {
    const lookOf = (i) => dash(this.line(i), this.isOne ? i : null);
    const toggles = this.series.map((name, i) => toggle(
      name, this.shown.series.has(name), [lookOf(i)], this.change("series", name)));
    if (!this.isCrowded) return group("Series", toggles);
    const setAll = (isOn) => () => {
      this.shown.series = new Set(isOn ? this.series : []);
      for (const each of toggles) setToggle(each, isOn);
      this.keep("series");
      this.refresh();
    };
    const made = group("Series", [smallButton("all", setAll(true)),
                                  smallButton("none", setAll(false)), ...toggles]);
    made.classList.add("many");
    return made;
  }

  marksGroup() {
    const nameOf = (key) => (key === "beside" ? this.chart.besideLabel : key);
    const mark = (key) => toggle(nameOf(key), this.shown[key], [], (isOn) => {
      this.shown[key] = isOn;
      store(`${this.key}.${key}`, isOn === (key !== "beside") ? null : isOn ? "yes" : "no");
      this.refresh();
    });
    const keys = this.chart.curves.some((c) => c.lows) ? ["spread"] : [];
    if (this.chart.curves.some((c) => c.levels.length)) keys.unshift("levels");
    if (this.besides.length) keys.push("beside");
    return group("Show", keys.map(mark));
  }

  kindsGroup() {
    const { ratio, value } = this.chart;
    const textOf = (kind) => ({ value: ratio ? "values" : value.unit || "time",
                                ratio: ratio && ratio.title }[kind] || kind);
    const change = (kind) => {
      this.kind = kind;
      store(`${this.key}.as`, kind === "value" ? null : kind);
      this.fillSets();
      this.refresh();
    };
    return choice("Draw", `as-${this.key}`, this.kinds, textOf, change, this.kind).part;
  }

  controls() {
    const groups = [];
    if (!this.isOne) groups.push(this.devicesGroup());
    if (this.series.length > 1) groups.push(this.seriesGroup());
    if (this.kinds.length > 1) groups.push(this.kindsGroup());
    const marked = this.marksGroup();
    if (marked.children.length > 1) groups.push(marked);
    return controls(groups);
  }
}

// Around 1, and never so near that noise looks like a change.
function ratioBounds(values) {
  const far = Math.max(1.25, largest(values), 1 / least(values)) ** 1.1;
  return { min: 1 / far, max: far };
}

// Draws `chart` into `place`; returns the view.
export function drawCurves(chart, place, devices) {
  const curves = new Curves(chart, place, devices);
  curves.fillSets();
  const { canvas, said, box } = stage(`${chart.value.title} by ${chart.x.title}, ` +
    `${chart.curves.length} curves on ${isLinear(chart.x) ? "linear" : "logarithmic"} axes. ` +
    "Use the arrow keys to read points, + - and 0 to zoom; a table follows.");
  curves.box = box;
  curves.graph = curves.draw(canvas);
  curves.table = tableBehind(
    ["device", "series", chart.x.title, chart.value.title, "low", "high", "cycles"],
    () => curves.rows());
  const files = pictureButtons(curves);
  files.prepend(curves.resetButton());
  files.append(element("span", { className: "hint", textContent:
    "Drag across the chart to zoom (or Ctrl + wheel); double-click to show all." }));
  place.append(curves.controls(), box, said, files, curves.table.details);
  withKeys(canvas, curves, said, (set, p) => `${set.label}, ${p.place}: ${p.sentence}`);
  withZoom(canvas, box, curves);
  curves.refresh();
  return curves;
}
