// One document: its text with entities, and the list of its candidates.

import { get, newToken } from "./api.js";
import { Decider } from "./decider.js";
import { button, el, fill, pairOrStatement, probability, sentence, stateTag, svg } from "./dom.js";
import { evidence } from "./evidence.js";
import { field, number, select } from "./filters.js";
import { arc } from "./geometry.js";
import { argumentsOf, decisionOf, NONE, relationShown, stateOf } from "./relations.js";
import { start } from "./shell.js";
import { count, counted, overlay, segments } from "./text.js";

/** Whether a candidate has what the filters ask for. */
export function accepts(candidate, { show, type, low, entity }) {
  const state = stateOf(candidate);
  const relation = relationShown(candidate);
  if (show === "relations" && !["accepted", "predicted"].includes(state)) return false;
  if (show === "undecided" && decisionOf(candidate)) return false;
  if (["accepted", "rejected", "skipped"].includes(show) && state !== show) return false;
  if (type && !(relation && relation.type === type)) return false;
  if (entity && candidate.first !== entity && candidate.second !== entity) return false;
  return !(low > 0) || Boolean(candidate.prediction && candidate.prediction.probability >= low);
}

class DocumentPage {
  constructor(shell, content) {
    this.shell = shell;
    this.content = content;
    this.entities = new Map(content.entities.map((one) => [one.key, one]));
    this.marks = new Map(); // entity -> its elements in the text
    this.open = null;
    this.#build();
    this.#select(new URLSearchParams(location.search).get("candidate"));
  }

  #build() {
    const { content } = this;
    const { types } = this.shell.project;
    this.form = el(
      "form",
      { class: "filters", "aria-label": "Filter candidates" },
      field(
        "Show",
        select("show", [
          ["relations", "relations"],
          ["all", "all candidates"],
          ["undecided", "undecided"],
          ["accepted", "accepted"],
          ["rejected", "decided as none"],
          ["skipped", "skipped"],
        ]),
      ),
      field("Type", select("type", [["", "all types"], ...types.map(({ name }) => [name, name])])),
      field("Probability from", number("low")),
      field(
        "Entity",
        select("entity", [
          ["", "all entities"],
          ...content.entities.map(({ key, text, spans }) => [key, `${text} (${spans[0][0]})`]),
        ]),
      ),
    );
    this.form.addEventListener("input", () => this.#list());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.total = el("p", { class: "total soft", role: "status" });
    this.list = el("ul", { class: "rows side-rows" });
    this.text = el("div", { class: "text" }, this.#marked());
    this.arcs = svg("svg", { class: "arcs", "aria-hidden": "true" });
    this.page = el("div", { class: "page" }, this.text, this.arcs);
    const link = (target, name, key) =>
      target === null
        ? el("span", { class: "button quiet", "aria-disabled": "true" }, name)
        : el("a", { class: "button quiet", href: `/documents/${target}`, rel: key }, name);
    fill(
      document.getElementById("document"),
      el(
        "div",
        { class: "document-head" },
        el("h1", {}, el("bdi", {}, content.name)),
        el(
          "nav",
          { "aria-label": "Documents" },
          link(content.previous, "Previous", "prev"),
          link(content.next, "Next", "next"),
        ),
      ),
      this.#legend(),
      el(
        "div",
        { class: "document-columns" },
        this.page,
        el(
          "section",
          { class: "side-list", "aria-labelledby": "list-title" },
          el("h2", { id: "list-title" }, "Relations"),
          this.form,
          this.total,
          this.list,
        ),
      ),
    );
    this.#list();
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      this.#draw(this.drawn || []);
    }).observe(this.page);
  }

  #legend() {
    const types = [...new Set(this.content.entities.map((one) => one.type))];
    return el(
      "p",
      { class: "legend" },
      el("span", { class: "soft" }, "Entities: "),
      types.map((type) =>
        el("mark", { class: `name ${this.shell.palette.entity(type)}` }, type || "(no type)"),
      ),
    );
  }

  /** The text with its entities; where entities overlap, the first one is marked. */
  #marked() {
    const spans = [];
    const keys = [];
    for (const entity of this.content.entities) {
      for (const span of entity.spans) {
        spans.push(span);
        keys.push(entity.key);
      }
    }
    return segments(this.content.text, spans).map(([text, members]) => {
      if (!members.length) return text;
      const own = [...new Set(members.map((place) => keys[place]))];
      const entity = this.entities.get(own[0]);
      const mark = el(
        "mark",
        { class: `name ${this.shell.palette.entity(entity.type)}`, title: entity.type },
        text,
      );
      for (const key of own) this.marks.set(key, [...(this.marks.get(key) || []), mark]);
      mark.addEventListener("mouseenter", () => this.#hover(own[0]));
      mark.addEventListener("mouseleave", () => this.#draw(this.open ? [this.open] : []));
      mark.addEventListener("click", () => {
        this.form.elements.entity.value = own[0];
        this.#list();
      });
      return mark;
    });
  }

  #filters() {
    const { show, type, low, entity } = this.form.elements;
    return { show: show.value, type: type.value, low: Number(low.value), entity: entity.value };
  }

  #hover(key) {
    this.#draw(
      this.content.candidates.filter(
        (one) =>
          (one.first === key || one.second === key) &&
          ["accepted", "predicted"].includes(stateOf(one)),
      ),
    );
  }

  #list() {
    const wanted = this.#filters();
    this.shown = this.content.candidates.filter((one) => accepts(one, wanted));
    const clear = wanted.entity
      ? [
          " ",
          button("All entities", {
            className: "quiet",
            click: () => {
              this.form.elements.entity.value = "";
              this.#list();
            },
          }),
        ]
      : null;
    const [n, all] = [this.shown.length, this.content.candidates.length];
    fill(this.total, n < all ? `${count(n)} of ` : "", counted(all, "candidate"), clear);
    fill(
      this.list,
      this.shown.map((one) => this.#item(one)),
    );
  }

  #names(candidate) {
    return [this.entities.get(candidate.first), this.entities.get(candidate.second)];
  }

  #item(candidate) {
    const { palette, threshold } = this.shell;
    const [first, second] = this.#names(candidate);
    const { prediction } = candidate;
    const relation = relationShown(candidate);
    const panel = el("div", { class: "panel", id: `panel-${candidate.id}`, hidden: true });
    const opener = el(
      "button",
      {
        type: "button",
        class: "row-button",
        "aria-expanded": "false",
        "aria-controls": panel.id,
        "data-id": candidate.id,
        click: () => this.#toggle(candidate, opener, panel),
        focus: () => this.#draw([candidate]),
      },
      pairOrStatement(relation, first, second, palette),
      el(
        "span",
        { class: "row-state" },
        prediction ? probability(prediction.probability, threshold) : null,
        stateTag(candidate),
      ),
    );
    return el(
      "li",
      {
        class: `row ${relation ? palette.relation(relation.type) : ""}`,
        mouseenter: () => this.#draw([candidate]),
        mouseleave: () => this.#draw(this.open ? [this.open] : []),
      },
      opener,
      panel,
    );
  }

  async #toggle(candidate, opener, panel) {
    const opened = panel.hidden;
    for (const other of this.list.querySelectorAll(".panel:not([hidden])")) {
      other.hidden = true;
      other.previousElementSibling.setAttribute("aria-expanded", "false");
    }
    opener.setAttribute("aria-expanded", String(opened));
    panel.hidden = !opened;
    this.open = opened ? candidate : null;
    this.#draw(opened ? [candidate] : []);
    if (opened) {
      this.#scrollTo(candidate);
      await this.#openPanel(candidate, panel);
    }
  }

  async #openPanel(candidate, panel) {
    try {
      const full = await get(`/api/candidates/${candidate.id}`);
      const { palette } = this.shell;
      const names = { palette, first: full.first, second: full.second };
      const text = el("p", { class: "row-text" }, sentence(full.parts, names));
      const mark = (here) =>
        fill(text, sentence(here ? overlay(full.parts, here, "shared") : full.parts, names));
      const decider = new Decider(this.shell, (label) =>
        this.#decide(candidate, full, label, panel),
      );
      decider.show(full);
      const reasons = el("div");
      fill(
        panel,
        text,
        decider.element,
        reasons,
        el(
          "p",
          { class: "row-links" },
          el("a", { href: `/?candidate=${candidate.id}` }, "Open in the queue"),
          el(
            "a",
            { href: `/documents?view=similar&candidate=${candidate.id}` },
            "Sentences like this",
          ),
        ),
      );
      if (full.prediction) {
        const found = await get(`/api/candidates/${candidate.id}/evidence`);
        fill(
          reasons,
          el(
            "details",
            {},
            el("summary", {}, "Evidence"),
            evidence(found, { palette, show: mark }),
          ),
        );
      }
    } catch (error) {
      this.shell.failed(error);
    }
  }

  async #decide(candidate, full, label, panel) {
    try {
      const answer = await this.shell.send("/api/decisions", {
        candidates: [candidate.id],
        label,
        comment: "",
        token: newToken(),
        expected: [full.decision ? full.decision.id : null],
      });
      candidate.decision = this.shell.decisionMade(answer.saved[0].decision, label, full);
      this.shell.announce("Saved.");
      this.#redraw(candidate);
    } catch (error) {
      if (error.code === "conflict") {
        candidate.decision = error.detail.candidates[0].decision;
        this.#openPanel(candidate, panel);
      }
      this.shell.failed(error);
    }
  }

  /** Draws the row of a decided candidate again, and keeps the focus on it. */
  #redraw(candidate) {
    const before = this.list.querySelector(`[data-id="${candidate.id}"]`).closest("li");
    const made = this.#item(candidate);
    before.replaceWith(made);
    this.open = null;
    made.querySelector("button").focus();
  }

  #select(id) {
    const candidate = this.content.candidates.find((one) => String(one.id) === id);
    if (!candidate) return;
    if (!this.shown.includes(candidate)) {
      this.form.elements.show.value = "all";
      this.#list();
    }
    const opener = this.list.querySelector(`[data-id="${candidate.id}"]`);
    opener.click();
    opener.scrollIntoView({ block: "nearest" });
  }

  #scrollTo(candidate) {
    const [mark] = this.marks.get(candidate.first) || [];
    if (mark) mark.scrollIntoView({ block: "nearest" });
  }

  /** Draws arcs over the text between the arguments of candidates. */
  #draw(candidates) {
    this.drawn = candidates;
    for (const mark of this.text.querySelectorAll(".linked")) mark.classList.remove("linked");
    const frame = this.page.getBoundingClientRect();
    const boxOf = (mark) => {
      const { x, y, width, height } = mark.getClientRects()[0];
      return { x: x - frame.x, y: y - frame.y, width, height };
    };
    fill(
      this.arcs,
      candidates.map((candidate) => {
        const [one] = this.marks.get(candidate.first) || [];
        const [other] = this.marks.get(candidate.second) || [];
        if (!one || !other) return null;
        one.classList.add("linked");
        other.classList.add("linked");
        const relation = relationShown(candidate);
        const shown = relation && relation.type !== NONE ? relation : { type: "", direction: null };
        const [from, to] = argumentsOf(shown, one, other);
        const made = arc(boxOf(from), boxOf(to));
        return svg(
          "g",
          { class: shown.type ? this.shell.palette.relation(shown.type) : "r-none" },
          svg("path", { class: decisionOf(candidate) ? "arc" : "arc guess", d: made.path }),
          shown.direction ? svg("path", { class: "head", d: made.head }) : null,
          shown.type
            ? svg("text", { x: made.x, y: made.y - 3, "text-anchor": "middle" }, shown.type)
            : null,
        );
      }),
    );
  }
}

if (typeof document !== "undefined") {
  start(async (shell) => {
    const id = location.pathname.split("/").at(-1);
    new DocumentPage(shell, await get(`/api/documents/${encodeURIComponent(id)}`));
  });
}
