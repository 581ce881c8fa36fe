// The queue: one candidate at a time.

import { ApiError, get, newToken, post } from "./api.js";
import { Decider } from "./decider.js";
import { button, dialog, el, fill, refill, sentence, statement } from "./dom.js";
import { evidence } from "./evidence.js";
import { openGroup } from "./group.js";
import { bindKeys } from "./keys.js";
import { Outbox, Trail } from "./outbox.js";
import { decisionOf, inWords, NONE, relationOf } from "./relations.js";
import { start } from "./shell.js";
import { asSentence, count, counted, overlay } from "./text.js";

const HELD = 2; // candidates fetched ahead
const TRAIL = "kernelwood-trail";
const SHORTCUTS = "kernelwood-shortcuts";

class Queue {
  constructor(shell) {
    this.shell = shell;
    this.root = document.getElementById("queue");
    this.place = document.getElementById("place");
    this.saved = document.getElementById("saved");
    this.order = document.getElementById("order");
    this.current = null;
    this.buffer = [];
    this.left = shell.status.counts.left;
    this.round = 0; // candidates fetched in an earlier round are stale
    this.filling = null;
    this.failure = null; // why nothing could be fetched
    this.trail = new Trail(this.#stored());
    this.kept = null; // the live candidate, while an earlier one is shown
    this.evidence = new Map();
    this.picked = new Map(); // why candidates were picked, which undo and going back keep
    this.outbox = new Outbox((entry) => shell.send("/api/decisions", entry.body), {
      changed: () => this.#drawSaving(),
    });
    this.decider = new Decider(shell, (label) => this.decide(label), { keys: true });
    this.#build();
  }

  // Building the page.

  #build() {
    this.text = el("p", { class: "sentence" });
    this.origin = el("p", { class: "origin soft" });
    this.banner = el("div", { class: "card-notice" });
    this.actions = el("div", { class: "actions", role: "group", "aria-label": "Other actions" });
    this.card = el(
      "article",
      { class: "card", "aria-label": "Candidate" },
      this.banner,
      this.origin,
      this.text,
      this.decider.element,
      this.actions,
    );
    this.reasons = el("div", { class: "reasons" });
    this.empty = el("div", { class: "empty" });
    this.root.append(this.card, this.reasons, this.empty);
    this.card.hidden = true;
    this.#fillOrders();
    this.#bind();
  }

  #fillOrders() {
    const { orders } = this.shell.project;
    fill(
      this.order,
      orders.map((one) => el("option", { value: one.id, title: one.description }, one.title)),
    );
    this.order.value = this.shell.status.order;
    this.order.disabled = false;
    this.order.addEventListener("change", () => this.#reorder());
  }

  async #reorder() {
    const chosen = this.order.value;
    try {
      if (!this.shell.readOnly) {
        await this.shell.send("/api/settings", { order: chosen });
      }
      this.#forget();
      this.kept = null;
      this.trail.place = this.trail.ids.length;
      await this.advance();
    } catch (error) {
      this.order.value = this.shell.status.order;
      this.shell.failed(error);
    }
  }

  #bind() {
    const help = document.getElementById("help");
    const active = document.getElementById("shortcuts");
    active.checked = localStorage.getItem(SHORTCUTS) !== "off";
    active.addEventListener("change", () =>
      localStorage.setItem(SHORTCUTS, active.checked ? "on" : "off"),
    );
    help.querySelector("[data-close]").addEventListener("click", () => help.close());
    const actions = {
      y: () => this.decider.accept(),
      n: () => this.decider.reject(),
      s: () => this.decider.skip(),
      f: () => this.decider.flip(),
      u: () => this.undo(),
      c: () => this.comment(),
      g: () => this.group(),
      t: () => this.decider.menu(),
      r: () => this.refresh(),
      ArrowLeft: () => this.look(-1),
      ArrowRight: () => this.look(1),
    };
    for (let number = 1; number <= 9; number += 1)
      actions[number] = () => this.decider.press(number);
    const free = () => !document.querySelector("dialog[open]");
    bindKeys(document, actions, () => free() && active.checked);
    this.help = () => help.showModal();
    bindKeys(document, { "?": this.help }, free);
    window.addEventListener("beforeunload", (event) => {
      if (this.outbox.size) event.preventDefault();
    });
    this.shell.onStatus((status, before) => this.#onStatus(status, before));
    this.shell.onReconnect(() => {
      if (!this.current && this.failure) this.advance();
    });
  }

  // Candidates.

  async run() {
    const wanted = new URLSearchParams(location.search).get("candidate");
    if (/^\d+$/.test(wanted || "")) {
      try {
        const candidate = await get(`/api/candidates/${wanted}`);
        history.replaceState(null, "", "/");
        this.show(candidate);
        this.#fill();
        return;
      } catch (error) {
        this.shell.failed(error);
      }
    }
    await this.advance();
  }

  /** Candidates that the next answer must not contain again. */
  #heldIds() {
    const sent = this.outbox.entries.flatMap((entry) => entry.body.candidates);
    const shown = [this.current, this.kept, ...this.buffer].filter(Boolean).map((one) => one.id);
    return [...new Set([...sent, ...shown])];
  }

  async #fetch() {
    const answer = await get("/api/next", {
      order: this.order.value,
      skip: this.#heldIds().join(","),
    });
    this.left = answer.left;
    return answer.candidate;
  }

  /** Fetches candidates ahead, one after the other. */
  #fill() {
    if (!this.filling) {
      this.failure = null;
      this.filling = this.#fillBuffer()
        .catch((error) => {
          this.failure = error;
          this.shell.failed(error);
        })
        .finally(() => {
          this.filling = null;
        });
    }
    return this.filling;
  }

  async #fillBuffer() {
    while (this.buffer.length < HELD) {
      const { round } = this;
      const candidate = await this.#fetch();
      if (round !== this.round) continue; // a new order or model: ask again
      if (!candidate || this.#heldIds().includes(candidate.id)) return;
      this.buffer.push(candidate);
      this.#evidenceOf(candidate).catch(() => {}); // asked again when it is shown
    }
  }

  /** Drops what was fetched ahead. */
  #forget() {
    this.round += 1;
    this.buffer = [];
    this.evidence.clear();
  }

  /** Shows the next candidate. */
  async advance() {
    this.current = this.decider.candidate = null; // keys decide nothing until one is shown
    if (!this.buffer.length) {
      this.#loading();
      await this.#fill();
      if (!this.buffer.length) await this.outbox.idle().then(() => this.#fill());
      if (this.current) return; // another one was shown meanwhile
    }
    const candidate = this.buffer.shift() || null;
    if (candidate) this.show(candidate);
    else if (this.failure) this.#showFailure();
    else this.#showEmpty();
    if (candidate) this.#fill();
  }

  /** The next candidate could not be fetched: asks again on request, or when the server is back. */
  #showFailure() {
    this.card.hidden = true;
    fill(this.reasons);
    this.place.textContent = "";
    fill(
      this.empty,
      el("h2", {}, "The next candidate could not be loaded."),
      el("p", { class: "buttons" }, button("Try again", { click: () => this.advance() })),
    );
  }

  #loading() {
    this.place.textContent = "Loading…";
  }

  show(candidate, { notice = null } = {}) {
    const { id, reason, reason_text } = candidate;
    if (reason) this.picked.set(id, { reason, reason_text });
    else Object.assign(candidate, this.picked.get(id));
    this.current = candidate;
    this.card.hidden = false;
    this.card.dataset.candidate = candidate.id;
    fill(this.empty);
    fill(this.banner, notice);
    this.#drawPlace();
    fill(
      this.origin,
      el(
        "a",
        { href: `/documents/${candidate.document.number}?candidate=${candidate.id}` },
        el("bdi", {}, candidate.document.name),
      ),
      candidate.reason_text ? el("span", { class: "reason" }, candidate.reason_text) : null,
    );
    this.#mark(null);
    this.decider.enabled = !this.outbox.stuck;
    this.decider.show(candidate);
    this.#drawActions();
    this.#drawEvidence(candidate);
  }

  /** Draws the sentence; `here` has words to mark as shared. */
  #mark(here) {
    const { parts, first, second } = this.current;
    fill(
      this.text,
      sentence(here ? overlay(parts, here, "shared") : parts, {
        palette: this.shell.palette,
        first,
        second,
      }),
    );
  }

  /** Tells the state of the last decision: "saving", "saved", "failed", "undone" or "". */
  #tell(state, ...content) {
    this.saved.dataset.state = state;
    fill(this.saved, ...content);
  }

  #drawPlace() {
    const earlier = !this.trail.live;
    this.place.textContent = earlier
      ? `Earlier decision ${this.trail.place + 1} of ${this.trail.ids.length}`
      : `${count(this.shell.status.counts.left)} undecided`;
    this.card.classList.toggle("earlier", earlier);
  }

  #drawActions() {
    const candidate = this.current;
    const { undecided } = candidate.similar;
    const locked = this.shell.readOnly;
    const model = this.shell.status.model;
    const stale = candidate.prediction && model && candidate.prediction.model < model.number;
    refill(
      this.actions,
      button("Undo", {
        key: "u",
        "data-action": "undo",
        disabled: locked,
        click: () => this.undo(),
      }),
      button(candidate.decision && candidate.decision.comment ? "Edit comment" : "Comment", {
        key: "c",
        "data-action": "comment",
        disabled: locked,
        click: () => this.comment(),
      }),
      undecided > 1
        ? button(`Apply to ${count(undecided)} similar`, {
            key: "g",
            className: "group",
            "data-action": "group",
            disabled: locked,
            click: () => this.group(),
          })
        : null,
      el(
        "a",
        { class: "button quiet", href: `/documents?view=similar&candidate=${candidate.id}` },
        "Sentences like this",
      ),
      stale
        ? button(`Update to model ${model.number}`, {
            key: "r",
            className: "quiet",
            "data-action": "refresh",
            click: () => this.refresh(),
          })
        : null,
      el(
        "span",
        { class: "steps" },
        button("", {
          key: "←",
          "aria-keyshortcuts": "ArrowLeft",
          "aria-label": "Earlier decision",
          "data-action": "back",
          disabled: this.trail.place === 0,
          click: () => this.look(-1),
        }),
        button("", {
          key: "→",
          "aria-keyshortcuts": "ArrowRight",
          "data-action": "forward",
          "aria-label": "Later decision, or the current candidate",
          disabled: this.trail.live,
          click: () => this.look(1),
        }),
      ),
      button("Keys", {
        key: "?",
        className: "quiet",
        "data-action": "help",
        click: () => this.help(),
      }),
    );
  }

  #evidenceOf(candidate) {
    const key = `${candidate.id} ${candidate.prediction ? candidate.prediction.model : 0}`;
    if (!this.evidence.has(key)) {
      const asked = get(`/api/candidates/${candidate.id}/evidence`);
      asked.catch(() => this.evidence.delete(key));
      this.evidence.set(key, asked);
      if (this.evidence.size > 20) this.evidence.delete(this.evidence.keys().next().value);
    }
    return this.evidence.get(key);
  }

  async #drawEvidence(candidate) {
    fill(this.reasons);
    if (!candidate.prediction) return;
    try {
      const found = await this.#evidenceOf(candidate);
      if (this.current !== candidate) return;
      fill(
        this.reasons,
        evidence(found, { palette: this.shell.palette, show: (here) => this.#mark(here) }),
      );
    } catch (error) {
      if (this.current === candidate) this.shell.failed(error);
    }
  }

  #showEmpty() {
    this.card.hidden = true;
    fill(this.reasons);
    this.place.textContent = "";
    const { counts } = this.shell.status;
    const order = this.shell.project.orders.find((one) => one.id === this.order.value);
    const done = counts.left === 0;
    const text = done
      ? "All candidates are decided."
      : `This order has no more candidates: ${order.title}.`;
    fill(
      this.empty,
      el("h2", {}, text),
      el(
        "p",
        {},
        done
          ? `${counted(counts.decided, "decision")}, ${counted(counts.relations, "relation")}, ${count(
              counts.skipped,
            )} skipped.`
          : `${counted(counts.left, "candidate")} ${
              counts.left === 1 ? "is" : "are"
            } undecided. Choose another order.`,
      ),
      el(
        "p",
        { class: "buttons" },
        button("Undo the last decision", {
          key: "u",
          disabled: this.shell.readOnly,
          click: () => this.undo(),
        }),
        el("a", { class: "button", href: "/facts" }, "Facts"),
        el("a", { class: "button", href: "/model" }, "Model"),
        el("a", { class: "button primary", href: "/export" }, "Export"),
      ),
    );
    this.shell.announce(text);
  }

  // Decisions.

  decide(label) {
    this.#store([this.current], label);
  }

  /** Stores a decision for candidates; the next one is shown while it is on its way. */
  async #store(candidates, label) {
    if (this.outbox.stuck) return;
    const shown = this.current;
    const live = this.trail.live;
    const relation = label === null ? null : relationOf(label);
    const words =
      candidates.length > 1
        ? `${candidates.length} similar candidates`
        : inWords(relation, shown.first, shown.second);
    const sent = this.outbox.add({
      shown,
      words,
      body: {
        candidates: candidates.map((one) => one.id),
        label,
        comment: "",
        token: newToken(),
        expected: candidates.map((one) => (one.decision ? one.decision.id : null)),
      },
    });
    // Members of a group that were fetched ahead are decided now.
    const ids = new Set(candidates.map((one) => one.id));
    this.buffer = this.buffer.filter((one) => !ids.has(one.id));
    if (live) {
      this.trail.add(shown.id);
      this.advance();
    }
    try {
      const answer = await sent;
      this.#confirm(words, shown, relation, candidates.length);
      const mine = answer.saved.find((one) => one.candidate === shown.id);
      if (mine) shown.decision = this.shell.decisionMade(mine.decision, label, shown);
      this.#remember();
      if (this.current === shown)
        this.show(shown); // an earlier decision was changed
      else this.#drawPlace();
    } catch (error) {
      this.#refused(error, shown, live);
    }
  }

  #confirm(words, shown, relation, n) {
    this.#tell(
      "saved",
      el("span", { class: "yes", "aria-hidden": "true" }, "✓ "),
      "Saved: ",
      n > 1 || !relation || relation.type === NONE
        ? words
        : statement(relation, shown.first, shown.second, this.shell.palette),
    );
    const next =
      this.current && this.current !== shown
        ? ` Next: ${this.current.first.text} and ${this.current.second.text}. ${this.current.sentence.text}`
        : "";
    this.shell.announce(`Saved: ${words}.${next}`);
  }

  /** The server refused a decision: the candidate comes back. */
  #refused(error, shown, live) {
    if (live) this.trail.remove([shown.id]);
    const conflict = error instanceof ApiError && error.code === "conflict";
    const theirs = conflict
      ? error.detail.candidates.find((one) => one.id === shown.id) || error.detail.candidates[0]
      : null;
    const candidate = theirs || shown;
    const text =
      theirs && theirs.decision
        ? el(
            "p",
            {},
            "Not saved: it was decided elsewhere as ",
            statement(theirs.decision.relation, theirs.first, theirs.second, this.shell.palette),
            ". Decide again to change it, or continue.",
          )
        : el("p", {}, `Not saved. ${asSentence(error.message)}`);
    const notice = el(
      "div",
      { class: "notice error", role: "alert" },
      text,
      el("p", { class: "buttons" }, button("Continue", { click: () => this.advance() })),
    );
    this.#tell("failed", el("span", { class: "no" }, "Not saved"));
    this.#putBack(candidate);
    this.show(candidate, { notice });
    this.shell.announce(`Not saved: ${error.message}`);
  }

  /** Keeps the candidate that another one takes the place of. */
  #putBack(candidate) {
    const current = this.trail.live ? this.current : this.kept;
    this.kept = null;
    if (current && current.id !== candidate.id && !decisionOf(current))
      this.buffer.unshift(current);
  }

  #drawSaving() {
    const { stuck, size } = this.outbox;
    if (!size) {
      this.shell.dismiss("outbox");
      this.decider.enable(true);
      return;
    }
    if (!stuck) {
      this.#tell(
        "saving",
        el("span", { class: "spinner", "aria-hidden": "true" }),
        ` Saving… ${size > 1 ? `(${size})` : ""}`,
      );
      return;
    }
    this.decider.enable(false);
    this.#tell("failed", el("span", { class: "no" }, "Not saved"));
    const text =
      `Not saved yet: ${stuck.words}${size > 1 ? `, and ${counted(size - 1, "later decision")}` : ""}. ` +
      `${asSentence(this.outbox.error.message)} It is sent again automatically.`;
    this.shell.notice(
      "outbox",
      "error",
      text,
      button("Send again", { className: "primary", click: () => this.outbox.retry() }),
      button("Discard", { click: () => this.#discard() }),
    );
    if (this.current !== stuck.shown) {
      if (this.trail.live) this.#putBack(stuck.shown);
      this.trail.remove([stuck.shown.id]);
      this.show(stuck.shown);
      this.outbox.idle().then(() => {
        if (this.current === stuck.shown) {
          this.trail.add(stuck.shown.id);
          this.#remember();
          this.advance();
        }
      });
    }
  }

  async #discard() {
    const dropped = this.outbox.discard();
    this.trail.remove(dropped.map((entry) => entry.shown.id));
    this.#tell("");
    // The server may have stored it although the answer was lost.
    try {
      this.show(await get(`/api/candidates/${dropped[0].shown.id}`));
    } catch (error) {
      this.shell.failed(error);
      this.show(dropped[0].shown);
    }
  }

  /** Undoes one more decision; a second key waits for the first undo, and is not lost. */
  undo() {
    if (this.shell.readOnly) return;
    this.undoing = (this.undoing || Promise.resolve()).then(() => this.#undoOne());
  }

  async #undoOne() {
    try {
      await this.outbox.idle();
      const answer = await this.shell.send("/api/undo", { token: newToken() });
      if (!answer.undone.length) {
        this.#tell("", "No decision to undo");
        this.shell.announce("There is no decision to undo.");
        return;
      }
      const { candidate } = answer;
      const words = `Undone: ${counted(answer.undone.length, "decision")}`;
      this.#tell("undone", el("span", { "aria-hidden": "true" }, "↶ "), words);
      this.#putBack(candidate);
      this.buffer = this.buffer.filter((one) => !answer.undone.includes(one.id));
      this.trail.remove(answer.undone);
      this.#remember();
      this.show(candidate);
      this.shell.announce(`${words}. ${candidate.first.text} and ${candidate.second.text}.`);
    } catch (error) {
      this.shell.failed(error);
    }
  }

  async group() {
    if (!this.current || !this.decider.allowed()) return;
    if (this.current.similar.undecided < 2) {
      this.shell.announce("No other undecided candidate has the same path.");
      return;
    }
    try {
      await this.outbox.idle();
      await openGroup(this.shell, this.current, this.decider.turned, (members, label) => {
        this.#store(members, label);
      });
    } catch (error) {
      this.shell.failed(error);
    }
  }

  comment() {
    if (!this.current || !this.decider.allowed()) return;
    const candidate = this.current;
    const field = el("textarea", { rows: 4, maxlength: 2000, id: "comment" });
    field.value = candidate.decision ? candidate.decision.comment : "";
    const message = el("p", { class: "no", role: "alert" });
    const form = el(
      "form",
      { class: "stack" },
      el(
        "label",
        { for: "comment" },
        "Comment on ",
        el("bdi", {}, candidate.first.text),
        " and ",
        el("bdi", {}, candidate.second.text),
      ),
      field,
      message,
      el(
        "p",
        { class: "buttons" },
        el("button", { type: "submit", class: "primary" }, "Save comment"),
        button("Cancel", { click: () => made.close() }),
      ),
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const answer = await post("/api/comments", { candidate: candidate.id, text: field.value });
        made.close();
        this.#tell("", el("span", { class: "yes", "aria-hidden": "true" }, "✓ "), "Comment saved");
        this.shell.announce("Comment saved.");
        if (this.current === candidate) this.show(answer.candidate);
      } catch (error) {
        message.textContent = error.message;
      }
    });
    const made = dialog("Comment", form);
    field.focus();
  }

  // Earlier decisions.

  async look(step) {
    await this.undoing; // an undo on its way shows its candidate, and would take the page back
    const leaving = this.trail.live ? this.current : null;
    const id = this.trail.move(step);
    if (id === undefined) return;
    if (leaving) this.kept = leaving;
    if (id === null) {
      const { kept } = this;
      this.kept = null;
      if (kept) this.show(kept);
      else await this.advance();
      return;
    }
    try {
      await this.outbox.idle();
      const candidate = await get(`/api/candidates/${id}`);
      if (this.trail.ids[this.trail.place] === id) this.show(candidate);
    } catch (error) {
      this.shell.failed(error);
    }
  }

  /** Asks again for the candidate shown, with the prediction of the latest model. */
  async refresh() {
    const asked = this.current;
    if (!asked) return;
    try {
      const candidate = await get(`/api/candidates/${asked.id}`);
      if (this.current !== asked) return;
      this.show(candidate);
    } catch (error) {
      this.shell.failed(error);
    }
  }

  #onStatus(status, before) {
    const number = (one) => (one && one.model ? one.model.number : 0);
    if (number(status) !== number(before)) {
      this.#forget(); // fetched ahead by the order and predictions of the earlier model
      this.#fill();
      // A shown prediction never changes under the fingers; a first prediction is welcome.
      if (this.current && !this.current.prediction) this.refresh();
      else if (this.current) this.#drawActions();
    }
    if (this.current) this.#drawPlace();
    else if (this.empty.childElementCount && !this.failure) this.#showEmpty();
    if (status.order !== this.order.value && status.order !== (before && before.order)) {
      this.order.value = status.order;
    }
  }

  // The trail survives a reload of the page.

  #stored() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(TRAIL) || "null");
      return kept && kept.path === this.shell.project.path ? kept.ids : [];
    } catch {
      return [];
    }
  }

  #remember() {
    sessionStorage.setItem(
      TRAIL,
      JSON.stringify({ path: this.shell.project.path, ids: this.trail.ids }),
    );
  }
}

start(async (shell) => {
  if (shell.readOnly) {
    shell.notice(
      "read-only",
      "info",
      "This project is open read-only: you can look at everything, but decisions are not stored. Another process may be using it.",
    );
  }
  const queue = new Queue(shell);
  await queue.run();
});
