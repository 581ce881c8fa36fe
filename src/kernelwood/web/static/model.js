// The model: card, types, calibration, decision threshold, history.

import { get } from "./api.js";
import { calibrationPlot, curve, thresholdPlot } from "./charts.js";
import { bar, button, el, fill } from "./dom.js";
import { nearest } from "./geometry.js";
import { start } from "./shell.js";
import { count, counted } from "./text.js";

const section = (title, ...content) =>
  el("section", { class: "panel-section" }, el("h2", {}, title), content);

function pairs(rows) {
  return el(
    "dl",
    { class: "pairs" },
    rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]),
  );
}

/** A table from rows of objects or of arrays: columns are the keys. */
function table(rows, caption) {
  const keys = Object.keys(rows[0]);
  const numeric = keys.map((key) =>
    rows.every((row) => row[key] === null || typeof row[key] === "number"),
  );
  const whole = keys.map((key) =>
    rows.every((row) => row[key] === null || Number.isInteger(row[key])),
  );
  const cell = (value, place) => {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number") return whole[place] ? count(value) : value.toFixed(3);
    return String(value);
  };
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          keys.map((key, place) =>
            el(
              "th",
              { scope: "col", class: numeric[place] ? "n" : null },
              key.replace(/^n_/, "").replaceAll("_", " "),
            ),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            keys.map((key, place) =>
              place
                ? el("td", { class: numeric[place] ? "n" : null }, cell(row[key], place))
                : el("th", { scope: "row" }, el("bdi", {}, cell(row[key], place))),
            ),
          ),
        ),
      ),
    ),
  );
}

function thresholdSection(shell, facts) {
  if (!facts.thresholds.length) return null;
  const plot = thresholdPlot(facts.thresholds);
  const input = el("input", { type: "range", id: "threshold", min: 0, max: 1, step: 0.01 });
  input.value = facts.threshold;
  const output = el("output", { for: "threshold" });
  const apply = button("Apply", {
    className: "primary",
    disabled: true,
    click: () => set(Number(input.value)),
  });
  const auto = button("Choose automatically", { disabled: shell.readOnly, click: () => set(null) });
  const show = () => {
    const value = Number(input.value);
    const row = nearest(facts.thresholds, value);
    const figure = (number) => (number === null ? "–" : number.toFixed(2));
    fill(
      output,
      [
        ["Threshold", value.toFixed(2)],
        ["Expected precision", figure(row.precision)],
        ["Expected recall", figure(row.recall)],
        ["Expected F1", figure(row.f1)],
        ["Predicted relations", count(row.n_predicted)],
      ].map(([name, text]) =>
        el("span", { class: "figure" }, el("small", {}, name), el("b", {}, text)),
      ),
    );
    plot.move(value);
    apply.disabled = shell.readOnly || Math.abs(value - facts.threshold) < 0.005;
  };
  const set = async (threshold) => {
    try {
      const { status } = await shell.send("/api/settings", { threshold });
      facts.threshold = status.model ? status.model.threshold : facts.threshold;
      input.value = facts.threshold;
      show();
      shell.announce(`The decision threshold is ${facts.threshold.toFixed(2)}.`);
    } catch (error) {
      shell.failed(error);
    }
  };
  input.addEventListener("input", show);
  show();
  return section(
    "Decision threshold",
    el(
      "p",
      { class: "soft" },
      `Candidates whose probability reaches the threshold are predicted as relations. Precision, recall and F1 are expected for the ${counted(facts.n_undecided, "undecided candidate")}, if the probabilities of the model are right; the F1 above is measured on decided or annotated ones.`,
    ),
    el(
      "div",
      { class: "threshold" },
      plot.element,
      el(
        "div",
        {},
        el("label", { for: "threshold" }, "Threshold"),
        input,
        output,
        el("p", { class: "buttons" }, apply, auto),
      ),
    ),
  );
}

function calibrationSection({ calibration }) {
  if (!calibration || !calibration.bins.length) {
    return section(
      "Calibration",
      el("p", { class: "soft" }, "The plot appears when enough checks are decided."),
    );
  }
  const rows = calibration.bins
    .filter((bin) => bin.count)
    .map((bin) => ({
      probability: `${bin.low.toFixed(2)} to ${bin.high.toFixed(2)}`,
      "mean probability": bin.mean,
      "fraction of relations": bin.rate,
      candidates: bin.count,
    }));
  return section(
    "Calibration",
    el(
      "p",
      { class: "soft" },
      `Of candidates with probability 0.8, 80 % should be relations: points on the diagonal. Expected calibration error ${calibration.error.toFixed(3)}.`,
    ),
    el("div", { class: "beside" }, calibrationPlot(calibration.bins), table(rows, "Calibration")),
  );
}

function historySection({ history }) {
  const scored = history.filter((one) => one.f1 !== null && one.f1 !== undefined);
  const rows = history
    .toReversed()
    .slice(0, 200)
    .map((one) => ({
      model: `No. ${one.number}`,
      labels: one.labels,
      F1: one.f1 ?? null,
      low: one.low ?? null,
      high: one.high ?? null,
      time: new Date(one.time * 1000).toLocaleString(),
    }));
  if (!rows.length) return null;
  const points = scored.map((one) => ({
    x: one.labels,
    value: one.f1,
    low: one.low,
    high: one.high,
  }));
  return section(
    "History",
    el("p", { class: "soft" }, "F1 on the random candidates that were decided by then."),
    el(
      "div",
      { class: "beside" },
      points.length > 1
        ? curve(points, {
            width: 460,
            height: 240,
            names: ["labels"],
            label: `F1 of ${counted(points.length, "model")} by number of labels; the table has the numbers`,
          })
        : null,
      table(rows, "History of models"),
    ),
  );
}

function gatesSection({ gates }) {
  if (!gates || !gates.length) return null;
  const most = Math.max(1e-9, ...gates.map(([, weight]) => Math.abs(weight)));
  return section(
    "Gates",
    el(
      "p",
      { class: "soft" },
      "Weights of labels in the kernel; 0 means that the label is ignored.",
    ),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "Label"),
          el("th", { scope: "col", class: "n" }, "Weight"),
          el("th", { scope: "col" }, el("span", { class: "hidden" }, "Bar")),
        ),
      ),
      el(
        "tbody",
        {},
        gates.map(([label, weight]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, el("code", {}, label || "(empty)")),
            el("td", { class: "n" }, weight.toFixed(2)),
            el("td", {}, bar(Math.abs(weight) / most)),
          ),
        ),
      ),
    ),
  );
}

start(async (shell) => {
  const root = document.getElementById("model");
  const draw = async () => {
    const facts = await get("/api/model");
    if (!facts.model) {
      fill(
        root,
        el(
          "p",
          { class: "empty" },
          "There is no model yet. It is trained as soon as candidates of two classes are decided. ",
        ),
        el("p", {}, el("a", { class: "button primary", href: "/" }, "Decide candidates")),
        facts.card.length ? section("Model card", pairs(facts.card)) : null,
      );
      return;
    }
    fill(
      root,
      thresholdSection(shell, facts),
      el(
        "div",
        { class: "section-columns" },
        section("Model card", pairs(facts.card)),
        facts.types.length
          ? section(
              "Relation types",
              table(
                facts.types.map((type) => ({
                  type: type.name,
                  direction: type.symmetric ? "symmetric" : "directed",
                  decided: type.count,
                  description: type.description,
                })),
                "Relation types",
              ),
            )
          : null,
      ),
      calibrationSection(facts),
      historySection(facts),
      gatesSection(facts),
    );
  };
  let number = shell.status.model ? shell.status.model.number : 0;
  await draw();
  shell.onReconnect(() => draw().catch((error) => shell.failed(error)));
  shell.onStatus((status) => {
    const latest = status.model ? status.model.number : 0;
    if (latest === number) return;
    number = latest;
    // A slider in use is not taken away.
    if (document.activeElement && document.activeElement.id === "threshold") {
      shell.notice(
        "newer",
        "info",
        `Model ${latest} is ready.`,
        button("Show it", {
          click: () => {
            shell.dismiss("newer");
            draw().catch((error) => shell.failed(error));
          },
        }),
      );
    } else {
      draw().catch((error) => shell.failed(error));
    }
  });
});
