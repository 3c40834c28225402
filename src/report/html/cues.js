// SPDX-License-Identifier: Apache-2.0
// A table that is wider than its box says so, as long as something of it is out of sight.
import { element } from "./elements.js";

function cueFor(box) {
  const cue = element("p", { className: "cue", hidden: true });
  cue.setAttribute("aria-hidden", "true");  // of no use to who cannot see the box
  box.before(cue);
  return () => {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    cue.hidden = box.scrollWidth <= box.clientWidth + 1;
    cue.textContent = rest > 1 ? "More columns to the right →" : "← More columns to the left";
    box.classList.toggle("cut", rest > 1);
  };
}

export function offerCues() {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) target.dispatchEvent(new Event("scroll"));
  });
  for (const box of document.querySelectorAll(".scroll")) {
    box.addEventListener("scroll", cueFor(box), { passive: true });
    seen.observe(box);
  }
}
