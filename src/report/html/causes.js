// SPDX-License-Identifier: Apache-2.0
// Which cause bars of stacks show: all, or the parts of one, as shares of all that it takes. The
// figures of data and of structural stalls are such bars.
import { colour, element } from "./elements.js";
import { store, stored } from "./state.js";

// Parts of a category are lighter and lighter. The categories have the fills of the pictures
// (svg_stacks.cpp): a cause looks alike in both.
const tints = ["ff", "d8", "b4", "94", "78"];
const fills = 10;
const fillOf = (number) => colour("f" + number % fills);

export class Causes {
  // `changed` is called when another one was chosen.
  constructor(chart, key, changed) {
    this.labels = chart.labels;
    this.categories = chart.categories;
    this.key = `${key}.cause`;
    this.changed = changed;
    const before = stored(this.key);
    this.chosen = this.choices().some((each) => String(each) === before) ? Number(before) : null;
  }

  nameOf(category) {
    return this.labels[this.categories.indexOf(category)].split(":")[0];
  }

  // The categories with parts.
  choices() {
    return [...new Set(this.categories.filter((_, i) => this.labels[i].includes(": ")))];
  }

  pointsOf(bar) {
    return this.chosen === null
      ? bar.points : bar.points.filter((p) => this.categories[p.label] === this.chosen);
  }

  // What the chosen cause takes of a bar.
  shareOf(bar) {
    return this.chosen === null
      ? 1 : this.pointsOf(bar).reduce((sum, p) => sum + Math.max(0, p.share), 0);
  }

  // Of what the bars are shares.
  whole() {
    return this.chosen === null ? "time" : `${this.nameOf(this.chosen)} stalls`;
  }

  // Alone the parts have fills of their own: of many tints no two beside each other differ enough.
  inkOf(label) {
    const category = this.categories[label];
    const place = this.categories.slice(0, label).filter((each) => each === category).length;
    return this.chosen === null
      ? fillOf(category) + tints[Math.min(place, tints.length - 1)] : fillOf(category + place);
  }

  // What the colours stand for: the categories, or the parts of the chosen one.
  legend() {
    if (this.chosen === null) {
      return [...new Set(this.categories)].map((category) =>
        ({ name: this.nameOf(category), ink: fillOf(category) }));
    }
    return [...this.labels.keys()].filter((i) => this.categories[i] === this.chosen)
      .map((i) => ({ name: this.labels[i].split(": ").slice(1).join(": "), ink: this.inkOf(i) }));
  }

  // Null where no cause has parts.
  part() {
    const choices = this.choices();
    if (choices.length === 0) return null;
    const optionOf = (value, text) => element("option", {
      value, textContent: text, selected: String(this.chosen ?? "") === String(value) });
    const select = element("select", {}, optionOf("", "all causes"),
                           ...choices.map((each) => optionOf(each, this.nameOf(each))));
    select.addEventListener("change", () => {
      this.chosen = select.value === "" ? null : Number(select.value);
      store(this.key, this.chosen);
      this.changed();
    });
    return element("label", { className: "choose" }, "of ", select);
  }
}
