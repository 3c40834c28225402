// SPDX-License-Identifier: Apache-2.0
// Raw data: the document of each run, byte for byte as `clprobe report FILE --json` writes it, and
// what else the program put into the page.
import { element } from "./elements.js";
import { canUnpack, contentOf, unpacked } from "./unpack.js";

export function download(name, type, content) {
  const blob = new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// One run is a document, several are a list of them.
async function textOf(streams) {
  const texts = await Promise.all(streams.map(unpacked));
  return texts.length === 1 ? texts[0] : `[${texts.join(",")}]\n`;
}

export function offerDownloads(devices) {
  const place = document.getElementById("downloads");
  if (!canUnpack) {
    place.textContent = "This browser cannot unpack the data: it lacks DecompressionStream.";
    return;
  }
  const offer = (label, name, type, textOfIt) => {
    const button = element("button", { type: "button", textContent: label });
    button.addEventListener("click", async () => download(name, type, await textOfIt()));
    place.append(button);
  };
  const streams = JSON.parse(contentOf("runs"));
  const offerRuns = (label, name, chosen) =>
    offer(label, name, "application/json", () => textOf(chosen));
  if (streams.length) {
    offerRuns(streams.length > 1 ? "Download all runs (JSON)" : "Download the run (JSON)",
              "clprobe-runs.json", streams);
  }
  for (const { label, name, type, data } of JSON.parse(contentOf("files"))) {
    offer(label, name, type, () => unpacked(data));
  }
  if (streams.length < 2) return;
  streams.forEach((stream, i) => offerRuns(devices[i], `clprobe-run-${i}.json`, [stream]));
}
