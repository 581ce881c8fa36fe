// Texts and numbers. Pure functions. Offsets of the server count code points, those of JavaScript
// count UTF-16 units: `segments` is the only place that converts them.

/**
 * A text cut at the ends of spans.
 * @param {string} text
 * @param {Array<[number, number]>} spans start and end in code points; they may overlap
 * @returns {Array<[string, number[]]>} parts, each with the numbers of the spans it is in
 */
export function segments(text, spans) {
  const characters = Array.from(text);
  const inside = ([start, end]) => 0 <= start && start < end && end <= characters.length;
  const cuts = new Set([0, characters.length]);
  for (const span of spans) if (inside(span)) span.forEach((place) => cuts.add(place));
  const places = [...cuts].sort((a, b) => a - b);
  // Spans that begin at or before a part, and end after its start.
  const order = spans
    .map((span, number) => [span, number])
    .filter(([span]) => inside(span))
    .sort(([a], [b]) => a[0] - b[0]);
  let next = 0;
  let open = [];
  return places.slice(1).map((end, number) => {
    const start = places[number];
    while (next < order.length && order[next][0][0] <= start) open.push(order[next++]);
    open = open.filter(([span]) => span[1] > start);
    const members = open.map(([, place]) => place).sort((a, b) => a - b);
    return [characters.slice(start, end).join(""), members];
  });
}

/** The spans, in code points, of the parts of a kind. */
export function spansOf(parts, kind) {
  const spans = [];
  let start = 0;
  for (const [text, kinds] of parts) {
    const end = start + Array.from(text).length;
    if (kinds.includes(kind)) spans.push([start, end]);
    start = end;
  }
  return spans;
}

/** Parts with the parts of `kind` of another cut of the same text marked too. */
export function overlay(parts, other, kind) {
  const text = parts.map((part) => part[0]).join("");
  const own = [];
  let start = 0;
  for (const [piece, kinds] of parts) {
    const end = start + Array.from(piece).length;
    own.push([[start, end], kinds.filter((name) => name !== kind)]);
    start = end;
  }
  const added = spansOf(other, kind);
  const spans = [...own.map(([span]) => span), ...added];
  return segments(text, spans).map(([piece, members]) => {
    const kinds = members.filter((member) => member < own.length).flatMap((i) => own[i][1]);
    return [piece, members.some((member) => member >= own.length) ? [...kinds, kind] : kinds];
  });
}

const ENTITIES = ["first", "second", "entity"];

/**
 * Parts joined to entities: neighbors of the same entity kind form one group.
 * @returns {Array<{kind: string, last: boolean, parts: Array}>} `last`: last group of its kind
 */
export function grouped(parts) {
  const groups = [];
  for (const part of parts) {
    if (!part[0]) continue;
    const kind = ENTITIES.find((name) => part[1].includes(name)) || "";
    const before = groups.at(-1);
    if (before && before.kind === kind) before.parts.push(part);
    else groups.push({ kind, last: false, parts: [part] });
  }
  for (const kind of ["first", "second"]) {
    const found = groups.findLast((group) => group.kind === kind);
    if (found) found.last = true;
  }
  return groups;
}

/** Text without case and accents, for filters. */
export function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** 12345 → "12,345". */
export function count(n) {
  return n.toLocaleString("en-US");
}

/** "1 label", "2 labels". */
export function counted(n, noun, plural = `${noun}s`) {
  return `${count(n)} ${n === 1 ? noun : plural}`;
}

/** A probability or score with two decimals; never "1.00" or "0.00" for a number in between. */
export function decimal(value) {
  const shown = value.toFixed(2);
  if (shown === "1.00" && value < 1) return ">0.99";
  if (shown === "0.00" && value > 0) return "<0.01";
  return shown;
}

/** A number with its sign, such as "+0.25" or "−0.50". */
export function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

/** A message of the server as sentences: each line begins with a capital and ends with a stop. */
export function asSentence(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const start = line[0].toUpperCase() + line.slice(1);
      return /[.!?…]$/.test(start) ? start : `${start}.`;
    })
    .join(" ");
}

/** "0.61 (0.52 to 0.69)"; the ends of the interval may be unknown. */
export function interval([value, low, high]) {
  if (low === null || high === null) return value.toFixed(2);
  return `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

/** Time since a moment, both in seconds since the epoch. */
export function ago(time, now) {
  const seconds = Math.max(0, Math.round(now - time));
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${counted(Math.floor(seconds / 60), "minute")} ago`;
  if (seconds < 86400) return `${counted(Math.floor(seconds / 3600), "hour")} ago`;
  return `${counted(Math.floor(seconds / 86400), "day")} ago`;
}

/** Number of pages, at least 1. */
export function pageCount(n, size) {
  return Math.max(1, Math.ceil(n / size));
}
