// The frame of every page: project, progress strip, notices, connection.

import { get, listen, onConnection, post } from "./api.js";
import { button, el, Palette } from "./dom.js";
import { relationOf } from "./relations.js";
import { Strip } from "./status.js";
import { asSentence } from "./text.js";

export class Shell {
  constructor() {
    this.notices = document.getElementById("notices");
    this.announcer = document.getElementById("announcer");
    this.strip = new Strip(document.getElementById("strip"), () => this.train());
    this.project = null;
    this.status = null;
    this.received = 0; // statuses by the stream of events
    this.listeners = [];
    this.reconnected = [];
    this.shown = new Map();
  }

  async load() {
    this.setProject(await get("/api/project"));
    const events = listen((status) => {
      this.received += 1;
      this.setStatus(status);
    });
    onConnection((connected) => {
      if (connected) {
        if (!this.dismiss("connection")) return;
        for (const again of this.reconnected) again();
      } else
        this.notice(
          "connection",
          "error",
          "Connection lost. Trying again…",
          button("Try now", { click: () => events.retry() }),
        );
    });
  }

  get readOnly() {
    return this.project.read_only;
  }

  get threshold() {
    return this.status.model ? this.status.model.threshold : null;
  }

  setProject(project) {
    this.project = project;
    this.setTypes(project.types);
    this.setStatus(project.status);
  }

  setTypes(types) {
    this.project.types = types;
    this.palette = new Palette(this.project);
  }

  setStatus(status) {
    const before = this.status;
    this.status = status;
    this.strip.update(status);
    for (const listener of this.listeners) listener(status, before);
  }

  /**
   * Sends a request whose answer has a status. A status that the stream delivers meanwhile may be
   * newer than that of the answer, and one that is as new as the answer follows.
   */
  async send(path, body) {
    const before = this.received;
    const answer = await post(path, body);
    if (this.received === before) this.setStatus(answer.status);
    return answer;
  }

  onStatus(listener) {
    this.listeners.push(listener);
  }

  /** A stored decision as the server would describe it. */
  decisionMade(id, label, candidate) {
    return {
      id,
      relation: label === null ? null : relationOf(label),
      author: this.project.author,
      time: Date.now() / 1000,
      comment: candidate.decision ? candidate.decision.comment : "",
    };
  }

  /** Runs a function when the server answers again: it repeats what failed meanwhile. */
  onReconnect(listener) {
    this.reconnected.push(listener);
  }

  /** Says something to assistive technology. */
  announce(text) {
    this.announcer.textContent = text;
  }

  /** Shows a notice; one with the same name is replaced. */
  notice(name, kind, text, ...actions) {
    const made = el(
      "div",
      { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" },
      el("p", {}, text),
      actions.length ? el("p", { class: "buttons" }, actions) : null,
    );
    this.dismiss(name);
    this.shown.set(name, made);
    this.notices.append(made);
    return made;
  }

  /** Removes a notice; returns whether there was one. */
  dismiss(name) {
    const made = this.shown.get(name);
    if (made) made.remove();
    return this.shown.delete(name);
  }

  /** Shows an error that an action had. */
  failed(error) {
    if (error.name === "AbortError") return;
    if (error.name === "ConnectionError") return; // the notice of the connection says it
    this.notice(
      "failed",
      "error",
      asSentence(error.message),
      button("Close", { click: () => this.dismiss("failed") }),
    );
  }

  async train() {
    try {
      await this.send("/api/train", {});
    } catch (error) {
      this.failed(error);
    }
  }
}

/** Starts a page: loads the project, then runs `page(shell)`. */
export async function start(page) {
  const shell = new Shell();
  try {
    await shell.load();
    await page(shell);
  } catch (error) {
    shell.notice(
      "start",
      "error",
      `The page could not be loaded: ${error.message}`,
      button("Load again", { click: () => location.reload() }),
    );
    if (!["ApiError", "ConnectionError"].includes(error.name)) throw error;
  }
}
