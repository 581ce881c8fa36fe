// Elements. Texts become text nodes, never markup.

import { argumentsOf, colorNumber, NONE, relationShown, stateOf } from "./relations.js";
import { decimal, grouped } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

function build(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return made;
}

/** An element; functions among the attributes are event listeners. */
export function el(name, attributes = {}, ...children) {
  return build(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function svg(name, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, name), attributes, children);
}

/** A button with a key: the key is shown, and named to assistive technology. */
export function button(text, { key = null, className = null, ...attributes } = {}, ...more) {
  return el(
    "button",
    { type: "button", class: className, "aria-keyshortcuts": key, ...attributes },
    key ? el("kbd", { "aria-hidden": "true" }, key) : null,
    key ? " " : null,
    text,
    ...more,
  );
}

export const hiddenText = (text) => el("span", { class: "hidden" }, text);

/** A bar from 0 to 1; decorative, as the number stands beside it. */
export function bar(value, { tick = null, className = "" } = {}) {
  const fill = el("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(1, Math.max(0, value))}%`;
  const made = el("span", { class: `bar ${className}`, "aria-hidden": "true" }, fill);
  if (tick !== null) {
    const mark = el("span", { class: "tick" });
    mark.style.left = `${100 * tick}%`;
    made.append(mark);
  }
  return made;
}

/** Colors of entity types and relation types of a project. */
export class Palette {
  constructor(project) {
    this.entities = project.entity_types;
    this.relations = project.types.map((type) => type.name);
  }

  entity(type) {
    return `k${colorNumber(this.entities, type, 6)}`;
  }

  relation(type) {
    return type === NONE ? "r-none" : `r${colorNumber(this.relations, type, 8)}`;
  }
}

/** The parts of a sentence as elements: names, words on the path, shared words. */
export function sentence(parts, { palette, first, second, brief = false }) {
  const ends = { first, second };
  return grouped(parts).map((group) => {
    const inner = group.parts.map(([text, kinds]) => {
      const names = ["path", "shared"].filter((kind) => kinds.includes(kind));
      if (!names.length) return text;
      return el(names.includes("shared") ? "b" : "span", { class: names.join(" ") }, text);
    });
    if (!group.kind) return inner;
    if (group.kind === "entity") return el("span", { class: "other" }, inner);
    const { type } = ends[group.kind];
    // The isolate is outside: a line may be broken before it, but not between it and the mark.
    return el(
      "bdi",
      {},
      el(
        "mark",
        { class: type ? `name ${palette.entity(type)}` : "name" },
        inner,
        group.last && !brief && type ? el("small", {}, type) : null,
      ),
    );
  });
}

/** A relation with its arguments: "Raf Activates → MEK1". */
export function statement(relation, first, second, palette) {
  if (!relation) return el("span", { class: "statement" }, el("b", { class: "type" }, "skipped"));
  const type = el("b", { class: `type ${palette.relation(relation.type)}` }, relation.type);
  if (relation.type === NONE) return el("span", { class: "statement" }, type);
  const [from, to] = argumentsOf(relation, first, second);
  const arrow = el(
    "span",
    { class: "arrow", "aria-hidden": "true" },
    relation.direction ? "→" : "–",
  );
  return el(
    "span",
    { class: "statement" },
    el("bdi", {}, from.text),
    " ",
    type,
    " ",
    arrow,
    " ",
    el("bdi", {}, to.text),
  );
}

/** A relation with its arguments; only the two names if there is none. */
export function pairOrStatement(relation, first, second, palette) {
  if (relation && relation.type !== NONE) return statement(relation, first, second, palette);
  return el(
    "span",
    { class: "statement" },
    el("bdi", {}, first.text),
    " – ",
    el("bdi", {}, second.text),
  );
}

const STATES = {
  accepted: ["✓", "accepted"],
  rejected: ["✗", "none"],
  skipped: ["↷", "skipped"],
  predicted: ["◇", "predicted"],
  negative: ["·", "below threshold"],
};

/** A sign and a word for the state of a candidate. */
export function stateTag(candidate) {
  const state = stateOf(candidate);
  const [sign, word] = STATES[state];
  const shown = state === "negative" && !candidate.prediction ? "undecided" : word;
  return el(
    "span",
    { class: `state ${state}` },
    el("span", { "aria-hidden": "true" }, sign),
    ` ${shown}`,
  );
}

/** Probability as a bar with the threshold, and as a number. */
export function probability(value, threshold, className = "") {
  return el(
    "span",
    { class: "probability" },
    bar(value, { tick: threshold, className }),
    el("span", { class: "n" }, decimal(value)),
  );
}

/** A candidate of a list: its sentence, relation and state, with links. */
export function row(short, { palette, threshold }, ...more) {
  const { first, second, prediction } = short;
  const relation = relationShown(short);
  const color = relation ? palette.relation(relation.type) : "";
  return el(
    "li",
    { class: `row ${color}` },
    el(
      "p",
      { class: "row-head" },
      pairOrStatement(relation, first, second, palette),
      prediction ? probability(prediction.probability, threshold) : null,
      stateTag(short),
      ...more,
    ),
    el("p", { class: "row-text" }, sentence(short.parts, { palette, first, second })),
    el(
      "p",
      { class: "row-links" },
      el(
        "a",
        { href: `/?candidate=${short.id}` },
        "Decide",
        hiddenText(` ${first.text} and ${second.text}`),
      ),
      el(
        "a",
        { href: `/documents/${short.document.number}?candidate=${short.id}` },
        el("bdi", {}, short.document.name),
      ),
      el("a", { href: `/documents?view=similar&candidate=${short.id}` }, "Sentences like this"),
    ),
  );
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  return build(element, {}, children);
}

/** Replaces the content of an element; the focus stays on the element with the same action. */
export function refill(element, ...children) {
  const { activeElement } = document;
  const action = element.contains(activeElement) ? activeElement.dataset.action : null;
  fill(element, ...children);
  const again =
    action &&
    [...element.querySelectorAll("[data-action]")].find(
      (one) => one.dataset.action === action && !one.disabled,
    );
  if (again) again.focus({ preventScroll: true });
  return element;
}

/** Previous and next page of a list. */
export function pager({ offset, limit, total, go }) {
  if (total <= limit) return null;
  const last = Math.min(total, offset + limit);
  return el(
    "nav",
    { class: "pager", "aria-label": "Pages of the list" },
    button("Previous", { disabled: offset === 0, click: () => go(Math.max(0, offset - limit)) }),
    el("span", {}, `${offset + 1} to ${last} of ${total.toLocaleString("en-US")}`),
    button("Next", { disabled: last >= total, click: () => go(offset + limit) }),
  );
}

/** A modal dialog with a title; removed when it is closed. */
export function dialog(title, ...content) {
  const heading = el("h2", { id: "dialog-title", tabindex: "-1" }, title);
  const made = el("dialog", { "aria-labelledby": "dialog-title" }, heading, ...content);
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}
