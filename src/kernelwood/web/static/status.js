// The progress strip of every page.

import { curve } from "./charts.js";
import { bar, button, el, fill } from "./dom.js";
import { asSentence, count, counted, interval } from "./text.js";

const NUMBERED = "Number of the model: models are numbered from 1, in the order of training.";

function modelCell({ model, training, waiting, error, retrain_after: after }) {
  const cell = [];
  if (model) cell.push(el("b", { title: NUMBERED }, `No. ${model.number}`));
  else cell.push(el("b", {}, "none yet"));
  if (training) {
    cell.push(
      el(
        "span",
        { class: "training" },
        el("span", { class: "spinner", "aria-hidden": "true" }),
        " training…",
      ),
    );
  } else if (error) {
    cell.push(el("span", { class: "no" }, "training failed"));
  } else if (waiting) {
    cell.push(
      el(
        "span",
        { class: "soft" },
        after > waiting
          ? `next in ${counted(after - waiting, "label")}`
          : counted(waiting, "new label"),
      ),
    );
  } else if (model) {
    cell.push(el("span", { class: "soft" }, "up to date"));
  }
  return cell;
}

/** What the estimate of F1 is measured on. */
const qualityName = ({ held_out: heldOut }) =>
  heldOut ? "F1, held-out documents" : "F1, random candidates";

function qualityCell({ quality, held_out: heldOut }) {
  const shown = heldOut || quality;
  if (!shown || !shown.f1) return [el("span", { class: "soft" }, "not enough checks yet")];
  const [value, low, high] = shown.f1;
  return [
    el("b", {}, value.toFixed(2)),
    low === null || high === null
      ? null
      : el("span", { class: "soft" }, `${low.toFixed(2)} to ${high.toFixed(2)}`),
  ];
}

function changesCell({ changes }) {
  if (!changes) return [el("span", { class: "soft" }, "–")];
  const parts = [
    [changes.new, "new"],
    [changes.withdrawn, "withdrawn"],
    [changes.other_type, "other type"],
  ]
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${count(n)} ${word}`);
  if (!parts.length) return [el("span", {}, "none")];
  return [
    el(
      "span",
      { title: `Predicted relations, compared with model ${changes.since}` },
      parts.join(", "),
    ),
  ];
}

const pointsOf = (points) =>
  points.map(({ labels, f1, low, high }) => ({ x: labels, value: f1, low, high }));

function describeCurve(points) {
  if (points.length < 2) return "Learning curve: not enough checks yet";
  const [start, end] = [points[0], points.at(-1)];
  return (
    `Learning curve: F1 ${start.f1.toFixed(2)} after ${counted(start.labels, "label")}, ` +
    `${end.f1.toFixed(2)} after ${counted(end.labels, "label")}`
  );
}

function figures(name, shown) {
  return ["f1", "precision", "recall"]
    .filter((key) => shown[key])
    .map((key) => [`${key === "f1" ? "F1" : key}, ${name}`, interval(shown[key])]);
}

function details(status, train) {
  const { counts, quality, held_out: heldOut } = status;
  const rows = [
    [
      "Candidates",
      `${count(counts.candidates)} in ${counted(counts.sentences, "sentence")} of ${counted(
        counts.documents,
        "document",
      )}`,
    ],
    [
      "Decided",
      `${count(counts.decided)}: ${counted(counts.relations, "relation")}, ${count(
        counts.decided - counts.relations,
      )} none`,
    ],
    ["Skipped", count(counts.skipped)],
    ["Undecided", count(counts.left)],
    ...(counts.held_out
      ? [["Held out", `${count(counts.held_out)}, only to evaluate`]]
      : []),
    ...(quality
      ? [
          ...figures("random", quality),
          ["Random candidates", `${count(quality.n_checks)}, ${counted(quality.n_relations, "relation")}`],
        ]
      : []),
    ...(heldOut ? figures("held out", heldOut) : []),
    ...(status.model
      ? [
          [
            `Model No. ${count(status.model.number)}`,
            `from ${counted(status.model.labels, "label")}${
              status.model.learns_annotation ? ", decided or annotated" : ""
            }, in ${status.model.seconds.toFixed(2)} s`,
          ],
        ]
      : []),
  ];
  const most = Math.max(1, ...status.by_type.map(([, n]) => n));
  return el(
    "div",
    { class: "detail-columns" },
    el(
      "div",
      {},
      el(
        "dl",
        { class: "pairs" },
        rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
      ),
      quality && quality.note ? el("p", { class: "soft" }, asSentence(quality.note)) : null,
    ),
    el(
      "div",
      {},
      el("h2", {}, "Decided relations by type"),
      status.by_type.length
        ? el(
            "table",
            {},
            el(
              "tbody",
              {},
              status.by_type.map(([type, n]) =>
                el(
                  "tr",
                  {},
                  el("th", { scope: "row" }, el("bdi", {}, type)),
                  el("td", { class: "n" }, count(n)),
                  el("td", {}, bar(n / most)),
                ),
              ),
            ),
          )
        : el("p", { class: "soft" }, "None yet."),
      status.error ? el("p", { class: "no" }, `Training failed: ${status.error}`) : null,
      status.read_only
        ? null
        : el("p", {}, button("Train now", { click: train, disabled: status.training })),
    ),
    el(
      "div",
      {},
      el("h2", {}, "Learning curve"),
      status.curve.length > 1
        ? curve(pointsOf(status.curve), {
            width: 360,
            height: 200,
            label: describeCurve(status.curve),
            names: ["labels"],
          })
        : el("p", { class: "soft" }, "The curve appears when enough checks are decided."),
      status.curve.length > 1
        ? el(
            "p",
            { class: "soft" },
            "F1 of earlier models: what they predicted before each decision, on the last 50 random candidates.",
          )
        : null,
    ),
  );
}

/** Fills the strip now and after every change. */
export class Strip {
  constructor(element, train) {
    this.element = element;
    this.train = train;
    this.slots = Object.fromEntries(
      [...element.querySelectorAll("[data-slot]")].map((slot) => [slot.dataset.slot, slot]),
    );
    this.more = element.querySelector("#strip-more");
    this.details = element.querySelector("#strip-details");
    this.shown = {};
    this.more.addEventListener("click", () => {
      this.details.hidden = !this.details.hidden;
      this.more.setAttribute("aria-expanded", String(!this.details.hidden));
      this.update(this.status);
    });
  }

  update(status) {
    this.status = status;
    this.element.hidden = false;
    const { decided, candidates, held_out: heldOut } = status.counts;
    this.#set("labels", [decided, candidates, heldOut], () => [
      el("b", {}, count(decided)),
      el("span", { class: "soft" }, `of ${count(candidates - heldOut)}`),
    ]);
    this.#set(
      "model",
      [
        status.model && status.model.number,
        status.training,
        status.waiting,
        status.error,
        status.retrain_after,
      ],
      () => modelCell(status),
    );
    this.#set("f1-name", qualityName(status), () => [qualityName(status)]);
    this.#set("f1", [status.quality, status.held_out], () => qualityCell(status));
    this.#set("curve", status.curve, () =>
      status.curve.length > 1
        ? [
            curve(pointsOf(status.curve), {
              width: 132,
              height: 30,
              small: true,
              label: describeCurve(status.curve),
            }),
          ]
        : [el("span", { class: "soft" }, "–")],
    );
    this.#set("changes", status.changes, () => changesCell(status));
    this.#set("outlook", status.outlook, () => [asSentence(status.outlook) || "–"]);
    if (!this.details.hidden) this.#set("details", status, () => [details(status, this.train)]);
  }

  /** Redraws a cell only if its values changed: a selection of text in it stays. */
  #set(name, values, make) {
    const key = JSON.stringify(values);
    if (this.shown[name] === key) return;
    this.shown[name] = key;
    fill(this.slots[name] || this.details, ...make());
  }
}
