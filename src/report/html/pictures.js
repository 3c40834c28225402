// SPDX-License-Identifier: Apache-2.0
// Each chart as a file: as it is shown, with its title and legend.
import { element } from "./elements.js";
import { smallButton } from "./controls.js";
import { svgOf } from "./drawing.js";
import { download } from "./downloads.js";

const pixels = 2;  // of a PNG, for each of the screen's

const textOfPicture = (svg) => new XMLSerializer().serializeToString(svg);

function pngOf(svg) {
  const [width, height] = ["width", "height"]
    .map((name) => Number(svg.getAttribute(name)) * pixels);
  return new Promise((resolve, reject) => {
    const image = new Image(width, height);
    image.addEventListener("load", () => {
      const canvas = element("canvas", { width, height });
      canvas.getContext("2d").drawImage(image, 0, 0, width, height);
      canvas.toBlob(resolve, "image/png");
    });
    image.addEventListener("error", reject);
    image.src = "data:image/svg+xml," + encodeURIComponent(textOfPicture(svg));
  });
}

const fileName = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")
  .slice(0, 60) || "chart";

// `view` has its graph and about(), of drawing.js.
export function pictureButtons(view) {
  const name = () => `clprobe-${fileName(view.about().title)}`;
  return element(
    "p", { className: "files" },
    smallButton("SVG", () =>
      download(`${name()}.svg`, "image/svg+xml", textOfPicture(svgOf(view.graph, view.about())))),
    smallButton("PNG", async () =>
      download(`${name()}.png`, "image/png", await pngOf(svgOf(view.graph, view.about())))));
}
