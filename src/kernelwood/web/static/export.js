// Downloads. Scripts fetch them, so that an error is shown instead of a broken file.

import { fetchFile, get } from "./api.js";
import { el, fill } from "./dom.js";
import { start } from "./shell.js";

/** Lets the browser save a file. */
function save({ blob, name }) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function card(one, predicted) {
  const said = el("div", { class: "soft", role: "status" });
  const button = el(
    "button",
    { type: "button", class: "primary" },
    "Download ",
    el("code", {}, one.name),
  );
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "Preparing…";
    try {
      const path = `/api/export/${encodeURIComponent(one.name)}`;
      const file = await fetchFile(path, { predicted: predicted.checked ? 1 : null });
      save(file);
      fill(
        said,
        el("p", {}, `Saved as ${file.name}.`),
        file.remarks.map((remark) => el("p", { class: "remark" }, remark)),
      );
    } catch (error) {
      said.textContent = `Not exported: ${error.message}`;
    }
    button.disabled = false;
    button.focus();
  });
  return el(
    "li",
    { class: "card" },
    el("h2", {}, one.title),
    el("p", {}, one.description),
    el("p", {}, button),
    said,
  );
}

start(async () => {
  const { rows } = await get("/api/exports");
  const predicted = el("input", { type: "checkbox", id: "predicted" });
  fill(
    document.getElementById("export"),
    el(
      "p",
      {},
      predicted,
      " ",
      el("label", { for: "predicted" }, "Include predicted relations of undecided candidates"),
    ),
    el(
      "ul",
      { class: "downloads" },
      rows.map((one) => card(one, predicted)),
    ),
  );
});
