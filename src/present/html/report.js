// SPDX-License-Identifier: Apache-2.0
// Script of an HTML page: colours, filters of a comparison's rows, downloads, hints at wide tables.

// Creates an element. Text of files becomes textContent, never markup.

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// The reader's choices are stored in the page's address, so that a link restores them.

const chosen = new URLSearchParams(location.search);

const stored = (key) => chosen.get(key);

// Stores a choice in the address; a null `value` is the default and is removed.
function store(key, value) {
  if (value === null) chosen.delete(key);
  else chosen.set(key, value);
  const query = chosen.toString();
  try {
    history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
  } catch (error) {
    // Some browsers do not let local files change their address; the choice then is not stored.
  }
}

// Returns the stored selection of `all` (by indices), else `usual`.
function storedSet(key, all, usual) {
  const text = stored(key);
  if (text === null) return new Set(usual);
  const places = text === "" ? [] : text.split(".").map(Number);
  return new Set(places.filter((i) => i in all).map((i) => all[i]));
}

function storeSet(key, all, shown, usual) {
  const same = shown.size === usual.length && usual.every((each) => shown.has(each));
  store(key, same ? null : all.map((_, i) => i).filter((i) => shown.has(all[i])).join("."));
}

// Light or dark colours: the system's preference, or the button's.

function offerScheme() {
  const button = document.getElementById("scheme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.scheme || (system.matches ? "dark" : "light")) === "dark";
  if (["light", "dark"].includes(stored("theme"))) root.dataset.scheme = stored("theme");
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  };
  button.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    store("theme", root.dataset.scheme);
    label();
  });
  system.addEventListener("change", label);
  button.hidden = false;
  label();
}

// Filters of a comparison by probe and verdict. Unchanged rows are hidden at first.

const verdicts = ["worse", "better", "different", "unclear", "same"];
const changes = ["worse", "better", "different"];

function toggle(text, isOn, changed) {
  const input = element("input", { type: "checkbox", checked: isOn });
  input.addEventListener("change", () => changed(input.checked));
  return element("label", { className: "toggle" }, input,
                 element("span", { className: "text", textContent: text }));
}

const distinct = (values) => [...new Set(values)];

function chips(title, key, all, usual, nameOf, changed) {
  const shown = storedSet(key, all, usual);
  const change = (value) => (isOn) => {
    if (isOn) shown.add(value);
    else shown.delete(value);
    storeSet(key, all, shown, usual);
    changed();
  };
  const made = element("fieldset", {}, element("legend", { textContent: title }),
                       ...all.map((value) => toggle(nameOf(value), shown.has(value),
                                                    change(value))));
  return { made, shown };
}

function offerFilters() {
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
  // Without changes, all rows are shown.
  filters.verdict = chips("Verdicts", "verdicts", words, usual.length ? usual : words,
                          (word) => `${word} (${found.get(word)})`, refresh);
  filters.probe = chips("Probes", "probes", probes, probes, (name) => name, refresh);
  place.append(element("div", { className: "controls" }, filters.verdict.made, filters.probe.made),
               count);
  refresh();
}

// Adds a hint above tables that are wider than their box.

function cueFor(box) {
  const cue = element("p", { className: "cue", hidden: true });
  cue.setAttribute("aria-hidden", "true");  // meaningless to screen readers
  box.before(cue);
  return () => {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    cue.hidden = box.scrollWidth <= box.clientWidth + 1;
    cue.textContent = rest > 1 ? "More columns to the right →" : "← More columns to the left";
    box.classList.toggle("cut", rest > 1);
  };
}

function offerCues() {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) target.dispatchEvent(new Event("scroll"));
  });
  for (const box of document.querySelectorAll(".scroll")) {
    box.addEventListener("scroll", cueFor(box), { passive: true });
    seen.observe(box);
  }
}

// Downloads: each run's document, byte for byte as `clprobe report FILE -o RUN.json` writes it for
// a single run, and other files of the page.

// Browsers before 2023 lack DecompressionStream.
const canUnpack = typeof DecompressionStream !== "undefined";

// The inverse of deflated() in html.cpp.
async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const contentOf = (id) => document.getElementById(id).textContent;

function download(name, type, content) {
  const blob = new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Returns the text of one document, or of an array of several documents.
async function textOf(streams) {
  const texts = await Promise.all(streams.map(unpacked));
  return texts.length === 1 ? texts[0] : `[${texts.join(",")}]\n`;
}

function offerDownloads() {
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
  const offerRuns = (label, name, some) =>
    offer(label, name, "application/json", () => textOf(some));
  if (streams.length) {
    offerRuns(streams.length > 1 ? "Download all runs (JSON)" : "Download the run (JSON)",
              "clprobe-runs.json", streams);
  }
  for (const { label, name, type, data } of JSON.parse(contentOf("files"))) {
    offer(label, name, type, () => unpacked(data));
  }
  if (streams.length < 2) return;
  const devices = document.querySelectorAll("#devices h3");
  streams.forEach((stream, i) =>
    offerRuns(devices[i].textContent, `clprobe-run-${i}.json`, [stream]));
}

offerScheme();
offerFilters();
offerCues();
offerDownloads();
