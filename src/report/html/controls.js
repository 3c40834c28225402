// SPDX-License-Identifier: Apache-2.0
// What a person chooses with: toggles, buttons, and the pieces of colour and line that stand for
// devices and series.
import { element, hueOf } from "./elements.js";

const svgSpace = "http://www.w3.org/2000/svg";

function svgElement(name, attributes) {
  const made = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export const swatch = (number) =>
  element("span", { className: "swatch " + hueOf(number), ariaHidden: "true" });

// A piece of the line of a series; without a number it has the colour of text.
export function dash(pattern, number) {
  const line = svgElement("svg", { class: "line", width: 30, height: 6, "aria-hidden": "true" });
  if (number !== null) line.classList.add("coloured", hueOf(number));
  line.append(svgElement("path", { d: "M0 3h30", "stroke-dasharray": pattern.join(" ") }));
  return line;
}

function labelled(input, look, text) {
  return element("label", { className: "toggle" }, input, ...look,
                 element("span", { className: "text", textContent: text }));
}

export function toggle(text, isOn, look, changed) {
  const input = element("input", { type: "checkbox", checked: isOn });
  input.addEventListener("change", () => changed(input.checked));
  return labelled(input, look, text);
}

// Sets a toggle without telling anybody.
export const setToggle = (made, isOn) => { made.querySelector("input").checked = isOn; };

export function smallButton(text, pressed) {
  const button = element("button", { type: "button", className: "small", textContent: text });
  button.addEventListener("click", pressed);
  return button;
}

export const group = (title, parts) =>
  element("fieldset", {}, element("legend", { textContent: title }), ...parts);

// One of some values, at first `first`. `choose` shows another one as chosen without telling
// anybody.
export function choice(title, name, values, textOf, changed, first = values[0]) {
  const inputs = new Map(values.map((value) =>
    [value, element("input", { type: "radio", name, checked: value === first })]));
  const labels = values.map((value) => {
    inputs.get(value).addEventListener("change", () => changed(value));
    return labelled(inputs.get(value), [], textOf(value));
  });
  return { part: group(title, labels),
           choose: (value) => { inputs.get(value).checked = true; } };
}

export const controls = (groups) => element("div", { className: "controls" }, ...groups);
