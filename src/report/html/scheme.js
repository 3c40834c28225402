// SPDX-License-Identifier: Apache-2.0
// Light and dark: the system's wish, or the button's.
import { store, stored } from "./state.js";

// `redraw` draws in the new colours what a style sheet cannot reach.
export function offerScheme(redraw) {
  const button = document.getElementById("scheme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.scheme || (system.matches ? "dark" : "light")) === "dark";
  if (["light", "dark"].includes(stored("theme"))) root.dataset.scheme = stored("theme");
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  };
  const refresh = () => {
    label();
    redraw();
  };
  button.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    store("theme", root.dataset.scheme);
    refresh();
  });
  system.addEventListener("change", refresh);
  button.hidden = false;
  label();
}
