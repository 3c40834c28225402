// SPDX-License-Identifier: Apache-2.0
// Light and dark: the system's wish, or the button's.

// `redraw` draws in the new colours what a style sheet cannot reach.
export function offerScheme(redraw) {
  const button = document.getElementById("scheme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.scheme || (system.matches ? "dark" : "light")) === "dark";
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
    refresh();
  });
  system.addEventListener("change", refresh);
  button.hidden = false;
  label();
}
