// Forms of filters whose values are in the address of the page.

import { el } from "./dom.js";

/** Runs a function after a pause; calls during the pause start it anew. */
export function debounced(run, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
}

/**
 * Only the last of several requests counts: the ones before are aborted, their answers dropped.
 * @param {(signal: AbortSignal, ...values: any[]) => Promise<any>} ask
 * @param {(answer: any) => void} use
 */
export function latest(ask, use, failed) {
  let controller = null;
  return async (...values) => {
    if (controller) controller.abort();
    const own = new AbortController();
    controller = own;
    try {
      const answer = await ask(own.signal, ...values);
      if (controller === own) use(answer);
    } catch (error) {
      if (controller === own && error.name !== "AbortError") failed(error);
    }
  };
}

/** A field of a form of filters. */
export function field(title, input) {
  return el("label", { class: "field" }, el("span", {}, title), input);
}

export function select(name, options) {
  return el(
    "select",
    { name },
    options.map(([value, text]) => el("option", { value }, text)),
  );
}

export function search(name, title = null) {
  return el("input", { type: "search", name, autocomplete: "off", placeholder: title });
}

export function number(name, attributes = {}) {
  return el("input", { type: "number", name, min: 0, max: 1, step: 0.05, ...attributes });
}

/**
 * Keeps a form, the address and a list in step.
 * @param {HTMLFormElement} form
 * @param {(values: Record<string, string>) => void} changed called at once and after every change
 * @param {Record<string, string>} fixed parameters of the address that are no filters
 */
export function follow(form, changed, fixed = {}) {
  const inputs = [...form.elements].filter((one) => one.name);
  const given = new URLSearchParams(location.search);
  for (const input of inputs) if (given.has(input.name)) input.value = given.get(input.name);
  const values = () => Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()]));
  const apply = () => {
    const set = Object.entries({ ...fixed, ...values() }).filter(([, value]) => value !== "");
    const query = new URLSearchParams(set).toString();
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
    changed(values());
  };
  form.addEventListener("input", debounced(apply, 200));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  apply();
  return { apply };
}
