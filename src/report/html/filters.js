// SPDX-License-Identifier: Apache-2.0
// The rows of a comparison by probe and verdict. What is the same or unclear is hidden at first.
import { controls, group, toggle } from "./controls.js";
import { element } from "./elements.js";
import { storeSet, storedSet } from "./state.js";

const verdicts = ["worse", "better", "different", "unclear", "same"];
const changes = ["worse", "better", "different"];

const distinct = (values) => [...new Set(values)];

function chips(title, key, all, usual, textOf, changed) {
  const shown = storedSet(key, all, usual);
  const change = (value) => (isOn) => {
    if (isOn) shown.add(value);
    else shown.delete(value);
    storeSet(key, all, shown, usual);
    changed();
  };
  const made = group(title, all.map((value) =>
    toggle(textOf(value), shown.has(value), [], change(value))));
  return { made, shown };
}

export function offerFilters() {
  const place = document.getElementById("filters");
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  if (!place || !rows.length) return;
  const found = new Map(verdicts.map((word) =>
    [word, rows.filter((row) => row.dataset.verdict === word).length]));
  const words = verdicts.filter((word) => found.get(word));
  const usual = words.filter((word) => changes.includes(word));
  const probes = distinct(rows.map((row) => row.dataset.probe));
  const count = element("p", { className: "quiet" });
  count.setAttribute("aria-live", "polite");
  const filters = {};
  const refresh = () => {
    rows.forEach((row) => {
      row.hidden = !filters.verdict.shown.has(row.dataset.verdict) ||
        !filters.probe.shown.has(row.dataset.probe);
    });
    document.querySelectorAll("section[data-probe], li[data-probe]").forEach((part) => {
      part.hidden = probes.includes(part.dataset.probe) &&
        !filters.probe.shown.has(part.dataset.probe);
    });
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${rows.length} rows are shown.`;
  };
  // Where nothing changed, all rows are what there is to see.
  filters.verdict = chips("Verdicts", "verdicts", words, usual.length ? usual : words,
                          (word) => `${word} (${found.get(word)})`, refresh);
  filters.probe = chips("Probes", "probes", probes, probes, (name) => name, refresh);
  place.append(controls([filters.verdict.made, filters.probe.made]), count);
  refresh();
}
