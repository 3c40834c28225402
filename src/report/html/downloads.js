// SPDX-License-Identifier: Apache-2.0
// Raw data: the document of each run, byte for byte as `clprobe report FILE --json` writes it.
import { element } from "./elements.js";
import { canUnpack, contentOf, unpacked } from "./unpack.js";

function download(name, text) {
  const blob = new Blob([text], { type: "application/json" });
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
    place.textContent = "This browser cannot unpack it: it has no DecompressionStream.";
    return;
  }
  const streams = JSON.parse(contentOf("runs"));
  const offer = (label, name, chosen) => {
    const button = element("button", { type: "button", textContent: label });
    button.addEventListener("click", async () => download(name, await textOf(chosen)));
    place.append(button);
  };
  offer(streams.length > 1 ? "Download all runs (JSON)" : "Download the run (JSON)",
        "clprobe-runs.json", streams);
  if (streams.length < 2) return;
  streams.forEach((stream, i) => offer(devices[i], `clprobe-run-${i}.json`, [stream]));
}
