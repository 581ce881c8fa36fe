// Coordinates of drawings. Pure functions.

/** A linear function from [low, high] to [start, end]. */
export function scale([low, high], [start, end]) {
  const factor = high === low ? 0 : (end - start) / (high - low);
  return (value) => start + (value - low) * factor;
}

const place = (value) => Number(value.toFixed(1));

/** SVG path through points. */
export function linePath(points) {
  return points.map(([x, y], number) => `${number ? "L" : "M"}${place(x)} ${place(y)}`).join("");
}

/** SVG path around the area between two lines. */
export function bandPath(upper, lower) {
  if (!upper.length) return "";
  return `${linePath([...upper, ...lower.toReversed()])}Z`;
}

/** Round numbers from 0 to at most `high`, about `n` of them. */
export function ticks(high, n = 4) {
  if (!(high > 0)) return [0];
  const rough = high / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let number = 0; number * step <= high * (1 + 1e-9); number += 1) {
    found.push(Number((number * step).toPrecision(12)));
  }
  return found;
}

/** @typedef {{x: number, y: number, width: number, height: number}} View */

/** A view box enlarged around a point; it shows from 1/8 of to twice the drawing. @returns {View} */
export function zoomed(view, factor, x, y, full) {
  const width = Math.min(full.width * 2, Math.max(full.width / 8, view.width / factor));
  const real = view.width / width;
  return {
    x: x - (x - view.x) / real,
    y: y - (y - view.y) / real,
    width,
    height: view.height / real,
  };
}

/** A moved view box; its middle stays inside the drawing. @returns {View} */
export function panned(view, dx, dy, full) {
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  return {
    ...view,
    x: clamp(view.x + dx, -view.width / 2, full.width - view.width / 2),
    y: clamp(view.y + dy, -view.height / 2, full.height - view.height / 2),
  };
}

/**
 * An arc between two boxes, from the top of one to the top of the other, and its arrowhead.
 * The arc rises above both, at most to the upper border of the page.
 */
export function arc(from, to) {
  const x0 = from.x + from.width / 2;
  const x1 = to.x + to.width / 2;
  const rise = Math.min(16 + Math.abs(x1 - x0) / 8, 42);
  const top = Math.min(from.y, to.y) - rise;
  const peak = Math.max(top, 2);
  const path =
    `M${place(x0)} ${place(from.y)}C${place(x0)} ${place(peak)} ${place(x1)} ` +
    `${place(peak)} ${place(x1)} ${place(to.y - 6)}`;
  const head =
    `M${place(x1)} ${place(to.y)}L${place(x1 - 4)} ${place(to.y - 7)}` +
    `L${place(x1 + 4)} ${place(to.y - 7)}Z`;
  // The highest point of the curve is three quarters of the way to its control points.
  const y = 0.125 * (from.y + to.y) + 0.75 * peak;
  return { path, head, x: place((x0 + x1) / 2), y: place(y) };
}

/** The row of a table of thresholds that is nearest to a value; null if the table is empty. */
export function nearest(rows, value) {
  return rows.reduce(
    (best, row) =>
      best === null || Math.abs(row.threshold - value) < Math.abs(best.threshold - value)
        ? row
        : best,
    null,
  );
}
