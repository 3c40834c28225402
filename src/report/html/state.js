// SPDX-License-Identifier: Apache-2.0
// What a person chose, kept in the address of the page, so that a link shows the same.

const chosen = new URLSearchParams(location.search);

export const stored = (key) => chosen.get(key);

// `value` null: the usual choice, which an address need not name.
export function store(key, value) {
  if (value === null) chosen.delete(key);
  else chosen.set(key, value);
  const query = chosen.toString();
  try {
    history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
  } catch (error) {
    // A browser that lets no file change its address: the choice lasts as long as the page.
  }
}

// Some of `all`, by their places: what was stored, else `usual`.
export function storedSet(key, all, usual) {
  const text = stored(key);
  if (text === null) return new Set(usual);
  const places = text === "" ? [] : text.split(".").map(Number);
  return new Set(places.filter((i) => i in all).map((i) => all[i]));
}

export function storeSet(key, all, shown, usual) {
  const same = shown.size === usual.length && usual.every((each) => shown.has(each));
  store(key, same ? null : all.map((_, i) => i).filter((i) => shown.has(all[i])).join("."));
}
