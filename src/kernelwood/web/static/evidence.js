// Training cases that support or oppose a prediction.

import { bar, button, el, sentence } from "./dom.js";
import { arrowOf, NONE } from "./relations.js";
import { asSentence, counted, decimal, signed } from "./text.js";

function path(steps) {
  return el(
    "p",
    { class: "path-line" },
    el("small", {}, "path"),
    " ",
    steps.map(([text, kind]) => [
      kind === "entity"
        ? el("bdi", { class: "end" }, text)
        : kind === "step"
          ? el("i", {}, text)
          : text,
      " ",
    ]),
  );
}

function caseItem(one, { palette, largest, show, noun }) {
  const names = { palette, first: { type: "" }, second: { type: "" }, brief: true };
  const preview = () => show(one.here);
  const pin = button("Show shared words", {
    className: "quiet",
    "aria-pressed": "false",
    click: () => {
      const pressed = pin.getAttribute("aria-pressed") !== "true";
      pin.setAttribute("aria-pressed", String(pressed));
      show(pressed ? one.here : null, true);
    },
  });
  const made = el(
    "li",
    { class: "case" },
    el(
      "p",
      { class: "case-head" },
      bar(Math.abs(one.contribution) / largest, { className: noun }),
      el("b", { class: "n" }, signed(one.contribution)),
      " ",
      el(
        "span",
        { class: `type ${palette.relation(one.relation.type)}` },
        one.relation.type,
        arrowOf(one.relation),
      ),
      " ",
      el(
        "small",
        { title: "Similarity: 1 if equal in all respects, 0 if nothing is in common." },
        `similarity ${decimal(one.similarity)}, `,
        el("bdi", {}, one.document),
      ),
    ),
    el("p", { class: "case-text" }, sentence(one.parts, names)),
    one.path && one.path.length ? path(one.path) : null,
    one.words.length
      ? el(
          "p",
          { class: "words" },
          el("small", {}, "shared"),
          " ",
          el("span", {}, one.words.join(", ")),
          " ",
          pin,
        )
      : null,
  );
  made.addEventListener("mouseenter", preview);
  made.addEventListener("focusin", preview);
  made.addEventListener("mouseleave", () => show(null));
  made.addEventListener("focusout", () => show(null));
  return made;
}

function side(title, noun, cases, options) {
  return el(
    "section",
    { class: `side ${noun}` },
    el("h2", {}, title),
    cases.length
      ? el(
          "ol",
          {},
          cases.map((one) => caseItem(one, { ...options, noun })),
        )
      : el(
          "p",
          { class: "soft" },
          `No training case ${noun === "supporting" ? "supports" : "opposes"} it noticeably.`,
        ),
  );
}

/**
 * Supporting and opposing cases side by side.
 * @param show function of the parts of the current sentence to mark; null ends the preview
 */
export function evidence(found, { palette, show = () => {} }) {
  if (found.empty) return el("p", { class: "soft evidence-empty" }, asSentence(found.empty));
  const all = [...found.supporting, ...found.opposing];
  const largest = Math.max(1e-9, ...all.map((one) => Math.abs(one.contribution)));
  let pinned = null;
  const preview = (parts, pin = false) => {
    if (pin) pinned = parts;
    show(parts || pinned);
  };
  const options = { palette, largest, show: preview };
  const sum = all.reduce((total, one) => total + one.contribution, 0);
  const name = found.relation ? found.relation.type : "the relation";
  const others = all.some(({ relation: { type } }) => type !== NONE && type !== name);
  const made = el(
    "div",
    { class: "evidence" },
    el(
      "div",
      { class: "sides" },
      side(
        `Supports ${name} over none: ${counted(found.supporting.length, "training case")}`,
        "supporting",
        found.supporting,
        options,
      ),
      side(
        `Supports none over ${name}: ${counted(found.opposing.length, "training case")}`,
        "opposing",
        found.opposing,
        options,
      ),
    ),
    others
      ? el("p", { class: "sum soft" }, "A case of another type is evidence that there is a relation.")
      : null,
    found.score === undefined
      ? null
      : el(
          "p",
          { class: "sum soft" },
          `Score ${signed(found.score)} = ${signed(
            sum,
          )} (cases shown) ${signed(found.others)} (other cases) ${signed(found.intercept)} (intercept)`,
        ),
  );
  // Only one case at a time keeps its words marked.
  made.addEventListener("click", (event) => {
    for (const pin of made.querySelectorAll("[aria-pressed=true]")) {
      if (pin !== event.target.closest("button")) pin.setAttribute("aria-pressed", "false");
    }
  });
  return made;
}
