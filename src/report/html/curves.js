// SPDX-License-Identifier: Apache-2.0
// The view of curves: a line for each series of each device over logarithmic axes.
import { axisOf, boundsOf, colourAxis, largest, least, tooltipStyle } from "./axes.js";
import { controls, dash, group, setToggle, smallButton, swatch, toggle } from "./controls.js";
import { colour, hueOf } from "./elements.js";
import { drawLevels, drawSpreads, placeLevels } from "./levels.js";
import { stage, tableBehind, withKeys } from "./stage.js";
import { cellsOf, pointsOf, sentenceOf } from "./unpack.js";

const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 4]];

// More curves than these cannot be told apart: the first ones are shown, the others when wanted.
const maxSeries = 10;
const firstSeries = 5;

class Curves {
  constructor(chart, devices) {
    this.chart = chart;
    this.devices = devices;
    this.numbers = [...new Set(chart.curves.map((c) => c.device))];
    this.series = [...new Set(chart.curves.map((c) => c.series))];
    this.isOne = this.numbers.length === 1;
    this.isCrowded = this.series.length > maxSeries;
    const all = this.isCrowded ? firstSeries : this.series.length;
    this.shown = {
      devices: new Set(this.numbers), series: new Set(this.series.slice(0, this.isOne ? all : 1)),
      levels: true, spread: true, variance: false,
    };
    this.sets = chart.curves.map((c) => this.lineOf(c));
    // Of Thread-Latency curves: a second axis, which is there when it is asked for.
    this.variances = chart.curves.filter((c) => c.variance).map((c) => this.varianceOf(c));
    this.texts = null;  // of levels, where they are
  }

  // Of one device each series has a colour and each round of the eight a line; of several, the
  // device has the colour and the series the line.
  hue(curve) { return hueOf(this.isOne ? this.series.indexOf(curve.series) : curve.device); }

  line(number) { return dashes[(this.isOne ? Math.floor(number / 8) : number) % dashes.length]; }

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

  lineOf(curve) {
    return {
      curve, label: this.name(curve), levels: curve.levels, hidden: !this.isShown(curve),
      data: this.placed(curve.at, pointsOf(curve)).map((p) => ({ ...p, sentence: sentenceOf(p) })),
      borderWidth: 2, pointRadius: 0, pointHitRadius: 8, pointHoverRadius: 5,
      borderDash: this.line(this.series.indexOf(curve.series)),
    };
  }

  varianceOf(curve) {
    const { at, values, texts } = curve.variance;
    return {
      curve, label: `${this.name(curve)}, variance`, levels: [], hidden: true,
      data: this.placed(at, values.map((y, i) => ({ y, sentence: texts[i] }))),
      yAxisID: "variance", borderWidth: 1, pointRadius: 0, pointHitRadius: 8, pointHoverRadius: 5,
      borderDash: [2, 2],
    };
  }

  scales() {
    const { x, value, variance } = this.chart;
    const scales = { x: axisOf("logarithmic", x), y: axisOf("logarithmic", value) };
    if (this.variances.length) {
      const values = this.variances.flatMap((set) => set.data.map((p) => p.y));
      scales.variance = { ...axisOf("logarithmic", variance), position: "right",
                          ...boundsOf(values) };
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
        beforeDatasetsDraw: (graph) => { if (this.shown.spread) drawSpreads(graph); },
        afterDatasetsDraw: (graph) => { if (this.shown.levels) drawLevels(graph, this.texts); },
      }],
    });
  }

  rows() {
    return this.sets.filter((set) => !set.hidden).flatMap((set) => set.data.map((p) => [
      this.devices[set.curve.device], set.curve.series, p.place, ...cellsOf(p), p.cycles]));
  }

  colourSets(sets, isWanted) {
    for (const set of sets) {
      set.hidden = !isWanted || !this.isShown(set.curve);
      set.borderColor = colour(this.hue(set.curve));
      set.backgroundColor = set.pointBackgroundColor = set.borderColor;
    }
  }

  refresh() {
    this.colourSets(this.sets, true);
    this.colourSets(this.variances, this.shown.variance);
    this.graph.data.datasets = [...this.sets, ...this.variances];
    const { scales, plugins } = this.graph.options;
    if (this.variances.length) {
      scales.variance.display = this.shown.variance;
      colourAxis(scales.variance, { drawOnChartArea: false });
    }
    const points = this.sets.filter((set) => !set.hidden).flatMap((set) => set.data);
    if (points.length) {
      Object.assign(scales.y, boundsOf(points.map((p) => p.y)));
      const xs = points.map((p) => p.x);
      Object.assign(scales.x, { min: least(xs), max: largest(xs) });
    }
    colourAxis(scales.x);
    colourAxis(scales.y);
    Object.assign(plugins.tooltip, tooltipStyle());
    this.graph.update("none");
    this.table.refresh();
  }

  // What happens when one of a kind is chosen or no more.
  change(kind, value) {
    return (isOn) => {
      if (isOn) this.shown[kind].add(value);
      else this.shown[kind].delete(value);
      this.refresh();
    };
  }

  devicesGroup() {
    return group("Devices", this.numbers.map((number) => toggle(
      this.devices[number], true, [swatch(number)], this.change("devices", number))));
  }

  seriesGroup() {
    const lookOf = (i) => (this.isOne && i < 8 ? swatch(i)
      : dash(this.line(i), this.isOne ? i : null));
    const toggles = this.series.map((name, i) => toggle(
      name, this.shown.series.has(name), [lookOf(i)], this.change("series", name)));
    if (!this.isCrowded) return group("Series", toggles);
    const setAll = (isOn) => () => {
      this.shown.series = new Set(isOn ? this.series : []);
      for (const each of toggles) setToggle(each, isOn);
      this.refresh();
    };
    const made = group("Series", [smallButton("all", setAll(true)),
                                  smallButton("none", setAll(false)), ...toggles]);
    made.classList.add("many");
    return made;
  }

  marksGroup() {
    const mark = (key) => toggle(key, this.shown[key], [], (isOn) => {
      this.shown[key] = isOn;
      this.refresh();
    });
    const keys = ["spread"];
    if (this.chart.curves.some((c) => c.levels.length)) keys.unshift("levels");
    if (this.variances.length) keys.push("variance");
    return group("Show", keys.map(mark));
  }

  controls() {
    const groups = [this.marksGroup()];
    if (this.series.length > 1) groups.unshift(this.seriesGroup());
    if (!this.isOne) groups.unshift(this.devicesGroup());
    return controls(groups);
  }
}

// Draws `chart` into `place`; returns what draws it anew in other colours.
export function drawCurves(chart, place, devices) {
  const curves = new Curves(chart, devices);
  const { canvas, said, box } = stage(`${chart.value.title} by ${chart.x.title}, ` +
    `${chart.curves.length} curves on logarithmic axes. Arrow keys read the points; a table ` +
    "follows.");
  curves.graph = curves.draw(canvas);
  curves.table = tableBehind(
    ["device", "series", chart.x.title, chart.value.title, "low", "high", "cycles"],
    () => curves.rows());
  place.append(curves.controls(), box, said, curves.table.details);
  withKeys(canvas, curves.graph, said, (set, p) => `${set.label}, ${p.place}: ${p.sentence}`);
  curves.refresh();
  return () => curves.refresh();
}
