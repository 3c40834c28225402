// SPDX-License-Identifier: Apache-2.0
// Draws the charts of a page and unpacks its raw data. All text of a file reaches the page as
// textContent or on a canvas, never as markup.
"use strict";

(function () {
  const parse = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = parse("charts");
  const drawn = [];  // what must be drawn anew when the colours change

  // Elements

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  // Numbers, as the rest of clprobe writes them

  function digits(value) {
    const size = Math.abs(value);
    if (size >= 999.5) return value.toFixed(0);
    if (size === 0) return "0";
    return value.toFixed(Math.min(Math.max(0, 2 - Math.floor(Math.log10(size * 1.0005))), 20));
  }

  function scaled(value, base, prefixes, unit, first) {
    let i = first;
    while (i + 1 < prefixes.length && Math.abs(value) >= base * 0.9995) {
      value /= base;
      ++i;
    }
    while (i > 0 && Math.abs(value) < 0.9995) {
      value *= base;
      --i;
    }
    return { number: value, unit: prefixes[i] + unit };
  }

  const units = {
    seconds: (value) => scaled(value * 1e9, 1000, ["p", "n", "\u00b5", "m", ""], "s", 1),
    ns: (value) => units.seconds(value * 1e-9),
    bytes: (value) => scaled(value, 1024, ["", "Ki", "Mi", "Gi", "Ti"], "B", 0),
    bytes_per_second: (value) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"], "B/s", 0),
    share: (value) => ({ number: value * 100, unit: "%" }),
  };

  function text(value, unit) {
    const show = units[unit];
    if (!show) return Number.isInteger(value) ? String(value) : digits(value);
    const parts = show(value);
    const whole = parts.unit === "B" || (unit === "bytes" && Number.isInteger(parts.number));
    return (whole ? String(parts.number) : digits(parts.number)) + "\u00a0" + parts.unit;
  }

  function tickText(value, unit) {
    return text(value, unit).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
  }

  const describe = (chart, curve, point) => {
    const value = text(point.value, chart.value.unit);
    const spread = point.high > point.low
      ? ` (${text(point.low, chart.value.unit)} to ${text(point.high, chart.value.unit)})` : "";
    return value + spread + cyclesText(point, ", ", " cycles");
  };

  const cyclesText = (point, before = "", after = "") =>
    (point.cycles ? before + digits(point.cycles) + after : "");

  // The inverse of add_columns in page_charts.cpp: [x, value, high, low] of each point of a curve, and
  // [x, y, value, high, low] of a grid.
  function addPoints(chart) {
    for (const part of chart.curves || chart.grids || []) {
      const { values, highs = [], lows = [] } = part;
      part.points = chart.places[part.at].map((place, i) =>
        [place, values[i], highs[i] || values[i], lows[i] || values[i]].flat());
      if (part.variance) {
        const { at, values: ys } = part.variance;
        part.variance = chart.places[at].map((x, i) => ({ x, y: ys[i] }));
      }
    }
    return chart;
  }

  function valueOf(chart, [value, high, low]) {
    const { scale } = chart.value;
    return { value: value * scale, high: high * scale, low: low * scale };
  }

  // Axes

  const between = (values, axis) => values.filter((v) => v >= axis.min && v <= axis.max);

  function octaves(axis) {
    const powers = Array.from({ length: 63 }, (_, i) => 2 ** i);
    const inside = between(powers, axis);
    const room = Math.max(2, Math.floor(axis.chart.width / 90));
    const step = [1, 2, 5, 10, 20].find((n) => inside.length / n <= room) || 20;
    return inside.filter((v) => Math.log2(v) % step === 0);
  }

  function decades(axis) {
    const from = Math.floor(Math.log10(axis.min));
    const count = Math.ceil(Math.log10(axis.max)) - from + 1;
    const powers = Array.from({ length: count }, (_, i) => 10 ** (from + i));
    const fine = between(powers.flatMap((p) => [p, 2 * p, 5 * p]), axis);
    return fine.length <= 12 ? fine : between(powers, axis);
  }

  function logAxis(about, ticks) {
    return {
      type: "logarithmic",
      title: { display: true, text: about.title },
      afterBuildTicks: (axis) => { axis.ticks = ticks(axis).map((value) => ({ value })); },
      ticks: { callback: (value) => tickText(value, about.unit), maxRotation: 0, autoSkipPadding: 12 },
    };
  }

  // Room above and below; a flat curve is not blown up until its noise looks like levels.
  function bounds(values) {
    let low = Infinity;
    let high = 0;
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (!(high > 0)) return {};
    low /= 1.35;
    high *= 1.7;
    const missing = Math.sqrt(Math.max(1, 10 / (high / low)));
    return { min: low / missing, max: high * missing };
  }

  // Drawn on the canvas around the curves

  function drawSpreads(chart) {
    const { ctx, scales: { x, y }, chartArea: area } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.width, area.height);
    ctx.clip();
    chart.data.datasets.forEach((set, i) => {
      if (!chart.isDatasetVisible(i)) return;
      const points = set.data.filter((p) => p.low > 0 && p.high > 0);
      ctx.beginPath();
      points.forEach((p) => ctx.lineTo(x.getPixelForValue(p.x), y.getPixelForValue(p.high)));
      points.reverse().forEach((p) => ctx.lineTo(x.getPixelForValue(p.x), y.getPixelForValue(p.low)));
      ctx.globalAlpha = 0.22;
      ctx.fillStyle = set.borderColor;
      ctx.fill();
    });
    ctx.restore();
  }

  // The curves as dots close to each other, which texts should not cover.
  function dotsOfCurves(chart) {
    const dots = [];
    chart.data.datasets.forEach((set, i) => {
      if (!chart.isDatasetVisible(i)) return;
      let last = null;
      for (const { x, y } of chart.getDatasetMeta(i).data) {
        const steps = last ? 1 + Math.floor(Math.hypot(x - last.x, y - last.y) / 5) : 0;
        for (let k = 0; k < steps; ++k) {
          dots.push({ x: last.x + (x - last.x) * k / steps, y: last.y + (y - last.y) * k / steps });
        }
        last = { x, y };
      }
    });
    return dots;
  }

  const meet = (a, b) => a.right > b.left && a.left < b.right && a.bottom > b.top && a.top < b.bottom;
  const holds = (box, dot) =>
    dot.x > box.left && dot.x < box.right && dot.y > box.top && dot.y < box.bottom;

  // Above or below the plateau where no curve is; else where at least no other text is; else null.
  function placeOf(area, width, from, to, base, taken, dots) {
    let secondBest = null;
    for (const aside of [-9, 18, -24, 33]) {
      for (const share of [0.5, 0.25, 0.75]) {
        const left = Math.min(Math.max(from + share * (to - from) - width / 2, area.left + 3),
                              area.right - width - 3);
        const bottom = base + aside + 3;
        const box = { left: left - 3, right: left + width + 3, top: bottom - 15, bottom };
        if (box.top < area.top || bottom > area.bottom - 8) continue;
        if (taken.some((other) => meet(box, other))) continue;
        if (!dots.some((dot) => holds(box, dot))) return box;
        secondBest = secondBest || box;
      }
    }
    return secondBest;
  }

  // Where the texts of the levels go: found once for each change, since drawing follows the pointer.
  function placeLevels(chart) {
    const { ctx, scales: { x, y }, chartArea: area } = chart;
    const taken = [];
    const placed = [];
    const written = [];  // of devices that are alike, one text is enough
    const isWritten = (level) => written.some((other) => other.text === level.text &&
      other.from < level.to && level.from < other.to);
    const dots = dotsOfCurves(chart);
    ctx.save();
    ctx.font = levelFont();
    chart.data.datasets.forEach((set, i) => {
      if (!chart.isDatasetVisible(i)) return;
      for (const level of set.levels.filter((each) => !isWritten(each))) {
        const box = placeOf(area, ctx.measureText(level.text).width, x.getPixelForValue(level.from),
                            x.getPixelForValue(level.to), y.getPixelForValue(level.value), taken, dots);
        if (!box) continue;
        taken.push(box);
        written.push(level);
        placed.push({ text: level.text, x: box.left + 3, y: box.bottom - 3, ink: set.borderColor });
      }
    });
    ctx.restore();
    return { placed, ground: colour("surface") };
  }

  const levelFont = () => "600 12px " + Chart.defaults.font.family;

  function writeLevels(ctx, { placed, ground }) {
    ctx.font = levelFont();
    ctx.lineWidth = 4;
    ctx.strokeStyle = ground;
    for (const { text: words, x, y, ink } of placed) {
      ctx.strokeText(words, x, y);
      ctx.fillStyle = ink;
      ctx.fillText(words, x, y);
    }
  }

  // Each level as a line at its latency, its capacity as a bracket on the axis.
  function drawLevels(chart, texts) {
    const { ctx, scales: { x, y }, chartArea: area } = chart;
    ctx.save();
    chart.data.datasets.forEach((set, i) => {
      if (!chart.isDatasetVisible(i)) return;
      for (const level of set.levels) {
        const at = y.getPixelForValue(level.value);
        ctx.strokeStyle = set.borderColor;
        ctx.globalAlpha = 0.4;
        ctx.lineWidth = 6;
        ctx.beginPath();
        ctx.moveTo(x.getPixelForValue(level.from), at);
        ctx.lineTo(x.getPixelForValue(level.to), at);
        ctx.stroke();
        if (level.endHigh) {
          const from = x.getPixelForValue(level.endLow);
          const to = x.getPixelForValue(level.endHigh);
          ctx.globalAlpha = 0.6;
          ctx.fillStyle = set.borderColor;
          ctx.fillRect(from, area.bottom - 7, Math.max(2, to - from), 7);
        }
        ctx.globalAlpha = 1;
      }
    });
    writeLevels(ctx, texts);
    ctx.restore();
  }

  // Toggles

  function toggle(label, isOn, look, changed) {
    const input = element("input", { type: "checkbox", checked: isOn });
    input.addEventListener("change", () => changed(input.checked));
    return element("label", { className: "toggle" }, input, ...look,
                   element("span", { className: "text", textContent: label }));
  }

  const swatch = (number) => element("span", { className: "swatch c" + number % 8, ariaHidden: "true" });

  // A piece of the line of a series.
  function dash(pattern, hue) {
    const make = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const line = make("svg", { class: "line", width: 30, height: 6, "aria-hidden": "true" });
    if (hue !== null) line.classList.add("coloured", "c" + hue % 8);
    line.append(make("path", { d: "M0 3h30", "stroke-dasharray": pattern.join(" ") }));
    return line;
  }

  function group(title, toggles) {
    return element("fieldset", {}, element("legend", { textContent: title }), ...toggles);
  }

  // The table behind a chart, made when it is opened

  function pointsTable(columns, rows) {
    const head = element("tr", {}, ...columns.map((name, i) =>
      element("th", { scope: "col", textContent: name, className: i > 1 ? "number" : "" })));
    const body = element("tbody");
    for (const row of rows) {
      body.append(element("tr", {}, ...row.map((cell, i) =>
        element("td", { textContent: cell, className: i > 1 ? "number" : "" }))));
    }
    const caption = element("caption", { textContent: "The points that the chart shows" });
    const box = element("div", { className: "scroll tall", tabIndex: 0 },
                        element("table", {}, caption, element("thead", {}, head), body));
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "The points that the chart shows");
    return box;
  }

  function tableBehind(columns, rows) {
    const details = element("details", { className: "points" },
                            element("summary", { textContent: "The same as a table" }));
    const refresh = () => {
      if (!details.open) return;
      while (details.children.length > 1) details.lastChild.remove();
      details.append(pointsTable(columns, rows()));
    };
    details.addEventListener("toggle", refresh);
    return { details, refresh };
  }

  // Arrow keys do what the pointer does, and what is shown is also said.
  function withKeys(canvas, graph, said, sentence) {
    let set = 0;
    let at = -1;
    const visible = () => graph.data.datasets.map((_, i) => i).filter((i) => graph.isDatasetVisible(i));
    canvas.addEventListener("keydown", (event) => {
      const sets = visible();
      if (!sets.length || !event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key] || 0;
      const across = { ArrowDown: 1, ArrowUp: -1 }[event.key] || 0;
      set = (Math.max(0, sets.indexOf(set)) + across + sets.length) % sets.length;
      set = sets[set];
      const length = graph.data.datasets[set].data.length;
      at = Math.min(Math.max(at + along, 0), length - 1);
      const element = graph.getDatasetMeta(set).data[at];
      const active = [{ datasetIndex: set, index: at }];
      graph.setActiveElements(active);
      graph.tooltip.setActiveElements(active, { x: element.x, y: element.y });
      graph.update("none");
      said.textContent = sentence(graph.data.datasets[set], graph.data.datasets[set].data[at]);
    });
  }

  function stage(label) {
    const canvas = element("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
    const said = element("p", { className: "said" });
    said.setAttribute("aria-live", "polite");
    return { canvas, said, box: element("div", { className: "stage" }, canvas) };
  }

  function tooltipStyle() {
    return {
      backgroundColor: colour("ink"), titleColor: colour("surface"), bodyColor: colour("surface"),
      padding: 10, cornerRadius: 6, boxPadding: 4, usePointStyle: true,
    };
  }

  // Views: each draws `chart` into `place`. A probe's view is chosen in page_charts.cpp.

  const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 4]];
  const dashOf = (number) => dashes[number % dashes.length];

  // More curves than these cannot be told apart: the first ones are shown, the others when wanted.
  const mostSeries = 10;
  const fewSeries = 5;

  function drawCurves(chart, place) {
    const curves = chart.curves;
    const devices = [...new Set(curves.map((c) => c.device))];
    const series = [...new Set(curves.map((c) => c.series))];
    const isOne = devices.length === 1;
    const isCrowded = series.length > mostSeries;
    const first = isOne ? (isCrowded ? fewSeries : series.length) : 1;
    const shown = {
      devices: new Set(devices), series: new Set(series.slice(0, first)),
      levels: true, spread: true, variance: false,
    };
    let texts = null;
    const hue = (c) => "c" + (isOne ? series.indexOf(c.series) : c.device) % 8;
    // Of one device each round of the eight colours has a line of its own.
    const line = (number) => dashOf(isOne ? Math.floor(number / 8) : number);
    const name = (c) => (isOne ? c.series : `${data.devices[c.device]}, ${c.series}`);
    const isShown = (c) => shown.devices.has(c.device) && shown.series.has(c.series);
    const points = (c) => c.points.map(([x, ...rest]) => {
      const point = { x, ...valueOf(chart, rest) };
      point.y = point.value;
      point.cycles = c.cyclesPerSecond ? point.value * c.cyclesPerSecond : 0;
      return point;
    });
    const sets = curves.map((c) => ({
      curve: c, label: name(c), data: points(c), levels: c.levels, hidden: !isShown(c),
      borderWidth: 2, pointRadius: 0, pointHitRadius: 8, pointHoverRadius: 5,
      borderDash: line(series.indexOf(c.series)),
    }));
    // Of Thread-Latency curves: a second axis, which is there when it is asked for.
    const variances = curves.filter((c) => c.variance).map((c) => ({
      curve: c, label: `${name(c)}, variance`, data: c.variance,
      levels: [], yAxisID: "variance", hidden: true, isVariance: true,
      borderWidth: 1, pointRadius: 0, pointHitRadius: 8, pointHoverRadius: 5, borderDash: [2, 2],
    }));
    const tell = (set, p) =>
      (set.isVariance ? `${digits(p.y)} square cycles` : describe(chart, set.curve, p));
    const sentence = (set, p) => `${set.label}, ${text(p.x, chart.x.unit)}: ${tell(set, p)}`;
    const scales = {
      x: logAxis(chart.x, chart.x.unit === "bytes" ? octaves : decades),
      y: logAxis(chart.value, decades),
    };
    if (variances.length) {
      scales.variance = logAxis({ title: "variance of three points, in square cycles" }, decades);
      scales.variance.position = "right";
      Object.assign(scales.variance, bounds(variances.flatMap((s) => s.data.map((p) => p.y))));
    }
    const { canvas, said, box } = stage(`${chart.value.title} by ${chart.x.title}, ` +
      `${curves.length} curves on logarithmic axes. Arrow keys read the points; a table follows.`);
    const visiblePoints = (key) => sets.filter((s) => !s.hidden).flatMap((s) => s.data.map((p) => p[key]));
    const graph = new Chart(canvas, {
      type: "line",
      data: { datasets: [] },  // which refresh gives, so that nothing is drawn twice
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales,
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: ([item]) => item ? text(item.raw.x, chart.x.unit) : "",
              label: (item) => [item.dataset.label, tell(item.dataset, item.raw)],
            },
          },
        },
      },
      plugins: [{
        afterUpdate: (each) => { texts = placeLevels(each); },
        beforeDatasetsDraw: (each) => { if (shown.spread) drawSpreads(each); },
        afterDatasetsDraw: (each) => { if (shown.levels) drawLevels(each, texts); },
      }],
    });

    const table = tableBehind(
      ["device", "series", chart.x.title, chart.value.title, "low", "high", "cycles"],
      () => sets.filter((s) => !s.hidden).flatMap((s) => s.data.map((p) => [
        data.devices[s.curve.device], s.curve.series, text(p.x, chart.x.unit),
        text(p.value, chart.value.unit), text(p.low, chart.value.unit),
        text(p.high, chart.value.unit), cyclesText(p)])));

    function refresh() {
      for (const set of sets) {
        set.hidden = !isShown(set.curve);
        set.borderColor = set.backgroundColor = set.pointBackgroundColor = colour(hue(set.curve));
      }
      for (const set of variances) {
        set.hidden = !shown.variance || !isShown(set.curve);
        set.borderColor = set.backgroundColor = set.pointBackgroundColor = colour(hue(set.curve));
      }
      graph.data.datasets = [...sets, ...variances];
      const { scales, plugins } = graph.options;
      if (scales.variance) {
        scales.variance.display = shown.variance;
        scales.variance.grid = { drawOnChartArea: false, borderColor: colour("quiet") };
        scales.variance.ticks.color = scales.variance.title.color = colour("quiet");
      }
      Object.assign(scales.y, bounds(visiblePoints("y")));
      const xs = visiblePoints("x");
      if (xs.length) {
        scales.x.min = xs.reduce((a, b) => Math.min(a, b));
        scales.x.max = xs.reduce((a, b) => Math.max(a, b));
      }
      for (const axis of [scales.x, scales.y]) {
        axis.grid = { color: colour("grid"), borderColor: colour("quiet") };
        axis.ticks.color = axis.title.color = colour("quiet");
      }
      Object.assign(plugins.tooltip, tooltipStyle());
      graph.update("none");
      table.refresh();
    }

    const change = (kind, value) => (isOn) => {
      if (isOn) shown[kind].add(value);
      else shown[kind].delete(value);
      refresh();
    };
    const groups = [];
    if (!isOne) {
      groups.push(group("Devices", devices.map((d) => toggle(
        data.devices[d], true, [swatch(d)], change("devices", d)))));
    }
    if (series.length > 1) {
      const toggles = series.map((s, i) => toggle(
        s, shown.series.has(s), isOne && i < 8 ? [swatch(i)] : [dash(line(i), isOne ? i : null)],
        change("series", s)));
      const setAll = (isOn) => () => {
        shown.series = new Set(isOn ? series : []);
        for (const each of toggles) each.querySelector("input").checked = isOn;
        refresh();
      };
      const all = [["all", true], ["none", false]].map(([label, isOn]) => {
        const button = element("button", { type: "button", className: "small", textContent: label });
        button.addEventListener("click", setAll(isOn));
        return button;
      });
      groups.push(group("Series", isCrowded ? [...all, ...toggles] : toggles));
      groups[groups.length - 1].classList.toggle("many", isCrowded);
    }
    const flag = (key) => (isOn) => { shown[key] = isOn; refresh(); };
    const marks = [toggle("spread", true, [], flag("spread"))];
    if (curves.some((c) => c.levels.length)) marks.unshift(toggle("levels", true, [], flag("levels")));
    if (variances.length) marks.push(toggle("variance", false, [], flag("variance")));
    groups.push(group("Show", marks));

    place.append(element("div", { className: "controls" }, ...groups), box, said, table.details);
    withKeys(canvas, graph, said, sentence);
    drawn.push(refresh);
    refresh();
    return graph;
  }

  // From dark to light, so that it also reads without colour (viridis).
  const scale = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

  function onScale(share) {
    const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
    const i = Math.min(Math.floor(at), scale.length - 2);
    const mixed = scale[i].map((from, k) => Math.round(from + (scale[i + 1][k] - from) * (at - i)));
    return `rgb(${mixed.join(",")})`;
  }

  function drawHeatMap(chart, place) {
    const grids = chart.grids;
    let grid = 0;
    let low = 0;   // of the series that is shown, on all devices: logarithms
    let high = 0;
    const devices = [...new Set(grids.map((g) => g.device))];
    const series = [...new Set(grids.map((g) => g.series))];
    const sorted = (k) => [...new Set(grids.flatMap((g) => g.points.map((p) => p[k])))].sort((a, b) => a - b);
    const [xs, ys] = [sorted(0), sorted(1)];
    const set = { data: [], radius: 0, hitRadius: 0, hoverRadius: 0 };
    const { canvas, said, box } = stage(`${chart.value.title} by ${chart.x.title} and ` +
      `${chart.y.title}, as a heat map. Arrow keys read the cells; a table follows.`);
    const category = (about, labels) => ({
      type: "category", labels, offset: true, title: { display: true, text: about.title },
      grid: { display: false },
      ticks: { callback: (_, i) => tickText(labels[i], about.unit), maxRotation: 0, autoSkipPadding: 8 },
    });
    const graph = new Chart(canvas, {
      type: "scatter",
      data: { datasets: [set] },
      options: {
        animation: false, maintainAspectRatio: false, parsing: false,
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales: { x: category(chart.x, xs), y: { ...category(chart.y, ys), reverse: true } },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([item]) => item ? where(item.raw) : "",
              label: (item) => describe(chart, null, item.raw),
            },
          },
        },
      },
      plugins: [{ beforeDatasetsDraw: drawCells }],
    });

    function where(p) {
      return `${chart.x.title} ${text(xs[p.x], chart.x.unit)}, ` +
             `${chart.y.title} ${text(ys[p.y], chart.y.unit)}`;
    }

    function drawCells(each) {
      const { ctx, chartArea: area, scales: { x, y } } = each;
      const width = area.width / xs.length;
      const height = area.height / ys.length;
      const gap = Math.min(width, height) > 12 ? 1 : 0;
      for (const p of set.data) {
        ctx.fillStyle = onScale(high > low ? (Math.log(p.value) - low) / (high - low) : 0.5);
        const left = Math.round(x.getPixelForValue(p.x) - width / 2);
        const top = Math.round(y.getPixelForValue(p.y) - height / 2);
        const right = Math.round(x.getPixelForValue(p.x) + width / 2);
        const bottom = Math.round(y.getPixelForValue(p.y) + height / 2);
        ctx.fillRect(left, top, right - left - gap, bottom - top - gap);
      }
    }

    const table = tableBehind(
      ["device", "series", chart.x.title, chart.y.title, chart.value.title, "low", "high"],
      () => set.data.map((p) => [
        data.devices[grids[grid].device], grids[grid].series, text(xs[p.x], chart.x.unit),
        text(ys[p.y], chart.y.unit), text(p.value, chart.value.unit),
        text(p.low, chart.value.unit), text(p.high, chart.value.unit)]));

    const ends = [element("span"), element("span")];

    function rescale() {
      const values = grids.filter((g) => g.series === grids[grid].series)
        .flatMap((g) => g.points.map(([, , ...rest]) => valueOf(chart, rest).value));
      const range = [Math.min, Math.max].map((pick) => values.reduce((a, b) => pick(a, b)));
      [low, high] = range.map(Math.log);
      range.forEach((value, i) => { ends[i].textContent = text(value, chart.value.unit); });
    }

    function refresh() {
      rescale();
      set.data = grids[grid].points.map(([x, y, ...rest]) =>
        ({ x: xs.indexOf(x), y: ys.indexOf(y), ...valueOf(chart, rest) }));
      for (const axis of [graph.options.scales.x, graph.options.scales.y]) {
        axis.ticks.color = axis.title.color = colour("quiet");
      }
      Object.assign(graph.options.plugins.tooltip, tooltipStyle());
      graph.update("none");
      table.refresh();
    }

    // A device and a series: where a device lacks the series, its first one is shown instead.
    const radios = { device: new Map(), series: new Map() };
    function choose(device, wanted) {
      const exact = grids.findIndex((g) => g.device === device && g.series === wanted);
      grid = exact >= 0 ? exact : grids.findIndex((g) => g.device === device);
      radios.series.get(grids[grid].series).checked = true;
      refresh();
    }
    function radioGroup(title, kind, values, label, changed) {
      return group(title, values.map((value) => {
        const input = element("input", { type: "radio", name: `${kind}-${chart.probe}`,
                                         checked: value === grids[0][kind] });
        input.addEventListener("change", () => changed(value));
        radios[kind].set(value, input);
        return element("label", { className: "toggle" }, input,
                       element("span", { className: "text", textContent: label(value) }));
      }));
    }
    const ofDevices = radioGroup("Device", "device", devices, (d) => data.devices[d],
                                 (d) => choose(d, grids[grid].series));
    const ofSeries = radioGroup("Series", "series", series, (s) => s, (s) => {
      const has = grids.some((g) => g.device === grids[grid].device && g.series === s);
      const device = has ? grids[grid].device : grids.find((g) => g.series === s).device;
      radios.device.get(device).checked = true;
      choose(device, s);
    });
    const controls = [devices.length > 1 ? ofDevices : null, series.length > 1 ? ofSeries : null];
    if (controls.some(Boolean)) {
      place.append(element("div", { className: "controls" }, ...controls.filter(Boolean)));
    }
    const legend = element("div", { className: "scale" },
      ends[0], element("span", { className: "bar-of-colour" }), ends[1]);
    place.append(box, legend, said, table.details);
    withKeys(canvas, graph, said, (_, p) => `${where(p)}: ${describe(chart, null, p)}`);
    drawn.push(refresh);
    refresh();
    return graph;
  }

  // Sub-classes of a category are lighter and lighter.
  const tints = ["ff", "c4", "94", "6c", "4c"];

  // Long names in lines, where the bars would have no room beside them.
  const narrow = 700;
  const inLines = (name, width) => (width < narrow ? name.split(/, /).map((word, i, all) =>
    word + (i + 1 < all.length ? "," : "")) : name);

  function drawStacks(chart, place) {
    const isOne = new Set(chart.stacks.map((s) => s.device)).size === 1;
    const name = (s) => (isOne ? s.series : `${data.devices[s.device]}, ${s.series}`);
    let bars = [];
    const tintOf = (i) => tints[Math.min(
      chart.categories.slice(0, i).filter((c) => c === chart.categories[i]).length, tints.length - 1)];
    const sets = chart.labels.map((label) => ({ label, data: [], borderWidth: 0.5, stack: "all" }));
    const where = (p) => `${name(bars[p.y])}${bars[p.y].time ? " (" + bars[p.y].time + ")" : ""}`;
    const shown = (p) => text(p.x, "share") +
      (p.high === null ? "" : ` (${text(p.low, "share")} to ${text(p.high, "share")})`);
    const { canvas, said, box } = stage(`Where the time of ${chart.stacks.length} bars goes, ` +
      "stacked by cause. Arrow keys read the parts; a table follows.");
    const graph = new Chart(canvas, {
      type: "bar",
      data: { datasets: sets },
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, indexAxis: "y",
        interaction: { mode: "nearest", axis: "xy", intersect: true },
        scales: {
          x: { stacked: true, ticks: { callback: (value) => tickText(value, "share"), maxRotation: 0 } },
          y: {
            type: "category", stacked: true, grid: { display: false },
            ticks: { autoSkip: false, callback: (_, i) => inLines(name(bars[i]), canvas.clientWidth) },
          },
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: ([item]) => item ? where(item.raw) : "",
              label: (item) => `${item.dataset.label}: ${shown(item.raw)}`,
            },
          },
        },
      },
    });

    let view = 0;
    const table = tableBehind(
      ["bar", "cause", "share", "low", "high"],
      () => bars.flatMap((bar) => bar.points.map(([label, share, low, high]) => [
        name(bar), chart.labels[label], text(share, "share"),
        high === null ? "" : text(low, "share"), high === null ? "" : text(high, "share")])));

    function refresh() {
      bars = chart.stacks.filter((s) => s.view === view);
      const points = (label) => bars.flatMap((bar, y) => bar.points
        .filter((p) => p[0] === label).map(([, x, low, high]) => ({ x, y, low, high })));
      sets.forEach((set, i) => {
        set.data = points(i);
        set.backgroundColor = colour("c" + chart.categories[i] % 8) + tintOf(i);
        set.borderColor = colour("surface");
      });
      const sums = (sign) => bars.map((bar) =>
        bar.points.reduce((sum, p) => sum + Math.max(0, sign * p[1]), 0)).reduce((a, b) => Math.max(a, b));
      const { x, y } = graph.options.scales;
      x.min = -sums(-1);
      x.max = Math.max(1, Math.round(sums(1) * 1e6) / 1e6);
      graph.data.labels = bars.map(name);
      for (const axis of [x, y]) axis.ticks.color = colour("quiet");
      x.grid = { color: colour("grid"), borderColor: colour("quiet") };
      Object.assign(graph.options.plugins.tooltip, tooltipStyle());
      const row = place.clientWidth < narrow ? 46 : 30;
      box.style.height = `${60 + row * Math.max(bars.length, 4)}px`;
      graph.update("none");
      table.refresh();
    }

    if (chart.views.length > 1) {
      const radios = chart.views.map((title, i) => {
        const input = element("input", { type: "radio", name: "view-" + chart.probe, checked: i === 0 });
        input.addEventListener("change", () => { view = i; refresh(); });
        return element("label", { className: "toggle" }, input,
                       element("span", { className: "text", textContent: title }));
      });
      place.append(element("div", { className: "controls" }, group("Show", radios)));
    }
    const categories = [...new Set(chart.categories)];
    const legend = element("ul", { className: "legend" }, ...categories.map((c) => element(
      "li", {}, swatch(c),
      element("span", { textContent: chart.labels[chart.categories.indexOf(c)].split(":")[0] }))));
    place.append(box, legend, said, table.details);
    withKeys(canvas, graph, said, (set, p) => `${where(p)}, ${set.label}: ${shown(p)}`);
    drawn.push(refresh);
    refresh();
    return graph;
  }

  const views = { "curve": drawCurves, "heat map": drawHeatMap, "stack": drawStacks };

  // Raw data: the inverse of packed.cpp

  class RawNumber {
    constructor(digitsOfIt) { this.digits = digitsOfIt; }
  }

  const base85 = new Map([..."#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`" +
    "abcdefghijklmnopqrstuvwxyz{|"].map((c, i) => [c, i]));

  function naturals(text, count, nulls) {
    const chunk = 8;  // digits of a number that is exact without BigInt
    let at = 0;
    const digit = () => base85.get(text[at++]);
    const number = (length) => {
      let whole = 0n;
      while (length > 0) {
        const size = Math.min(chunk, length);
        let part = 0;
        for (let i = 0; i < size; ++i) part = part * 85 + digit();
        whole = whole * BigInt(85 ** size) + BigInt(part);
        length -= size;
      }
      return whole;
    };
    const above = (size) => {
      const width = digit();
      const radix = number(width) + 1n;
      if (width > 7) return Array.from({ length: size }, () => number(width));
      const own = new Array(size).fill(0n);
      if (width === 0) return own;
      let rest = number(Math.ceil(size * Math.log(Number(radix)) / Math.log(85) + 1e-9));
      for (let i = size - 1; i >= 0; --i) {
        own[i] = rest % radix;
        rest /= radix;
      }
      return own;
    };
    const numbers = [];
    while (numbers.length < count) {
      const size = Math.min(32, count - numbers.length);
      const least = number(digit());
      for (const each of above(size)) {
        const exact = least + each;
        const isSafe = exact <= Number.MAX_SAFE_INTEGER;
        numbers.push(isSafe ? Number(exact) : new RawNumber(exact.toString()));
      }
    }
    if (nulls) naturals(nulls, count).forEach((isNull, i) => { if (isNull) numbers[i] = null; });
    return numbers;
  }

  const unpackKey = (key) => (key.startsWith("$$") ? key.slice(1) : key);

  function unpack(value) {
    if (Array.isArray(value)) return value.map(unpack);
    if (value === null || typeof value !== "object") return value;
    if ("$number" in value) return new RawNumber(value.$number);
    if ("$base85" in value) return naturals(value.$base85, value.$count, value.$nulls);
    if ("$words" in value) {
      const known = unpack(value.$words);
      return unpack(value.$at).map((i) => known[i]);
    }
    if ("$repeats" in value) {
      const list = [];
      for (let i = 0; i < value.$repeats.length; i += 2) {
        for (let n = value.$repeats[i + 1]; n > 0; --n) list.push(unpack(value.$repeats[i]));
      }
      return list;
    }
    if ("$joined" in value) {
      const all = unpack(value.$joined);
      let at = 0;
      return unpack(value.$lengths).map((length) => all.slice(at, at += length));
    }
    if ("$rows" in value) {
      const rows = Array.from({ length: value.$rows }, () => []);
      for (const [key, packed] of value.$columns) {
        unpack(packed).forEach((each, i) => { if (each !== null) rows[i].push([unpackKey(key), each]); });
      }
      return rows.map(Object.fromEntries);
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [unpackKey(key), unpack(each)]));
  }

  function jsonText(value) {
    if (value instanceof RawNumber) return value.digits;
    if (Array.isArray(value)) return "[" + value.map(jsonText).join(",") + "]";
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return "{" + Object.entries(value).map(([key, each]) =>
      JSON.stringify(key) + ":" + jsonText(each)).join(",") + "}";
  }

  function download(name, documents) {
    const content = documents.length === 1 ? documents[0] : documents;
    const blob = new Blob([jsonText(content) + "\n"], { type: "application/json" });
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function offerDownloads() {
    const place = document.getElementById("downloads");
    const offer = (label, name, choose) => {
      const button = element("button", { type: "button", textContent: label });
      button.addEventListener("click", () => download(name, choose(unpack(parse("runs")))));
      place.append(button);
    };
    offer(data.devices.length > 1 ? "Download all runs (JSON)" : "Download the run (JSON)",
          "clprobe-runs.json", (all) => all);
    if (data.devices.length < 2) return;
    data.devices.forEach((device, i) => offer(device, `clprobe-run-${i}.json`, (all) => [all[i]]));
  }

  // Light and dark

  function offerScheme() {
    const button = document.getElementById("scheme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const isDark = () => (root.dataset.scheme || (system.matches ? "dark" : "light")) === "dark";
    const label = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
    };
    const refresh = () => {
      label();
      drawn.forEach((draw) => draw());
    };
    button.addEventListener("click", () => {
      root.dataset.scheme = isDark() ? "light" : "dark";
      refresh();
    });
    system.addEventListener("change", refresh);
    button.hidden = false;
    label();
  }

  function drawAll(done) {
    if (typeof Chart === "undefined") {  // a build without the library: the pictures stay
      done();
      return;
    }
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    const draw = (place) => {
      const chart = data.charts[Number(place.dataset.chart)];
      if (chart) addPoints(chart);
      const has = chart && (chart.curves || chart.grids || chart.stacks || [])
        .some((each) => each.points.length > 1);
      if (!has) return;
      place.querySelector(".picture").hidden = true;
      views[chart.view](chart, place);
    };
    const places = [...document.querySelectorAll("[data-chart]")];
    const drawNext = () => {
      if (places.length) draw(places.shift());
      if (places.length) setTimeout(drawNext);
      else done();
    };
    drawNext();
  }

  offerDownloads();
  offerScheme();
  // One after the other, so that the page answers in between.
  drawAll(() => { document.documentElement.dataset.ready = "yes"; });
})();
