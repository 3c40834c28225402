// SPDX-License-Identifier: Apache-2.0
// On paper a chart is a picture of the paper's width, in light colours, with its legend: a canvas
// keeps the width and the colours of the screen.
import { element } from "./elements.js";
import { svgOf } from "./drawing.js";

const paper = 700;  // pixels of CSS between the margins of A4
const low = 330;    // of curves, so that two charts have room on a page

// `drawn`: the views, each with its graph, box, place, about() and refresh().
export function offerPrint(drawn) {
  const root = document.documentElement;
  let figures = [];
  let scheme;
  addEventListener("beforeprint", () => {
    if (figures.length) return;
    scheme = root.dataset.scheme;
    root.dataset.scheme = "light";
    for (const view of drawn) {
      const height = Math.min(view.box.clientHeight, view.paperHeight || low);
      view.graph.resize(paper, height);
      view.refresh();
      const figure = element("figure", { className: "printed" }, svgOf(view.graph, view.about()));
      view.place.append(figure);
      figures.push(figure);
    }
  });
  addEventListener("afterprint", () => {
    figures.forEach((figure) => figure.remove());
    figures = [];
    if (scheme === undefined) delete root.dataset.scheme;
    else root.dataset.scheme = scheme;
    for (const view of drawn) {
      view.graph.resize();
      view.refresh();
    }
  });
}
