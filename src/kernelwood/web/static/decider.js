// The prediction of a candidate and the buttons that decide it.

import { post } from "./api.js";
import { button, dialog, el, fill, probability, refill, statement } from "./dom.js";
import {
  choice,
  decisionOf,
  flipped,
  inWords,
  NONE,
  probabilityOf,
  proposal,
  relationOf,
  relationWith,
} from "./relations.js";
import { ago, asSentence, folded } from "./text.js";

/**
 * Shows what a model predicts for a candidate, and asks for a decision.
 *
 * `decide(label)` is called with a class, or null to skip; it stores the decision.
 */
export class Decider {
  constructor(shell, decide, { keys = false } = {}) {
    this.shell = shell;
    this.decide = decide;
    this.keys = keys; // whether keys are shown and work
    this.candidate = null;
    this.turned = false;
    this.enabled = true;
    this.lines = el("dl", { class: "prediction" });
    this.choices = el("div", { class: "choices", role: "group", "aria-label": "Decision" });
    this.element = el("div", { class: "decider" }, this.lines, this.choices);
  }

  show(candidate) {
    this.candidate = candidate;
    this.turned = false;
    this.draw();
  }

  enable(enabled) {
    if (this.enabled === enabled) return;
    this.enabled = enabled;
    this.draw();
  }

  get types() {
    return this.shell.project.types;
  }

  get proposal() {
    return proposal(this.candidate, this.turned);
  }

  /** Whether a decision may be made; says why not. */
  allowed() {
    if (this.shell.readOnly) {
      this.shell.announce("The project is open read-only; decisions cannot be stored.");
      return false;
    }
    return Boolean(this.candidate) && this.enabled;
  }

  accept() {
    if (!this.allowed()) return;
    if (this.proposal) this.decide(this.proposal.label);
    else this.shell.announce("There is no prediction yet: choose a type or none.");
  }

  reject() {
    if (this.allowed()) this.decide(NONE);
  }

  skip() {
    if (this.allowed()) this.decide(null);
  }

  flip() {
    if (!this.candidate) return;
    this.turned = !this.turned;
    this.draw();
    const [from, to] = this.direction;
    this.shell.announce(`Direction: ${from.text} to ${to.text}`);
  }

  /** Arguments of a directed relation, as the buttons would store it now. */
  get direction() {
    const { first, second } = this.candidate;
    const made = choice(this.candidate, { name: "", symmetric: false }, this.turned);
    return made.direction === "backward" ? [second, first] : [first, second];
  }

  /** Decides for the type with a number from 1 to 9. */
  press(number) {
    const type = this.types.find((one) => one.key === number);
    if (type) this.choose(type);
    else this.shell.announce(`There is no type with number ${number}.`);
  }

  choose(type) {
    if (this.allowed()) this.decide(choice(this.candidate, type, this.turned).label);
  }

  draw() {
    if (!this.candidate) return;
    fill(this.lines, this.#lines());
    refill(this.choices, this.#buttons());
  }

  #line(name, className, ...content) {
    return el("div", { class: `line ${className}` }, el("dt", {}, name), el("dd", {}, ...content));
  }

  #lines() {
    const { palette } = this.shell;
    const { first, second, prediction, annotation } = this.candidate;
    const decision = decisionOf(this.candidate);
    const { comment = "" } = this.candidate.decision || {};
    const rows = [];
    if (decision) {
      rows.push(
        this.#line(
          "Decided",
          "decided",
          statement(decision.relation, first, second, palette),
          el(
            "span",
            { class: "soft" },
            "by ",
            el("bdi", {}, decision.author),
            `, ${ago(decision.time, Date.now() / 1000)}`,
          ),
        ),
      );
    }
    if (prediction) rows.push(...this.#predictionLines(prediction));
    else {
      const text = "No model yet: choose a type, or none.";
      rows.push(this.#line("Predicted", "main", el("span", { class: "soft" }, text)));
    }
    if (annotation) {
      rows.push(
        this.#line("Annotated", "annotated", statement(annotation, first, second, palette)),
      );
    }
    if (comment) {
      rows.push(this.#line("Comment", "comment", el("bdi", {}, comment)));
    }
    return rows;
  }

  /** What is predicted, and the most probable class besides it. */
  #predictionLines({ relation, probability: value, positive, runner_up: other, ...prediction }) {
    const { palette, threshold } = this.shell;
    const { first, second } = this.candidate;
    const line = (name, className, shown, number, reason = "") =>
      this.#line(
        name,
        `${className} ${palette.relation(shown.type)}`,
        statement(shown, first, second, palette),
        probability(number, shown.type === NONE ? null : threshold),
        el("span", { class: "soft" }, reason),
      );
    const turned = this.turned && flipped(relation);
    const [best, number] =
      turned && turned !== relation
        ? [turned, probabilityOf(prediction, turned.label) ?? 0]
        : [relation, value];
    const limit = threshold === null ? "the threshold" : `the threshold ${threshold.toFixed(2)}`;
    if (positive) {
      const reason = other.probability > value ? `reaches ${limit}` : "";
      return [
        line(best === relation ? "Predicted" : "Flipped", "main", best, number, reason),
        line("Runner-up", "second", other.relation, other.probability),
      ];
    }
    return [
      line("Predicted", "main", relationOf(NONE), probabilityOf(prediction, NONE) ?? 0),
      line(
        best === relation ? "Best relation" : "Flipped",
        "second",
        best,
        number,
        `below ${limit}`,
      ),
    ];
  }

  #buttons() {
    const { palette } = this.shell;
    const key = (name) => (this.keys ? name : null);
    const locked = this.shell.readOnly || !this.enabled;
    const { first, second } = this.candidate;
    const relation = this.proposal;
    const named = this.types.filter((type) => type.key !== null);
    const directed = this.types.some((type) => !type.symmetric) || (relation && relation.direction);
    const [from, to] = this.direction;
    return [
      el(
        "div",
        { class: "main-choices" },
        relation
          ? button(
              [
                "Accept ",
                el("span", { class: `type ${palette.relation(relation.type)}` }, relation.type),
              ],
              {
                key: key("y"),
                className: "accept",
                "data-action": "accept",
                disabled: locked,
                "aria-label": `Accept: ${inWords(relation, first, second)}`,
                click: () => this.accept(),
              },
            )
          : null,
        button("None", {
          key: key("n"),
          className: "reject",
          "data-action": "reject",
          disabled: locked,
          click: () => this.reject(),
        }),
        button("Skip", {
          key: key("s"),
          "data-action": "skip",
          disabled: locked,
          click: () => this.skip(),
        }),
        directed
          ? button(
              [
                el("span", { class: "flip-sign", "aria-hidden": "true" }, "⇄ "),
                el("bdi", {}, from.text),
                " → ",
                el("bdi", {}, to.text),
              ],
              {
                key: key("f"),
                className: "flip",
                "data-action": "flip",
                "data-direction": this.#directionName(),
                "aria-pressed": String(this.turned),
                "aria-label": `Flip the direction, now ${from.text} to ${to.text}`,
                click: () => this.flip(),
              },
            )
          : null,
      ),
      el(
        "div",
        { class: "type-choices" },
        named.map((type) =>
          button(el("span", { class: `type ${palette.relation(type.name)}` }, type.name), {
            key: key(String(type.key)),
            title: type.description || null,
            "data-action": `type-${type.name}`,
            "aria-label": inWords(
              choice(this.candidate, type, this.turned),
              first,
              second,
            ),
            disabled: locked,
            click: () => this.choose(type),
          }),
        ),
        this.types.length > named.length
          ? button("All types…", {
              key: key("t"),
              "data-action": "types",
              disabled: locked,
              click: () => this.menu(),
            })
          : null,
        this.types.length
          ? null
          : el("span", {}, "Which relation do you look for? Name its type, or choose none."),
        button("New type…", {
          className: this.types.length ? "quiet" : "primary",
          "data-action": "new",
          disabled: locked,
          click: () => this.newType(),
        }),
      ),
    ];
  }

  /** A menu of all types with a filter. */
  menu() {
    if (!this.allowed()) return;
    const list = el("ul", { class: "menu" });
    const input = el("input", { type: "search", autocomplete: "off", id: "type-filter" });
    const matching = () =>
      this.types.filter((type) => folded(type.name).includes(folded(input.value)));
    const pick = (type) => {
      made.close();
      this.choose(type);
    };
    const draw = () => {
      const found = matching();
      fill(
        list,
        found.length
          ? found.map((type) =>
              el(
                "li",
                {},
                button(
                  [
                    el(
                      "span",
                      { class: `type ${this.shell.palette.relation(type.name)}` },
                      type.name,
                    ),
                    el(
                      "small",
                      {},
                      type.symmetric ? " symmetric " : " directed ",
                      type.description,
                    ),
                  ],
                  { click: () => pick(type) },
                ),
              ),
            )
          : el("li", { class: "soft" }, "No type with this name."),
      );
    };
    input.addEventListener("input", draw);
    const form = el("form", {}, el("label", { for: "type-filter" }, "Filter"), input);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [type] = matching();
      if (type) pick(type);
    });
    const made = dialog(
      "Relation types",
      form,
      list,
      el(
        "p",
        { class: "buttons" },
        button("New type…", {
          click: () => {
            made.close();
            this.newType(true);
          },
        }),
        button("Close", { click: () => made.close() }),
      ),
    );
    draw();
    input.focus();
  }

  /** Asks for a new type; `deciding` is whether a type for this candidate is being chosen. */
  newType(deciding = false) {
    if (!this.allowed()) return;
    const made = dialog(
      "New relation type",
      typeForm(this.shell, {
        deciding,
        close: () => made.close(),
        created: (type, use) => {
          made.close();
          this.draw();
          if (use) this.decide(relationWith(type, this.#directionName()).label);
        },
      }),
    );
    made.querySelector("input").focus();
  }

  #directionName() {
    return this.direction[0] === this.candidate.first ? "forward" : "backward";
  }
}

/** A form that adds a relation type to the project. */
function typeForm(shell, { created, close, deciding }) {
  const name = el("input", {
    id: "type-name",
    required: true,
    maxlength: "60",
    autocomplete: "off",
  });
  const description = el("input", {
    id: "type-description",
    maxlength: "300",
    autocomplete: "off",
  });
  const symmetric = el("input", { type: "radio", name: "direction", value: "symmetric" });
  const directed = el("input", {
    type: "radio",
    name: "direction",
    value: "directed",
    checked: true,
  });
  const message = el("p", { class: "no", role: "alert" });
  const use = el("input", { type: "checkbox", checked: deciding });
  const form = el(
    "form",
    { class: "stack" },
    el("label", { for: "type-name" }, "Name"),
    name,
    el(
      "fieldset",
      {},
      el("legend", {}, "Direction"),
      el(
        "label",
        { class: "check" },
        directed,
        " Directed: the order of the two names matters, as in “Raf activates MEK1”",
      ),
      el(
        "label",
        { class: "check" },
        symmetric,
        " Symmetric: both orders mean the same, as in “Raf binds MEK1”",
      ),
    ),
    el("label", { for: "type-description" }, "Description (optional)"),
    description,
    el("label", { class: "check" }, use, " Decide this candidate as the new type"),
    message,
    el(
      "p",
      { class: "buttons" },
      el("button", { type: "submit", class: "primary" }, "Create type"),
      button("Cancel", { click: close }),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    message.textContent = "";
    try {
      const wanted = name.value.trim();
      const { types } = await post("/api/types", {
        name: wanted,
        symmetric: symmetric.checked,
        description: description.value.trim(),
      });
      shell.setTypes(types);
      created(types.find((type) => type.name === wanted) || types.at(-1), use.checked);
    } catch (error) {
      message.textContent = asSentence(error.message);
    }
  });
  return form;
}
