// SPDX-License-Identifier: Apache-2.0
// A part of the x axis: by drawing across it, by the wheel with Ctrl, or by the keys + - and 0.
import { element } from "./elements.js";

const minDrag = 8;  // pixels; less is a click
const step = 0.7;   // of the axis, for a turn of the wheel

const within = (range, full) =>
  [Math.max(range[0], full[0]), Math.min(range[1], full[1])];

// The range scaled around a value, as the axis is.
function scaled([low, high], around, factor, isLinear) {
  if (isLinear) return [low, high].map((end) => around + (end - around) * factor);
  const at = Math.log(around);
  return [low, high].map((end) => Math.exp(at + (Math.log(end) - at) * factor));
}

function withDrag(canvas, box, view) {
  const mark = element("div", { className: "selection", hidden: true });
  box.append(mark);
  let from = null;
  const place = (event) => {
    const { left, right } = view.graph.chartArea;
    const x = event.clientX - canvas.getBoundingClientRect().left;
    return Math.min(Math.max(x, left), right);
  };
  const show = (to) => {
    const { top, bottom } = view.graph.chartArea;
    mark.style.setProperty("left", `${Math.min(from, to)}px`);
    mark.style.setProperty("width", `${Math.abs(to - from)}px`);
    mark.style.setProperty("top", `${top}px`);
    mark.style.setProperty("height", `${bottom - top}px`);
    mark.hidden = Math.abs(to - from) < minDrag;
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;  // touch scrolls the page
    from = place(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => { if (from !== null) show(place(event)); });
  canvas.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const ends = [from, place(event)].sort((a, b) => a - b);
    from = null;
    mark.hidden = true;
    if (ends[1] - ends[0] < minDrag) return;
    view.zoomTo(ends.map((end) => view.graph.scales.x.getValueForPixel(end)));
  });
  canvas.addEventListener("pointercancel", () => {
    from = null;
    mark.hidden = true;
  });
}

// `view` has its graph, full() and range(), which are [low, high], isLinear() and zoomTo(range),
// where null is all of it.
export function withZoom(canvas, box, view) {
  const zoomBy = (around, factor) => {
    const full = view.full();
    const range = within(scaled(view.range(), around, factor, view.isLinear()), full);
    const isAll = range[0] <= full[0] && range[1] >= full[1];
    if (range[1] > range[0]) view.zoomTo(isAll ? null : range);
  };
  withDrag(canvas, box, view);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // else the page scrolls
    event.preventDefault();
    const x = event.clientX - canvas.getBoundingClientRect().left;
    zoomBy(view.graph.scales.x.getValueForPixel(x), event.deltaY < 0 ? step : 1 / step);
  }, { passive: false });
  canvas.addEventListener("dblclick", () => view.zoomTo(null));
  canvas.addEventListener("keydown", ({ key }) => {
    const [low, high] = view.range();
    const middle = view.isLinear() ? (low + high) / 2 : Math.sqrt(low * high);
    if (key === "+" || key === "=") zoomBy(middle, step);
    if (key === "-") zoomBy(middle, 1 / step);
    if (key === "0") view.zoomTo(null);
  });
}
