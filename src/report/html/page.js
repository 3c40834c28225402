// SPDX-License-Identifier: Apache-2.0
// Starts the page. Unpacking is asynchronous: the scheme's button works at once, the charts and
// the downloads follow when their data are there, and until then the page has its pictures.
import { offerCues } from "./cues.js";
import { drawCurves } from "./curves.js";
import { offerDownloads } from "./downloads.js";
import { offerFilters } from "./filters.js";
import { drawHeatMap } from "./heat_map.js";
import { offerPrint } from "./print.js";
import { offerScheme } from "./scheme.js";
import { drawStacks } from "./stacks.js";
import { canUnpack, contentOf, unpacked } from "./unpack.js";

// A probe's view is chosen in page_charts.cpp.
const views = { "curve": drawCurves, "heat map": drawHeatMap, "stack": drawStacks };

const isDrawable = (chart) => chart && (chart.curves || chart.grids || chart.stacks)
  .some((part) => (part.values || part.points).length > 1);

const nextTask = () => new Promise((resolve) => { setTimeout(resolve); });

// One after the other, so that the page answers in between.
async function drawAll({ charts, devices }, drawn) {
  if (typeof Chart === "undefined") return;  // a build without the library: the pictures stay
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  for (const place of document.querySelectorAll("[data-chart]")) {
    const chart = charts[Number(place.dataset.chart)];
    if (!isDrawable(chart)) continue;
    for (const picture of place.querySelectorAll(".picture")) picture.hidden = true;
    drawn.push(views[chart.view](chart, place, devices));
    await nextTask();
  }
}

async function start() {
  const drawn = [];  // the views of the charts
  offerScheme(() => drawn.forEach((view) => view.refresh()));
  offerFilters();
  offerCues();
  offerPrint(drawn);
  const data = canUnpack ? JSON.parse(await unpacked(contentOf("charts"))) : null;
  offerDownloads(data ? data.devices : []);
  if (data) await drawAll(data, drawn);
  document.documentElement.dataset.ready = "yes";
}

start();
