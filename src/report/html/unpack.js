// SPDX-License-Identifier: Apache-2.0
// The data of a page, which is in zlib streams in base64: the inverse of deflated.cpp.

// Browsers before 2023 lack it. Their pages have pictures, and no download.
export const canUnpack = typeof DecompressionStream !== "undefined";

export async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

export const contentOf = (id) => document.getElementById(id).textContent;

// A point of a curve or grid as an object: the inverse of add_columns in page_charts.cpp.
export function pointsOf(part) {
  return part.values.map((value, i) => ({
    y: value,
    low: part.lows ? part.lows[i] : 0,  // of compared curves there are none
    high: part.highs ? part.highs[i] : 0,
    text: part.texts[i],
    lowText: part.lowTexts ? part.lowTexts[i] : "",
    highText: part.highTexts ? part.highTexts[i] : "",
    cycles: part.cycles ? part.cycles[i] : "",
  }));
}

// "16.2 ns (16.1 ns to 16.4 ns), 32.0 cycles"
export function sentenceOf(point) {
  const interval = point.highText ? ` (${point.lowText} to ${point.highText})` : "";
  return point.text + interval + (point.cycles ? `, ${point.cycles} cycles` : "");
}

// As cells of a table: the value and its interval, which is the value itself where there is none.
export const cellsOf = (point) =>
  [point.text, point.lowText || point.text, point.highText || point.text];
