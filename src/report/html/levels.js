// SPDX-License-Identifier: Apache-2.0
// What is drawn on the canvas around curves: the spread of their points, their levels, and the
// texts of these where they hide nothing.
import { colour } from "./elements.js";

function eachShown(chart, act) {
  chart.data.datasets.forEach((set, i) => {
    if (chart.isDatasetVisible(i)) act(set, i);
  });
}

export function drawSpreads(chart) {
  const { ctx, scales: { x, y }, chartArea: area } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.width, area.height);
  ctx.clip();
  eachShown(chart, (set) => {
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
  eachShown(chart, (_, i) => {
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

const meet = (a, b) =>
  a.right > b.left && a.left < b.right && a.bottom > b.top && a.top < b.bottom;
const holds = (box, dot) =>
  dot.x > box.left && dot.x < box.right && dot.y > box.top && dot.y < box.bottom;

// Above or below the plateau, in its middle or aside.
function candidates(area, width, plateau) {
  const boxes = [];
  for (const aside of [-9, 18, -24, 33]) {
    for (const share of [0.5, 0.25, 0.75]) {
      const middle = plateau.from + share * (plateau.to - plateau.from);
      const left = Math.min(Math.max(middle - width / 2, area.left + 3), area.right - width - 3);
      const bottom = plateau.base + aside + 3;
      boxes.push({ left: left - 3, right: left + width + 3, top: bottom - 15, bottom });
    }
  }
  return boxes.filter((box) => box.top >= area.top && box.bottom <= area.bottom - 8);
}

// Where no curve is; else where at least no other text is; else nowhere.
function placeOf(boxes, taken, dots) {
  const free = boxes.filter((box) => !taken.some((other) => meet(box, other)));
  return free.find((box) => !dots.some((dot) => holds(box, dot))) || free[0];
}

const levelFont = () => "600 12px " + Chart.defaults.font.family;

// Where the texts of the levels go: found once for each change, since drawing follows the pointer.
export function placeLevels(chart) {
  const { ctx, scales: { x, y }, chartArea: area } = chart;
  const taken = [];
  const placed = [];
  const written = [];  // of devices that are alike, one text is enough
  const isWritten = (level) => written.some((other) => other.text === level.text &&
    other.from < level.to && level.from < other.to);
  const dots = dotsOfCurves(chart);
  ctx.save();
  ctx.font = levelFont();
  eachShown(chart, (set) => {
    for (const level of set.levels.filter((each) => !isWritten(each))) {
      const plateau = { from: x.getPixelForValue(level.from), to: x.getPixelForValue(level.to),
                        base: y.getPixelForValue(level.value) };
      const boxes = candidates(area, ctx.measureText(level.text).width, plateau);
      const box = placeOf(boxes, taken, dots);
      if (!box) continue;
      taken.push(box);
      written.push(level);
      placed.push({ text: level.text, x: box.left + 3, y: box.bottom - 3, ink: set.borderColor });
    }
  });
  ctx.restore();
  return { placed, ground: colour("surface") };
}

function writeLevels(ctx, { placed, ground }) {
  ctx.font = levelFont();
  ctx.lineWidth = 4;
  ctx.strokeStyle = ground;
  for (const { text, x, y, ink } of placed) {
    ctx.strokeText(text, x, y);
    ctx.fillStyle = ink;
    ctx.fillText(text, x, y);
  }
}

// A line at its latency, its capacity as a bracket on the axis.
function drawLevel(chart, level, ink) {
  const { ctx, scales: { x, y }, chartArea: area } = chart;
  const at = y.getPixelForValue(level.value);
  ctx.strokeStyle = ink;
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
    ctx.fillStyle = ink;
    ctx.fillRect(from, area.bottom - 7, Math.max(2, to - from), 7);
  }
  ctx.globalAlpha = 1;
}

export function drawLevels(chart, texts) {
  chart.ctx.save();
  eachShown(chart, (set) => {
    for (const level of set.levels) drawLevel(chart, level, set.borderColor);
  });
  writeLevels(chart.ctx, texts);
  chart.ctx.restore();
}

// The same as elements of an SVG, for drawing.js.
export function sketchSpreads(chart, group, make) {
  const { scales: { x, y } } = chart;
  const dot = (value, p) => `${x.getPixelForValue(p.x)} ${y.getPixelForValue(value)}`;
  eachShown(chart, (set) => {
    const points = set.data.filter((p) => p.low > 0 && p.high > 0);
    if (!points.length) return;
    const there = points.map((p) => dot(p.high, p));
    const back = points.reverse().map((p) => dot(p.low, p));
    group.append(make("path", { d: `M${[...there, ...back].join("L")}Z`, fill: set.borderColor,
                                "fill-opacity": 0.22 }));
  });
}

export function sketchLevels(chart, { placed, ground }, group, make) {
  const { scales: { x, y }, chartArea: area } = chart;
  eachShown(chart, (set) => {
    for (const level of set.levels) {
      const at = y.getPixelForValue(level.value);
      group.append(make("path", {
        d: `M${x.getPixelForValue(level.from)} ${at}H${x.getPixelForValue(level.to)}`,
        stroke: set.borderColor, "stroke-width": 6, "stroke-opacity": 0.4 }));
      if (!level.endHigh) continue;
      const from = x.getPixelForValue(level.endLow);
      group.append(make("rect", {
        x: from, y: area.bottom - 7, width: Math.max(2, x.getPixelForValue(level.endHigh) - from),
        height: 7, fill: set.borderColor, "fill-opacity": 0.6 }));
    }
  });
  for (const text of placed) {
    group.append(make("text", {
      x: text.x, y: text.y, fill: text.ink, "font-weight": 600, stroke: ground, "stroke-width": 4,
      "paint-order": "stroke" }, text.text));
  }
}
