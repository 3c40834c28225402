// SPDX-License-Identifier: Apache-2.0
// What a canvas shows, as an SVG element with its title and legend: for files and for paper.
import { colour } from "./elements.js";

const space = "http://www.w3.org/2000/svg";
const row = 20;       // of the legend
const margin = 12;
const titleRoom = 34;

const rounded = (value) => Math.round(value * 100) / 100;

function make(name, attributes, text) {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(key, typeof value === "number" ? rounded(value) : value);
  }
  if (text !== undefined) made.textContent = text;
  return made;
}

const path = (points) =>
  points.map(({ x, y }, i) => `${i ? "L" : "M"}${rounded(x)} ${rounded(y)}`).join("");

// A mark of a curve, as Chart.js draws it.
function markPath(style, { x, y }, r) {
  const corners = {
    rect: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    rectRot: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    triangle: [[0, -1.2], [1.1, 0.9], [-1.1, 0.9]],
  }[style];
  if (corners) return path(corners.map(([a, b]) => ({ x: x + a * r, y: y + b * r }))) + "Z";
  const arc = `a${r} ${r} 0 1 0`;
  if (style === "circle") return `M${x - r} ${y}${arc} ${2 * r} 0${arc} ${-2 * r} 0Z`;
  const plus = `M${x - r} ${y}H${x + r}M${x} ${y - r}V${y + r}`;
  const cross = `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
  return { cross: plus, crossRot: cross, star: plus + cross }[style] || plus;
}

export const isHollow = (style) => ["cross", "crossRot", "star"].includes(style);

function markOf(style, place, r, ink) {
  return make("path", { d: markPath(style, place, r), stroke: ink, "stroke-width": 1.5,
                        fill: isHollow(style) ? "none" : colour("surface") });
}

function addAxis(svg, scale, area, size) {
  const quiet = colour("quiet");
  scale.ticks.forEach((tick, i) => {
    const at = scale.getPixelForTick(i);
    const text = Array.isArray(tick.label) ? tick.label : [tick.label];
    const shown = text.map(String);
    if (scale.isHorizontal()) {
      if (scale.options.grid.display !== false) {
        svg.append(make("path", { d: `M${at} ${area.top}V${area.bottom}`,
                                  stroke: colour("grid") }));
      }
      svg.append(make("text", { x: at, y: area.bottom + 17, "text-anchor": "middle", fill: quiet },
                      shown.join(" ")));
      return;
    }
    const isRight = scale.left >= area.right;
    if (scale.options.grid.display !== false && !isRight) {
      svg.append(make("path", { d: `M${area.left} ${at}H${area.right}`, stroke: colour("grid") }));
    }
    shown.forEach((line, k) => svg.append(make("text", {
      x: isRight ? area.right + 8 : area.left - 8, y: at + 4 + 14 * (k - (shown.length - 1) / 2),
      "text-anchor": isRight ? "start" : "end", fill: quiet }, line)));
  });
  const { title } = scale.options;
  if (!title || !title.display || !title.text) return;
  const middle = scale.isHorizontal() ? (area.left + area.right) / 2 : (area.top + area.bottom) / 2;
  const aside = scale.left >= area.right ? size.width - 6 : 14;
  const where = scale.isHorizontal() ? { x: middle, y: area.bottom + 36 }
    : { transform: `translate(${aside} ${middle}) rotate(-90)` };
  svg.append(make("text", { ...where, "text-anchor": "middle", fill: quiet }, title.text));
}

function addLine(group, graph, i) {
  const set = graph.data.datasets[i];
  const points = graph.getDatasetMeta(i).data;
  group.append(make("path", {
    d: path(points), fill: "none", stroke: set.borderColor, "stroke-width": set.borderWidth,
    "stroke-dasharray": (set.borderDash || []).join(" ") || null, "stroke-linejoin": "round" }));
  points.forEach((point) => {
    const { radius, pointStyle } = point.options;
    if (radius > 0) group.append(markOf(pointStyle, point, radius, set.borderColor));
  });
}

function addBars(group, graph, i) {
  const set = graph.data.datasets[i];
  graph.getDatasetMeta(i).data.forEach((bar, k) => {
    const { x, base, y, height } = bar.getProps(["x", "base", "y", "height"], true);
    const box = make("rect", {
      x: Math.min(x, base), y: y - height / 2, width: Math.abs(x - base), height,
      fill: set.backgroundColor, stroke: set.borderColor, "stroke-width": 0.5 });
    box.append(make("title", {}, `${set.label}: ${set.data[k].sentence}`));
    group.append(box);
  });
}

// Entries in rows as wide as the picture.
function addLegend(svg, entries, top, size, measure) {
  let x = margin;
  let y = top;
  for (const { name, ink, dash, mark } of entries) {
    const length = dash ? 30 : 14;
    const width = length + 8 + measure(name) + 18;
    if (x > margin && x + width > size.width) {
      x = margin;
      y += row;
    }
    if (dash) {
      svg.append(make("path", { d: `M${x} ${y - 4}h${length}`, stroke: ink, "stroke-width": 2.2,
                                "stroke-dasharray": dash.join(" ") || null }));
      if (mark) svg.append(markOf(mark, { x: x + length / 2, y: y - 4 }, 3.5, ink));
    } else {
      svg.append(make("rect", { x, y: y - 11, width: 14, height: 14, fill: ink,
                                stroke: colour("quiet"), "stroke-width": 0.5 }));
    }
    svg.append(make("text", { x: x + length + 8, y, fill: colour("ink") }, name));
    x += width;
  }
  return entries.length ? y + row : top;
}

// As large as there is room for.
function titleSize({ ctx, width }, title) {
  ctx.save();
  ctx.font = "600 15px " + Chart.defaults.font.family;
  const needed = ctx.measureText(title).width * 1.05;
  ctx.restore();
  return Math.min(15, 15 * (width - 2 * margin) / needed);
}

// `about`: {title, legend: [{name, ink, dash, mark}], before(group, make), after(group, make)}.
// What `before` and `after` add lies below and above the curves, in the canvas' own coordinates.
export function svgOf(graph, about) {
  const size = { width: graph.width, height: graph.height };
  const svg = make("svg", { xmlns: space, "font-family": "system-ui, 'DejaVu Sans', sans-serif",
                            "font-size": 12, role: "img" });
  svg.append(make("title", {}, about.title));
  const ground = make("rect", { width: "100%", height: "100%", fill: colour("surface") });
  svg.append(ground, make("text", {
    x: margin, y: 22, "font-size": titleSize(graph, about.title), "font-weight": 600,
    fill: colour("ink") }, about.title));
  const plot = make("g", { transform: `translate(0 ${titleRoom})` });
  svg.append(plot);
  for (const scale of Object.values(graph.scales)) {
    if (scale.options.display !== false) addAxis(plot, scale, graph.chartArea, size);
  }
  const { left, top, right, bottom } = graph.chartArea;
  plot.append(make("path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none",
                             stroke: colour("quiet") }));
  // An inner <svg> clips by itself; the page has no ids to spare for clip paths.
  const frame = make("svg", { x: left, y: top, width: right - left, height: bottom - top,
                              viewBox: `${left} ${top} ${right - left} ${bottom - top}` });
  plot.append(frame);
  if (about.before) about.before(frame, make);
  graph.data.datasets.forEach((set, i) => {
    if (!graph.isDatasetVisible(i) || set.hidden) return;
    if (graph.config.type === "line") addLine(frame, graph, i);
    if (graph.config.type === "bar") addBars(frame, graph, i);
  });
  if (about.after) about.after(frame, make);
  graph.ctx.save();
  graph.ctx.font = "12px " + Chart.defaults.font.family;
  const measure = (text) => graph.ctx.measureText(text).width;
  const end = addLegend(svg, about.legend, titleRoom + size.height + row, size, measure);
  graph.ctx.restore();
  const height = Math.ceil(end + (about.legend.length ? 0 : margin));
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${size.width} ${height}`,
                                              width: size.width, height })) {
    svg.setAttribute(key, value);
  }
  return svg;
}
