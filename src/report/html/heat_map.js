// SPDX-License-Identifier: Apache-2.0
// The view of a grid: a cell for each pair of places, of one device and series at a time.
import { colourTexts, largest, least, placesAxis, tooltipStyle } from "./axes.js";
import { choice, controls } from "./controls.js";
import { element } from "./elements.js";
import { pictureButtons } from "./pictures.js";
import { stage, tableBehind, withKeys } from "./stage.js";
import { store, stored } from "./state.js";
import { cellsOf, pointsOf, sentenceOf } from "./unpack.js";

// From dark to light, so that it also reads without colour (viridis).
const viridis = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function onScale(share) {
  const at = Math.min(Math.max(share, 0), 1) * (viridis.length - 1);
  const i = Math.min(Math.floor(at), viridis.length - 2);
  const mixed = viridis[i].map((from, k) =>
    Math.round(from + (viridis[i + 1][k] - from) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}

class HeatMap {
  constructor(chart, place, devices) {
    this.chart = chart;
    this.place = place;
    this.key = `h${place.dataset.chart}`;
    this.devices = devices;
    this.grids = chart.grids.map((grid) => ({ ...grid, cells: this.cellsOf(grid) }));
    this.numbers = [...new Set(this.grids.map((g) => g.device))];
    this.series = [...new Set(this.grids.map((g) => g.series))];
    this.grid = this.grids[Number(stored(this.key)) || 0] || this.grids[0];
    this.set = { data: [], radius: 0, hitRadius: 0, hoverRadius: 0 };
    this.ends = [element("span"), element("span")];
  }

  cellsOf(grid) {
    const places = this.chart.places[grid.at];
    return pointsOf(grid).map((point, i) => {
      const [x, y] = places[i];
      return { ...point, x, y, value: point.y, sentence: sentenceOf(point),
               place: [this.chart.x.texts[x], this.chart.y.texts[y]] };
    });
  }

  where({ place: [x, y] }) {
    return `${this.chart.x.title} ${x}, ${this.chart.y.title} ${y}`;
  }

  draw(canvas) {
    return new Chart(canvas, {
      type: "scatter",
      data: { datasets: [this.set] },
      options: {
        animation: false, maintainAspectRatio: false, parsing: false,
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales: { x: placesAxis(this.chart.x),
                  y: { ...placesAxis(this.chart.y), reverse: true } },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([item]) => (item ? this.where(item.raw) : ""),
              label: (item) => item.raw.sentence,
            },
          },
        },
      },
      plugins: [{ beforeDatasetsDraw: (graph) => this.drawCells(graph) }],
    });
  }

  // `act(ink, left, top, width, height)` for each cell.
  eachCell({ chartArea: area, scales: { x, y } }, act) {
    const width = area.width / this.chart.x.texts.length;
    const height = area.height / this.chart.y.texts.length;
    const gap = Math.min(width, height) > 12 ? 1 : 0;
    const [low, high] = this.range.map(Math.log);
    for (const p of this.set.data) {
      const left = Math.round(x.getPixelForValue(p.x) - width / 2);
      const top = Math.round(y.getPixelForValue(p.y) - height / 2);
      const right = Math.round(x.getPixelForValue(p.x) + width / 2);
      const bottom = Math.round(y.getPixelForValue(p.y) + height / 2);
      act(onScale(high > low ? (Math.log(p.value) - low) / (high - low) : 0.5),
          left, top, right - left - gap, bottom - top - gap);
    }
  }

  drawCells(graph) {
    this.eachCell(graph, (ink, ...box) => {
      graph.ctx.fillStyle = ink;
      graph.ctx.fillRect(...box);
    });
  }

  // For drawing.js. The scale's colours have the legend's place.
  about() {
    const shares = [0, 0.25, 0.5, 0.75, 1];
    const ends = this.ends.map((end) => end.textContent);
    const nameAt = (i) => (i === 0 ? ends[0] : i === shares.length - 1 ? ends[1] : "");
    return {
      title: `${this.devices[this.grid.device]}: ${this.chart.probe}, ${this.grid.series}`,
      legend: shares.map((share, i) => ({ name: nameAt(i), ink: onScale(share) })),
      before: (group, make) => this.eachCell(this.graph, (ink, x, y, width, height) =>
        group.append(make("rect", { x, y, width, height, fill: ink }))),
    };
  }

  // Colours mean the same on all devices, for the series that is shown.
  rescale() {
    const cells = this.grids.filter((g) => g.series === this.grid.series).flatMap((g) => g.cells);
    const values = cells.map((cell) => cell.value);
    this.range = [least(values), largest(values)];
    this.range.forEach((end, i) => {
      const { text, cycles } = cells.find((cell) => cell.value === end);
      this.ends[i].textContent = cycles ? `${text} (${cycles} cycles)` : text;
    });
  }

  refresh() {
    this.rescale();
    const at = this.grids.indexOf(this.grid);
    store(this.key, at > 0 ? at : null);
    this.set.data = this.grid.cells;
    const { scales, plugins } = this.graph.options;
    colourTexts(scales.x);
    colourTexts(scales.y);
    Object.assign(plugins.tooltip, tooltipStyle());
    this.graph.update("none");
    this.table.refresh();
  }

  rows() {
    return this.grid.cells.map((p) => [
      this.devices[this.grid.device], this.grid.series, ...p.place, ...cellsOf(p)]);
  }

  // The grid of a device and a series; the first that matches where there is not both.
  show(device, series) {
    const ofDevice = this.grids.filter((g) => g.device === device);
    this.grid = ofDevice.find((g) => g.series === series) || ofDevice[0];
    this.choices.device.choose(this.grid.device);
    this.choices.series.choose(this.grid.series);
    this.refresh();
  }

  showSeries(series) {
    const having = this.grids.filter((g) => g.series === series);
    const grid = having.find((g) => g.device === this.grid.device) || having[0];
    this.show(grid.device, series);
  }

  controls() {
    const name = this.chart.probe;
    this.choices = {
      device: choice("Device", `device-${name}`, this.numbers, (d) => this.devices[d],
                     (d) => this.show(d, this.grid.series), this.grid.device),
      series: choice("Series", `series-${name}`, this.series, (s) => s,
                     (s) => this.showSeries(s), this.grid.series),
    };
    const groups = [];
    if (this.numbers.length > 1) groups.push(this.choices.device.part);
    if (this.series.length > 1) groups.push(this.choices.series.part);
    return groups.length ? [controls(groups)] : [];
  }
}

// Draws `chart` into `place`; returns the view.
export function drawHeatMap(chart, place, devices) {
  const map = new HeatMap(chart, place, devices);
  const { canvas, said, box } = stage(`${chart.value.title} by ${chart.x.title} and ` +
    `${chart.y.title}, as a heat map. Use the arrow keys to read cells; a table follows.`);
  map.box = box;
  // A few rows of cells need no screen.
  box.style.height = `${Math.min(480, 90 + 44 * chart.y.texts.length)}px`;
  map.rescale();  // which drawing needs
  map.graph = map.draw(canvas);
  map.table = tableBehind(
    ["device", "series", chart.x.title, chart.y.title, chart.value.title, "low", "high"],
    () => map.rows());
  const scale = element("div", { className: "scale" },
                        map.ends[0], element("span", { className: "bar-of-colour" }), map.ends[1]);
  place.append(...map.controls(), box, scale, said, pictureButtons(map), map.table.details);
  withKeys(canvas, map, said, (_, p) => `${map.where(p)}: ${p.sentence}`);
  map.refresh();
  return map;
}
