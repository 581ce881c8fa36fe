// Facts: a table with filters, and a network drawing.

import { get } from "./api.js";
import { button, el, fill, pager, probability, sentence } from "./dom.js";
import { field, follow, latest, number, search, select } from "./filters.js";
import { network } from "./network.js";
import { start } from "./shell.js";
import { asSentence, count, counted } from "./text.js";

const LIMIT = 50;
const COLUMNS = [
  ["first", "First"],
  ["type", "Type"],
  ["second", "Second"],
  ["count", "Relations"],
  ["probability", "Probability"],
];

class FactsPage {
  constructor(shell) {
    this.shell = shell;
    this.offset = 0;
    this.values = {};
    this.#build();
  }

  #build() {
    const { types } = this.shell.project;
    this.form = el(
      "form",
      { class: "filters", role: "search", "aria-label": "Filter facts" },
      field("Search", search("words", "names")),
      field("Type", select("type", [["", "all types"], ...types.map(({ name }) => [name, name])])),
      field(
        "Source",
        select("decided", [
          ["all", "decided and predicted"],
          ["decided", "decided"],
          ["predicted", "predicted"],
        ]),
      ),
      field("Probability from", number("low")),
      field("to", number("high")),
      field(
        "Sort by",
        select("sort", [
          ["probability", "probability"],
          ["count", "number of relations"],
          ["first", "first entity"],
          ["type", "type"],
          ["second", "second entity"],
        ]),
      ),
    );
    this.total = el("p", { class: "total soft", role: "status" });
    this.list = el("div", { class: "list" });
    this.picture = el("div");
    this.legend = el("p", { class: "legend" });
    fill(
      document.getElementById("facts"),
      this.form,
      el(
        "details",
        { open: window.innerWidth > 700, class: "network-details" },
        el("summary", {}, "Network"),
        this.legend,
        this.picture,
      ),
      this.total,
      this.list,
    );
    this.load = latest(
      (signal) =>
        get("/api/facts", { ...this.values, offset: this.offset, limit: LIMIT }, { signal }),
      (answer) => this.#draw(answer),
      (error) => this.shell.failed(error),
    );
    this.loadNetwork = latest(
      (signal) =>
        get("/api/network", { type: this.values.type, low: this.values.low, n: 60 }, { signal }),
      (answer) => this.#drawNetwork(answer),
      (error) => this.shell.failed(error),
    );
    this.shell.onReconnect(() => {
      this.load();
      this.loadNetwork();
    });
    this.following = follow(this.form, (values) => this.#changed(values));
  }

  #changed(values) {
    const redraw = this.values.type !== values.type || this.values.low !== values.low;
    this.values = values;
    this.offset = 0;
    this.load();
    if (redraw) this.loadNetwork();
  }

  #drawNetwork(drawing) {
    if (drawing.empty) {
      fill(this.legend);
      fill(this.picture, el("p", { class: "soft" }, asSentence(drawing.empty)));
      return;
    }
    const { palette } = this.shell;
    const types = [...new Set(drawing.edges.map((edge) => edge.type))];
    fill(
      this.legend,
      types.map((type) => el("span", { class: `type ${palette.relation(type)}` }, type)),
    );
    fill(
      this.picture,
      network(
        drawing,
        palette,
        (...names) => {
          // Names in the drawing may be cut.
          this.form.elements.words.value = names.map((name) => name.replace(/…$/, "")).join(" ");
          this.following.apply();
          this.total.scrollIntoView({ block: "nearest" });
          this.shell.announce(`Filtered by ${names.join(" and ")}.`);
        },
        this.picture.clientWidth || 320,
      ),
    );
  }

  #draw({ total, rows }) {
    const clear = this.values.words
      ? [
          " ",
          button("Clear the search", {
            className: "quiet",
            click: () => {
              this.form.elements.words.value = "";
              this.following.apply();
            },
          }),
        ]
      : null;
    fill(this.total, counted(total, "fact"), clear);
    const go = (place) => {
      this.offset = place;
      this.load();
    };
    fill(
      this.list,
      rows.length
        ? this.#table(rows)
        : el("p", { class: "soft" }, "No facts. Decide candidates or change the filters."),
      pager({ offset: this.offset, limit: LIMIT, total, go }),
    );
  }

  #table(rows) {
    const heads = COLUMNS.map(([name, title]) =>
      el(
        "th",
        {
          scope: "col",
          class: ["count", "probability"].includes(name) ? "n" : null,
          "aria-sort":
            this.values.sort === name
              ? ["count", "probability"].includes(name)
                ? "descending"
                : "ascending"
              : null,
        },
        button(title, {
          className: "sort",
          click: () => {
            this.form.elements.sort.value = name;
            this.following.apply();
          },
        }),
      ),
    );
    return el(
      "table",
      { class: "facts stacked" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads,
          el("th", { scope: "col", class: "n" }, "Documents"),
          el("th", { scope: "col" }, "Source"),
          el("th", { scope: "col" }, el("span", { class: "hidden" }, "Sentences")),
        ),
      ),
      rows.map((fact) => this.#fact(fact)),
    );
  }

  #fact(fact) {
    const { palette, threshold } = this.shell;
    const name = `${fact.first} ${fact.type} ${fact.second}`;
    const more = el("tr", { class: "more", hidden: true }, el("td", { colspan: 8 }));
    const opener = button("Sentences", {
      className: "quiet",
      "aria-expanded": "false",
      "aria-label": `Sentences of ${name}`,
      click: () => {
        more.hidden = !more.hidden;
        opener.setAttribute("aria-expanded", String(!more.hidden));
        if (!more.hidden && !more.firstElementChild.childElementCount)
          fill(more.firstElementChild, this.#sentences(fact));
      },
    });
    const entity = (text, type) => [el("bdi", {}, text), " ", el("small", { class: "soft" }, type)];
    return el(
      "tbody",
      { class: palette.relation(fact.type) },
      el(
        "tr",
        {},
        el("th", { scope: "row" }, entity(fact.first, fact.first_type)),
        el(
          "td",
          {},
          el("span", { class: "type" }, fact.type),
          el("span", { "aria-hidden": "true", class: "arrow" }, fact.directed ? " →" : " –"),
        ),
        el("td", {}, entity(fact.second, fact.second_type)),
        el(
          "td",
          { class: "n", "data-name": fact.count === 1 ? "relation" : "relations" },
          count(fact.count),
        ),
        el(
          "td",
          { class: "n", "data-name": "probability" },
          probability(fact.probability, threshold),
        ),
        el(
          "td",
          { class: "n", "data-name": fact.n_documents === 1 ? "document" : "documents" },
          count(fact.n_documents),
        ),
        el(
          "td",
          {},
          fact.n_decided
            ? el(
                "span",
                { class: "state accepted" },
                `✓ ${counted(fact.n_decided, "decided", "decided")}`,
              )
            : el("span", { class: "state predicted" }, "◇ predicted"),
        ),
        el("td", {}, opener),
      ),
      more,
    );
  }

  #sentences(fact) {
    const names = {
      palette: this.shell.palette,
      first: { type: fact.first_type },
      second: { type: fact.second_type },
      brief: true,
    };
    return [
      el(
        "ul",
        { class: "rows" },
        fact.sentences.map((one) =>
          el(
            "li",
            { class: "row" },
            el("p", { class: "row-text" }, sentence(one.parts, names)),
            el(
              "p",
              { class: "row-links" },
              probability(one.probability, this.shell.threshold),
              el("a", { href: `/?candidate=${one.candidate}` }, "Decide"),
              el("bdi", { class: "soft" }, one.document),
            ),
          ),
        ),
      ),
      fact.count > fact.sentences.length
        ? el("p", { class: "soft" }, `The ${fact.sentences.length} most probable of ${fact.count}.`)
        : null,
    ];
  }
}

start(async (shell) => {
  new FactsPage(shell);
});
