// Requests to the server of the page.

/** An answer with an error, `{"error": {"code", "message", …}}`. */
export class ApiError extends Error {
  constructor(status, detail) {
    super(detail.message);
    this.name = "ApiError";
    this.status = status;
    this.code = detail.code;
    this.detail = detail;
  }
}

/** The server did not answer. */
export class ConnectionError extends Error {
  constructor() {
    super("The server does not answer.");
    this.name = "ConnectionError";
  }
}

/** Whether the same request may succeed later. */
export function isTemporary(error) {
  return (
    error instanceof ConnectionError ||
    (error instanceof ApiError && (error.status >= 500 || [401, 403, 429].includes(error.status)))
  );
}

/** Seconds to wait before the next attempt, from half a second to 20 seconds. */
export function backoff(attempt) {
  return Math.min(20, 0.5 * 2 ** attempt);
}

/** An address with parameters; those that are empty are left out. */
export function address(path, parameters = {}) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

/** A new idempotency key. */
export function newToken() {
  // randomUUID exists only in secure contexts, which http://127.0.0.1 is and http://host is not.
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const listeners = new Set();

/** Calls a function with true or false whenever a request reaches the server or does not. */
export function onConnection(listener) {
  listeners.add(listener);
}

function report(connected) {
  for (const listener of listeners) listener(connected);
}

/** The answer to a request, whatever its status. */
async function ask(method, url, { body, signal } = {}) {
  const options = { method, signal, cache: "no-store", credentials: "same-origin", headers: {} };
  if (method === "POST") {
    options.headers = { "Content-Type": "application/json", "X-Kernelwood": "1" };
    options.body = JSON.stringify(body);
  }
  try {
    const answer = await fetch(url, options);
    report(true);
    return answer;
  } catch (error) {
    if (signal && signal.aborted) throw error;
    report(false);
    throw new ConnectionError();
  }
}

function failure(status, content) {
  const fallback = { code: "status", message: `The server answered with status ${status}.` };
  return new ApiError(status, (content && content.error) || fallback);
}

async function request(method, url, options = {}) {
  const answer = await ask(method, url, options);
  let content = null;
  try {
    content = await answer.json();
  } catch (error) {
    if (options.signal && options.signal.aborted) throw error;
  }
  if (!answer.ok || content === null) throw failure(answer.status, content);
  return content;
}

export function get(path, parameters, options) {
  return request("GET", address(path, parameters), options);
}

export function post(path, body, options) {
  return request("POST", path, { ...options, body });
}

/** Fetches a file and its name. */
export async function fetchFile(path, parameters) {
  const answer = await ask("GET", address(path, parameters));
  if (!answer.ok) throw failure(answer.status, await answer.json().catch(() => null));
  return {
    blob: await answer.blob(),
    name: fileName(answer.headers.get("Content-Disposition")),
    remarks: JSON.parse(answer.headers.get("X-Kernelwood-Remarks") || "[]"),
  };
}

/** The file name in a header `attachment; filename="…"`. */
export function fileName(header) {
  const found = /filename="([^"]*)"/.exec(header || "");
  return found ? found[1] : "download";
}

/**
 * Calls `onStatus` with every status that the server sends, as long as the page is visible.
 *
 * A hidden page closes the stream: browsers allow six connections to a server, which many open
 * tabs would use up.
 */
export function listen(onStatus) {
  let source = null;
  let attempt = 0;
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  };
  const open = () => {
    close();
    source = new EventSource("/api/events");
    source.addEventListener("open", () => {
      attempt = 0;
      report(true);
    });
    source.addEventListener("status", (event) => onStatus(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      close();
      report(false);
      timer = setTimeout(open, 1000 * backoff(attempt));
      attempt += 1;
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
  return { retry: open };
}
