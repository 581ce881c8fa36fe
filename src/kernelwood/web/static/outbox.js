// Decisions on their way to the server, sent one after the other.

import { backoff, isTemporary } from "./api.js";

/**
 * Sends entries in order; an entry leaves when the server has confirmed or refused it.
 *
 * An entry that fails for a temporary reason is sent again, unchanged, with its token: the server
 * stores it once even if only the answer was lost. Others wait behind it, so that undo and the log
 * have the order of the decisions.
 */
export class Outbox {
  /**
   * @param {(entry: object) => Promise<object>} send
   * @param {{changed?: () => void, after?: (run: () => void, seconds: number) => any}} options
   */
  constructor(send, { changed = () => {}, after = (run, s) => setTimeout(run, 1000 * s) } = {}) {
    this.send = send;
    this.changed = changed;
    this.after = after;
    this.entries = [];
    this.error = null; // of the first entry, while it waits for another attempt
    this.attempt = 0;
    this.sending = false;
    this.waiters = [];
  }

  get size() {
    return this.entries.length;
  }

  /** Entry whose attempts have failed so far, or null. */
  get stuck() {
    return this.error ? this.entries[0] : null;
  }

  /** Promise of the answer; rejected if the server refuses the entry. */
  add(entry) {
    return new Promise((resolve, reject) => {
      this.entries.push({ ...entry, resolve, reject });
      this.changed();
      this.#pump();
    });
  }

  /** Sends the first entry now instead of later. */
  retry() {
    this.#pump();
  }

  /** Drops all entries; those the server has stored already remain there. */
  discard() {
    const dropped = this.entries.splice(0);
    this.error = null;
    this.attempt = 0;
    this.#finished();
    return dropped;
  }

  /** Resolved when no entry is on its way. */
  idle() {
    if (!this.size) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  async #pump() {
    if (this.sending || !this.size) return;
    this.sending = true;
    const entry = this.entries[0];
    let finish = null;
    try {
      const answer = await this.send(entry);
      finish = () => entry.resolve(answer);
    } catch (error) {
      if (isTemporary(error)) this.#later(entry, error);
      else finish = () => entry.reject(error);
    }
    this.sending = false;
    if (!finish || this.entries[0] !== entry) return; // to be repeated, or discarded meanwhile
    this.entries.shift();
    this.error = null;
    this.attempt = 0;
    finish();
    this.#finished();
    this.#pump();
  }

  #later(entry, error) {
    if (this.entries[0] !== entry) return;
    this.error = error;
    this.after(() => {
      if (this.entries[0] === entry) this.#pump();
    }, backoff(this.attempt));
    this.attempt += 1;
    this.changed();
  }

  #finished() {
    this.changed();
    if (!this.size) this.waiters.splice(0).forEach((resolve) => resolve());
  }
}

/** Candidates decided in this session, and the one that is looked at. */
export class Trail {
  constructor(ids = []) {
    this.ids = [...ids];
    this.place = this.ids.length; // after the last: the live candidate
  }

  get live() {
    return this.place >= this.ids.length;
  }

  /** A candidate was decided: it is the latest now. */
  add(id) {
    this.ids = [...this.ids.filter((other) => other !== id), id].slice(-500);
    this.place = this.ids.length;
  }

  remove(ids) {
    this.ids = this.ids.filter((id) => !ids.includes(id));
    this.place = this.ids.length;
  }

  /** The candidate before or after (-1, 1); null: the live one; undefined: none. */
  move(step) {
    const place = this.place + step;
    if (place < 0 || place > this.ids.length) return undefined;
    this.place = place;
    return this.live ? null : this.ids[place];
  }
}
