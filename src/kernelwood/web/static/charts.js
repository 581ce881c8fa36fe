// Drawings of figures. Each is an image with a text alternative; numbers stand beside it.

import { svg } from "./dom.js";
import { bandPath, linePath, scale, ticks } from "./geometry.js";

/** @typedef {{x: number, value: number, low?: number, high?: number}} Point */

function axes({ width, height, left, bottom, top, right }, xTicks, yTicks, x, y, names) {
  const made = svg("g", { class: "axes" });
  for (const value of yTicks) {
    made.append(
      svg("path", { class: "grid", d: `M${left} ${y(value)}H${width - right}` }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)),
    );
  }
  for (const value of xTicks) {
    made.append(
      svg(
        "text",
        { x: x(value), y: height - bottom + 16, "text-anchor": "middle" },
        value.toLocaleString("en-US"),
      ),
    );
  }
  made.append(
    svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
  );
  if (names) {
    made.append(
      svg(
        "text",
        { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" },
        names[0],
      ),
    );
  }
  return made;
}

/** A curve with its interval; `small` draws no axes. @param {Point[]} points */
export function curve(points, { width, height, label, small = false, names = null }) {
  const made = svg("svg", {
    class: small ? "chart small" : "chart",
    role: "img",
    "aria-label": label,
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
  });
  const box = small
    ? { left: 2, right: 4, top: 3, bottom: 3 }
    : { left: 34, right: 12, top: 8, bottom: names ? 36 : 22 };
  const most = Math.max(1, ...points.map((point) => point.x));
  const x = scale([0, most], [box.left, width - box.right]);
  const y = scale([0, 1], [height - box.bottom, box.top]);
  if (small) {
    made.append(svg("path", { class: "axis", d: `M${box.left} ${y(0)}H${width - box.right}` }));
  } else {
    made.append(
      axes({ width, height, ...box }, ticks(most, 4), [0, 0.25, 0.5, 0.75, 1], x, y, names),
    );
  }
  const banded = points.filter((point) => point.low !== undefined && point.low !== null);
  made.append(
    svg("path", {
      class: "band",
      d: bandPath(
        banded.map((p) => [x(p.x), y(p.high)]),
        banded.map((p) => [x(p.x), y(p.low)]),
      ),
    }),
  );
  made.append(svg("path", { class: "line", d: linePath(points.map((p) => [x(p.x), y(p.value)])) }));
  const last = points.at(-1);
  if (last) made.append(svg("circle", { class: "point", cx: x(last.x), cy: y(last.value), r: 3 }));
  return made;
}

/** Fraction of relations by mean probability. */
export function calibrationPlot(bins) {
  const size = 240;
  const box = { width: size + 50, height: size + 46, left: 38, right: 12, top: 8, bottom: 38 };
  const x = scale([0, 1], [box.left, box.width - box.right]);
  const y = scale([0, 1], [box.height - box.bottom, box.top]);
  const made = svg("svg", {
    class: "chart",
    role: "img",
    viewBox: `0 0 ${box.width} ${box.height}`,
    width: box.width,
    height: box.height,
    "aria-label":
      "Calibration: fraction of relations by mean probability; the table has the numbers",
  });
  const marks = [0, 0.25, 0.5, 0.75, 1];
  made.append(
    axes(box, marks, marks, x, y, ["mean probability"]),
    svg("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
  );
  const shown = bins.filter((bin) => bin.count);
  made.append(
    svg("path", { class: "line", d: linePath(shown.map((b) => [x(b.mean), y(b.rate)])) }),
  );
  const most = Math.max(1, ...shown.map((bin) => bin.count));
  for (const bin of shown) {
    made.append(
      svg("circle", {
        class: "point",
        cx: x(bin.mean),
        cy: y(bin.rate),
        r: 3 + 6 * Math.sqrt(bin.count / most),
      }),
    );
  }
  return made;
}

const MEASURES = [
  ["precision", "", "precision"],
  ["recall", "6 4", "recall"],
  ["f1", "2 3", "F1"],
];

/** Expected precision, recall and F1 by threshold; `move` places the mark. */
export function thresholdPlot(rows) {
  const box = { width: 460, height: 260, left: 34, right: 12, top: 28, bottom: 38 };
  const x = scale([0, 1], [box.left, box.width - box.right]);
  const y = scale([0, 1], [box.height - box.bottom, box.top]);
  const made = svg("svg", {
    class: "chart",
    role: "img",
    viewBox: `0 0 ${box.width} ${box.height}`,
    width: box.width,
    height: box.height,
    "aria-label": "Expected precision, recall and F1 by decision threshold",
  });
  const marks = [0, 0.25, 0.5, 0.75, 1];
  made.append(axes(box, marks, marks, x, y, ["decision threshold"]));
  MEASURES.forEach(([name, dash, shown], number) => {
    const points = rows
      .filter((row) => row[name] !== null)
      .map((row) => [x(row.threshold), y(row[name])]);
    const style = { class: `line m${number}`, "stroke-dasharray": dash || null };
    const left = box.left + 110 * number;
    made.append(
      svg("path", { ...style, d: linePath(points) }),
      svg("path", { ...style, d: `M${left} 10h26` }), // the legend, where no line can be
      svg("text", { x: left + 32, y: 14 }, shown),
    );
  });
  const mark = svg("path", { class: "mark" });
  made.append(mark);
  const move = (value) =>
    mark.setAttribute("d", `M${x(value)} ${box.top}V${box.height - box.bottom}`);
  return { element: made, move };
}
