// SPDX-License-Identifier: Apache-2.0
// Elements and colours. All text of a file reaches the page as textContent or on a canvas, never
// as markup.

export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A colour of report.css, light or dark.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// The eight colours of curves and devices, over and over.
export const hueOf = (number) => "c" + number % 8;
