// Relations of a text, as it is typed.

import { post } from "./api.js";
import { el, fill, probability, sentence, statement } from "./dom.js";
import { evidence } from "./evidence.js";
import { debounced, latest } from "./filters.js";
import { start } from "./shell.js";
import { asSentence, counted, segments } from "./text.js";

const PAUSE = 200; // milliseconds without typing

function marked(shell, answer) {
  const spans = answer.entities.flatMap((entity) => entity.spans);
  const owner = answer.entities.flatMap((entity) => entity.spans.map(() => entity));
  return el(
    "p",
    { class: "text try-text" },
    segments(answer.text, spans).map(([text, members]) =>
      members.length
        ? el(
            "mark",
            {
              class: `name ${shell.palette.entity(owner[members[0]].type)}`,
              title: owner[members[0]].type,
            },
            text,
          )
        : text,
    ),
  );
}

function relation(shell, one, entities) {
  const { palette, threshold } = shell;
  const [first, second] = [entities.get(one.first), entities.get(one.second)];
  const text = el("p", { class: "row-text" });
  const mark = (parts) =>
    fill(text, sentence(parts || one.parts, { palette, first, second, brief: true }));
  mark(null);
  const known = one.evidence && one.evidence.supporting.length + one.evidence.opposing.length > 0;
  return el(
    "li",
    { class: `row ${palette.relation(one.relation.type)}` },
    el(
      "p",
      { class: "row-head" },
      statement(one.relation, first, second, palette),
      probability(one.probability, threshold),
      el(
        "span",
        { class: one.positive ? "state accepted" : "state negative" },
        one.positive ? "✓ relation" : "· below threshold",
      ),
    ),
    text,
    known
      ? el(
          "details",
          {},
          el("summary", {}, "Evidence"),
          evidence({ ...one.evidence, relation: one.relation }, { palette, show: mark }),
        )
      : null,
  );
}

function result(shell, answer) {
  const entities = new Map(answer.entities.map((one) => [one.key, one]));
  const positive = answer.relations.filter((one) => one.positive);
  const other = answer.relations.filter((one) => !one.positive);
  const list = (some) =>
    el(
      "ul",
      { class: "rows" },
      some.map((one) => relation(shell, one, entities)),
    );
  return [
    marked(shell, answer),
    el("h2", {}, counted(positive.length, "relation")),
    positive.length
      ? list(positive)
      : el(
          "p",
          { class: "soft" },
          asSentence(answer.note) ||
            (entities.size < 2
              ? "A relation needs two known names in a sentence."
              : "No pair of names reaches the decision threshold."),
        ),
    other.length
      ? el(
          "details",
          { class: "more-relations" },
          el("summary", {}, `${counted(other.length, "candidate")} below the threshold`),
          list(other),
        )
      : null,
  ];
}

start(async (shell) => {
  const field = document.getElementById("text");
  const note = document.getElementById("try-note");
  const root = document.getElementById("result");
  const ask = latest(
    (signal, text) => post("/api/try", { text }, { signal }),
    (answer) => {
      fill(root, result(shell, answer));
      note.textContent = `${counted(answer.entities.length, "entity", "entities")}, ${counted(
        answer.relations.filter((one) => one.positive).length,
        "relation",
      )}, ${Math.round(answer.milliseconds)} ms`;
    },
    (error) => {
      note.textContent = error.message;
    },
  );
  const changed = debounced(() => {
    if (field.value.trim()) {
      ask(field.value);
    } else {
      fill(root);
      note.textContent = "";
    }
  }, PAUSE);
  field.addEventListener("input", changed);
  field.focus();
  if (field.value) changed(); // kept by the browser over a reload
});
