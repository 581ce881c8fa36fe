// Documents, candidates with filters, and sentences similar to one.

import { get, post } from "./api.js";
import { bar, button, el, fill, pager, row, sentence } from "./dom.js";
import { debounced, field, follow, latest, number, search, select } from "./filters.js";
import { start } from "./shell.js";
import { asSentence, count, counted, decimal } from "./text.js";

const LIMIT = 50;
const NEAREST = 20; // similar sentences; more are shown on request

/** A form of filters above a list that the server filters, sorts and cuts into pages. */
function listing(shell, { path, fields, fixed = {}, noun, draw }) {
  const form = el(
    "form",
    { class: "filters", role: "search", "aria-label": `Filter ${noun}s` },
    fields,
  );
  const total = el("p", { class: "total soft", role: "status" });
  const list = el("div", { class: "list" });
  let offset = 0;
  let values = {};
  const load = latest(
    (signal) => get(path, { ...values, offset, limit: LIMIT }, { signal }),
    (answer) => {
      total.textContent = counted(answer.total, noun);
      const go = (place) => {
        offset = place;
        load();
        total.scrollIntoView({ block: "nearest" });
      };
      fill(
        list,
        answer.rows.length ? draw(answer.rows) : el("p", { class: "soft" }, "No results."),
        pager({ offset, limit: LIMIT, total: answer.total, go }),
      );
    },
    (error) => shell.failed(error),
  );
  const view = el("div", {}, form, total, list);
  shell.onReconnect(load);
  follow(
    form,
    (given) => {
      offset = 0;
      values = given;
      load();
    },
    fixed,
  );
  return view;
}

function documentTable(rows) {
  return el(
    "table",
    { class: "documents stacked" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["Document", "Text"].map((name) => el("th", { scope: "col" }, name)),
        ["Sentences", "Candidates", "Decided", "Relations"].map((name) =>
          el("th", { scope: "col", class: "n" }, name),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((one) =>
        el(
          "tr",
          {},
          el(
            "th",
            { scope: "row" },
            el("a", { href: `/documents/${one.number}` }, el("bdi", {}, one.name)),
            one.held_out ? el("span", { class: "tag" }, "held out") : null,
          ),
          el("td", { class: "start" }, one.start),
          el("td", { class: "n", "data-name": "sentences" }, count(one.n_sentences)),
          el("td", { class: "n", "data-name": "candidates" }, count(one.n_candidates)),
          el(
            "td",
            { class: "n", "data-name": "decided" },
            bar(one.n_candidates ? one.n_decided / one.n_candidates : 0),
            " ",
            count(one.n_decided),
          ),
          el("td", { class: "n", "data-name": "relations" }, count(one.n_relations)),
        ),
      ),
    ),
  );
}

function documents(shell) {
  return listing(shell, {
    path: "/api/documents",
    noun: "document",
    draw: documentTable,
    fields: [field("Search", search("words", "words of the text or name"))],
  });
}

const DECISIONS = [
  ["any", "all"],
  ["undecided", "undecided"],
  ["accepted", "accepted"],
  ["none", "decided as none"],
  ["skipped", "skipped"],
  ["disagreement", "disagreement with the annotation"],
];

function candidates(shell) {
  const { types, has_annotation: annotated } = shell.project;
  const choices = DECISIONS.filter(([value]) => annotated || value !== "disagreement");
  return listing(shell, {
    path: "/api/candidates",
    noun: "candidate",
    fixed: { view: "candidates" },
    fields: [
      field("Search", search("words", "words of the sentence")),
      field("Type", select("type", [["", "all types"], ...types.map(({ name }) => [name, name])])),
      field("Decision", select("decision", choices)),
      field("Probability from", number("low")),
      field("to", number("high")),
      field(
        "Sort by",
        select("sort", [
          ["text", "text"],
          ["-probability", "most probable"],
          ["probability", "least probable"],
        ]),
      ),
    ],
    draw: (rows) =>
      el(
        "ul",
        { class: "rows" },
        rows.map((one) => row(one, { palette: shell.palette, threshold: shell.threshold })),
      ),
  });
}

function similarRows(shell, { rows, note }) {
  if (!rows.length) return el("p", { class: "soft" }, asSentence(note) || "No similar sentences.");
  return el(
    "ul",
    { class: "rows" },
    rows.map((one) =>
      row(
        one,
        { palette: shell.palette, threshold: shell.threshold },
        el("small", { class: "soft" }, `similarity ${decimal(one.similarity)}`),
      ),
    ),
  );
}

/** Shows the sentences that `ask(limit)` finds, and a button for more. */
function showSimilar(shell, list, ask) {
  let limit = NEAREST;
  const load = async () => {
    const answer = await ask(limit);
    const more =
      answer.rows.length === limit && limit < 200
        ? el(
            "p",
            {},
            button("Show more", {
              click: () => {
                limit = Math.min(200, 3 * limit);
                load().catch((error) => shell.failed(error));
              },
            }),
          )
        : null;
    fill(list, similarRows(shell, answer), more);
  };
  return load();
}

async function similar(shell) {
  const given = new URLSearchParams(location.search).get("candidate");
  const text = el("textarea", {
    id: "like",
    rows: 2,
    maxlength: 5000,
    placeholder: "Raf phosphorylates MEK1 in these cells.",
  });
  const list = el("div", { class: "list", "aria-live": "polite" });
  const source = el("div");
  // Requests for an earlier text are aborted, so that their answers are not shown.
  let last = new AbortController();
  text.addEventListener(
    "input",
    debounced(() => {
      last.abort();
      last = new AbortController();
      const { signal } = last;
      const words = text.value;
      fill(source);
      if (!words.trim()) fill(list);
      else
        showSimilar(shell, list, (limit) =>
          post("/api/similar", { text: words, limit }, { signal }),
        ).catch((error) => shell.failed(error));
    }, 300),
  );
  if (/^\d+$/.test(given || "")) {
    const candidate = await get(`/api/candidates/${given}`);
    const { first, second } = candidate;
    fill(
      source,
      el(
        "section",
        { class: "card like", "aria-labelledby": "like-title" },
        el("h2", { id: "like-title" }, "Similar to"),
        el(
          "p",
          { class: "sentence" },
          sentence(candidate.parts, { palette: shell.palette, first, second }),
        ),
        el(
          "p",
          { class: "soft" },
          "Candidates with a similar dependency path and similar words, most similar first. ",
          el("a", { href: `/?candidate=${candidate.id}` }, "Decide this candidate"),
        ),
      ),
    );
    await showSimilar(shell, list, (limit) => get("/api/similar", { candidate: given, limit }));
  }
  return el(
    "div",
    {},
    source,
    el(
      "label",
      { for: "like", class: "field" },
      el("span", {}, "Sentence to compare with, with at least two known names"),
      text,
    ),
    list,
  );
}

const VIEWS = { documents, candidates, similar };

start(async (shell) => {
  const asked = new URLSearchParams(location.search).get("view");
  const name = Object.hasOwn(VIEWS, asked || "") ? asked : "documents";
  Object.keys(VIEWS).forEach((view, place) => {
    if (view === name)
      document.querySelectorAll("#views a")[place].setAttribute("aria-current", "page");
  });
  fill(document.getElementById("view"), await VIEWS[name](shell));
});
