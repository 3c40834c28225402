// SPDX-License-Identifier: Apache-2.0
// Where a chart stands, and how it is read without a pointer: by keys, by ear, and as a table.
import { element } from "./elements.js";

// A canvas in its box, and the place for what is said.
export function stage(label) {
  const canvas = element("canvas", { tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  const said = element("p", { className: "said" });
  said.setAttribute("aria-live", "polite");
  return { canvas, said, box: element("div", { className: "stage" }, canvas) };
}

function activate(graph, set, at) {
  const { x, y } = graph.getDatasetMeta(set).data[at];
  const active = [{ datasetIndex: set, index: at }];
  graph.setActiveElements(active);
  graph.tooltip.setActiveElements(active, { x, y });
  graph.update("none");
}

// Arrow keys do what the pointer does, and what is shown is also said. `view` has the graph, which
// may be another one later.
export function withKeys(canvas, view, said, sentence) {
  let set = 0;
  let at = -1;
  canvas.addEventListener("keydown", (event) => {
    const { graph } = view;
    const sets = graph.data.datasets.map((_, i) => i).filter((i) => graph.isDatasetVisible(i));
    if (!sets.length || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key] || 0;
    const across = { ArrowDown: 1, ArrowUp: -1 }[event.key] || 0;
    set = sets[(Math.max(0, sets.indexOf(set)) + across + sets.length) % sets.length];
    const { data } = graph.data.datasets[set];
    if (!data.length) return;
    at = Math.min(Math.max(at + along, 0), data.length - 1);
    activate(graph, set, at);
    said.textContent = sentence(graph.data.datasets[set], data[at]);
  });
}

function pointsTable(columns, rows) {
  const classOf = (i) => (i > 1 ? "number" : "");
  const head = element("tr", {}, ...columns.map((name, i) =>
    element("th", { scope: "col", textContent: name, className: classOf(i) })));
  const body = element("tbody");
  for (const row of rows) {
    body.append(element("tr", {}, ...row.map((cell, i) =>
      element("td", { textContent: cell, className: classOf(i) }))));
  }
  const title = "Points of the chart";
  const caption = element("caption", { textContent: title });
  const box = element("div", { className: "scroll tall", tabIndex: 0 },
                      element("table", {}, caption, element("thead", {}, head), body));
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", title);
  return box;
}

// The table behind a chart, which is made when it is opened.
export function tableBehind(columns, rows) {
  const details = element("details", { className: "points" },
                          element("summary", { textContent: "Show as a table" }));
  const refresh = () => {
    if (!details.open) return;
    while (details.children.length > 1) details.lastChild.remove();
    details.append(pointsTable(columns, rows()));
  };
  details.addEventListener("toggle", refresh);
  return { details, refresh };
}
