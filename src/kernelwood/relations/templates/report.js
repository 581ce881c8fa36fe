"use strict";
// Functions without the page.

const collator = new Intl.Collator("en", { numeric: true });

/** Text without case and accents. */
function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether an item has all that is wanted: words, type, document, kinds, least probability. */
function accepts(item, wanted) {
  return (!wanted.type || item.type === wanted.type) &&
    (!wanted.document || item.document === wanted.document) &&
    (!wanted.kinds.length || wanted.kinds.includes(item.kind)) &&
    !(item.probability < wanted.probability) &&
    wanted.words.every((word) => item.text.includes(word));
}

/** Items in the order of their keys, numbers or texts; those with equal keys stay as they are. */
function ordered(items, key, descending) {
  const sign = descending ? -1 : 1;
  return items
    .map((item, place) => [key(item), place, item])
    .sort(([a, i], [b, j]) =>
      sign * (typeof a === "number" ? a - b : collator.compare(a, b)) || i - j)
    .map((row) => row[2]);
}

/** Spans of characters, written 0-3,14-18. */
function spansOf(written) {
  return (written || "").split(",").filter(Boolean).map((span) => span.split("-").map(Number));
}

/** A text in pieces, each with the first kind of span that it is in, or "". */
function pieces(text, kinds) {
  const characters = [...text];
  const cuts = new Set([0, characters.length]);
  for (const spans of Object.values(kinds)) spans.flat().forEach((place) => cuts.add(place));
  const places = [...cuts].filter((place) => place <= characters.length).sort((a, b) => a - b);
  return places.slice(1).map((end, number) => {
    const start = places[number];
    const inside = ([low, high]) => low <= start && start < high;
    const kind = Object.keys(kinds).find((name) => kinds[name].some(inside)) || "";
    return [characters.slice(start, end).join(""), kind];
  });
}

/** Number of pages, at least 1. */
function pageCount(n, size) {
  return Math.max(1, Math.ceil(n / size));
}

// The page.

const all = (selector, inside) => [...inside.querySelectorAll(selector)];

function element(name, content, kind) {
  const made = document.createElement(name);
  made.append(content);
  if (kind) made.className = kind;
  return made;
}

/** A list with a form of filters, in pages; `blocks` are its parts, which contain items. */
function manage(form, list, size, blocks, itemsOf, textOf, arrange) {
  const described = new Map();
  let page = 0;
  const describe = (item) => {
    if (!described.has(item)) {
      described.set(item, {
        text: folded(textOf(item)), type: item.dataset.t, kind: item.dataset.k || "",
        probability: Number(item.dataset.p),
        document: (item.closest("[data-d]") || item).dataset.d || "",
      });
    }
    return described.get(item);
  };
  const wanted = () => {
    const value = (name) => (form.elements[name] ? form.elements[name].value : "");
    return {
      words: folded(value("words")).split(/\s+/).filter(Boolean), type: value("type"),
      document: value("document"), probability: Number(value("probability")) || 0,
      kinds: value("kinds").split(" ").filter(Boolean),
    };
  };
  const update = () => {
    const want = wanted();
    // Text without relations has no type and no probability.
    const plain = !want.type && !want.kinds.length && !want.probability;
    let n = 0;
    const shown = blocks().filter((block) => {
      const items = itemsOf(block);
      const kept = items.filter((item) => accepts(describe(item), want));
      items.forEach((item) => item.classList.toggle("off", !kept.includes(item)));
      n += kept.length;
      const keep = kept.length > 0 || (plain && accepts(describe(block), want));
      block.classList.toggle("off", !keep);
      return keep;
    });
    const count = pageCount(shown.length, size);
    page = Math.min(page, count - 1);
    shown.forEach((block, place) =>
      block.classList.toggle("later", Math.floor(place / size) !== page));
    for (const article of all("article", list)) {
      const seen = all(":scope > .block:not(.off)", article);
      article.classList.toggle("off", !seen.length);
      article.classList.toggle("later", seen.every((block) => block.classList.contains("later")));
    }
    const noun = form.dataset.noun;
    form.querySelector("output").value = `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
    for (const pager of all(`.pager[data-for="${list.id}"]`, document)) {
      pager.hidden = count === 1;
      pager.querySelector("span").textContent = `Page ${page + 1} of ${count}`;
      const [back, on] = all("button", pager);
      back.disabled = page === 0;
      on.disabled = page === count - 1;
    }
  };
  const turn = (to) => {
    page = to;
    update();
  };
  const clear = () => {
    form.reset();
    arrange();
    turn(0);
  };
  const reveal = (block) => {
    if (!blocks().includes(block)) return;
    if (block.classList.contains("off")) clear();
    const shown = blocks().filter((one) => !one.classList.contains("off"));
    turn(Math.floor(shown.indexOf(block) / size));
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "order") arrange();
    turn(0);
  });
  form.querySelector("button").addEventListener("click", clear);
  for (const pager of all(`.pager[data-for="${list.id}"]`, document)) {
    all("button", pager).forEach((button, place) => button.addEventListener("click", () => {
      turn(page + 2 * place - 1);
      if (list.compareDocumentPosition(pager) & 4) form.scrollIntoView();  // below the list
    }));
  }
  update();
  return { update, reveal };
}

/** Headings of a table become buttons that sort its rows. */
function makeSortable(table, sorted) {
  const body = table.tBodies[0];
  all("thead th", table).forEach((heading, column) => {
    if (!heading.textContent) return;
    const numeric = heading.classList.contains("n");
    const button = element("button", heading.textContent);
    button.type = "button";
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const descending = before ? before === "ascending" : numeric;
      all("thead th", table).forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const key = (row) => {
        const text = row.cells[column].textContent;
        return numeric ? parseFloat(text.replace(/,/g, "")) || 0 : text;
      };
      body.append(...ordered([...body.rows], key, descending));
      sorted();
    });
  });
}

/** The text of a sentence without the types of entities, and the spans of its marks. */
function sentenceOf(node) {
  let text = "";
  const marks = { trigger: [], entity: [] };
  for (const child of node.childNodes) {
    const start = [...text].length;
    if (child.nodeName === "MARK") {
      text += child.firstChild.textContent;
      (marks[child.className] || []).push([start, [...text].length]);
    } else {
      text += child.textContent;
    }
  }
  return { text, marks };
}

function said(title, text, kinds) {
  const made = element("p", element("small", title), "said");
  for (const [piece, kind] of pieces(text, kinds)) {
    made.append(kind ? element(kind === "shared" ? "b" : "mark", piece, kind) : piece);
  }
  return made;
}

/** Both sentences of each training case, with the words that they share. */
function expandEvidence(details) {
  if (details.dataset.done) return;
  details.dataset.done = "1";
  const here = details.closest(".block").querySelector(".text");
  for (const item of all("li[data-c]", details)) {
    const source = document.getElementById(`c${item.dataset.c}`);
    const path = source.querySelector(".path");
    const { text, marks } = sentenceOf(source.querySelector(".sentence"));
    const lines = [said("case", text, { ...marks, shared: spansOf(item.dataset.a) })];
    if (item.dataset.b) {
      lines.push(said("here", sentenceOf(here).text, {
        trigger: spansOf(details.dataset.g), entity: spansOf(details.dataset.e),
        shared: spansOf(item.dataset.b),
      }));
    }
    if (path) lines.push(path.cloneNode(true));
    item.querySelector(".words").replaceWith(...lines);
  }
}

function start() {
  const texts = document.getElementById("texts");
  const lists = [];
  if (texts) {
    const form = document.getElementById("texts-form");
    const flat = element("div", "", "flat");
    const home = new Map(all(".block", texts).map((block) => [block, block.parentNode]));
    for (const [block, parent] of home) block.dataset.n = parent.firstElementChild.textContent;
    const best = (block) => Math.max(-1, ...all("[data-p]", block).map((one) => one.dataset.p));
    texts.append(flat);
    const blocks = () => all(".block", texts);
    const arrange = () => {
      const order = form.elements.order.value;
      for (const [block, parent] of home) parent.append(block);
      if (order) {
        const cards = [...home.keys()].filter((block) => block.querySelector("[data-p]"));
        const least = (block) => Math.min(...all(".rel", block).map((one) => one.dataset.p), 2);
        flat.append(...(order === "high"
          ? ordered(cards, best, true) : ordered(cards, least, false)));
      }
      texts.classList.toggle("by-probability", order !== "");
    };
    const textOf = (item) => {
      const block = item.closest(".block");
      return `${block.dataset.n} ${sentenceOf(block.querySelector(".text")).text} ${
        item === block ? "" : (item.querySelector("summary") || item).textContent}`;
    };
    lists.push(manage(form, texts, 40, blocks, (block) => all("[data-p]", block), textOf,
      arrange));
    texts.addEventListener("toggle", (event) => {
      if (event.target.matches(".rel[open]")) expandEvidence(event.target);
    }, true);
    all(".rel[open]", texts).forEach(expandEvidence);
  }
  for (const table of all("table.sortable", document)) {
    const form = document.getElementById(table.id.replace("table", "form"));
    let sorted = () => {};
    if (form) {
      const rows = () => [...table.tBodies[0].rows];
      const made = manage(form, table, 25, rows, (row) => [row], (row) => row.textContent, sorted);
      sorted = made.update;
      lists.push(made);
    }
    makeSortable(table, sorted);
  }
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest(".block, tr, .cases")) return;
    lists.forEach((list) => list.reveal(target.closest(".block, tr")));
    for (let one = target; one; one = one.parentElement) {
      if (one.nodeName === "DETAILS") one.open = true;
    }
    target.scrollIntoView({ block: "center" });
    const place = target.querySelector("summary") || target;
    if (place === target) target.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  if (location.hash) follow();
}

if (typeof document !== "undefined") start();
