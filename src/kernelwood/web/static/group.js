// The group of candidates with the same path, decided at once.

import { get } from "./api.js";
import { button, dialog, el, fill, sentence } from "./dom.js";
import { bindKeys } from "./keys.js";
import { arrowOf, choice, NONE, proposal } from "./relations.js";
import { counted } from "./text.js";

/**
 * Whether the box of a candidate is ticked from the beginning: it is predicted to be the relation
 * that is applied, or there is no prediction.
 */
export function agrees({ prediction }, relation) {
  if (!prediction) return true;
  return prediction.positive && Boolean(relation) && prediction.relation.label === relation.label;
}

/** Opens the list of similar candidates; `decide(candidates, label)` stores the decision. */
export async function openGroup(shell, candidate, turned, decide) {
  const answer = await get(`/api/candidates/${candidate.id}/similar`);
  const members = answer.group.some((one) => one.id === candidate.id)
    ? answer.group
    : [candidate, ...answer.group];
  const relation = proposal(candidate, turned);
  const boxes = members.map((one) =>
    el("input", {
      type: "checkbox",
      checked: agrees(one, relation),
      value: one.id,
      "aria-label": `${one.first.text} and ${one.second.text}`,
    }),
  );
  const { types } = shell.project;
  const actions = el("div", {
    class: "choices",
    role: "group",
    "aria-label": "Decision for the chosen candidates",
  });
  const chosen = () => members.filter((_, place) => boxes[place].checked);
  const apply = (label) => {
    const some = chosen();
    if (!some.length) return;
    made.close();
    decide(some, label);
  };
  const draw = () => {
    const n = chosen().length;
    all.checked = n === members.length;
    all.indeterminate = n > 0 && n < members.length;
    fill(
      actions,
      el(
        "div",
        { class: "main-choices" },
        relation
          ? button(
              [
                "Apply ",
                el(
                  "span",
                  { class: `type ${shell.palette.relation(relation.type)}` },
                  relation.type,
                  arrowOf(relation),
                ),
                ` to ${n}`,
              ],
              {
                key: "y",
                className: "accept",
                disabled: !n,
                click: () => apply(relation.label),
              },
            )
          : null,
        button(`None for ${n}`, {
          key: "n",
          className: "reject",
          disabled: !n,
          click: () => apply(NONE),
        }),
      ),
      el(
        "div",
        { class: "type-choices" },
        types
          .filter((type) => type.key !== null)
          .map((type) =>
            button(el("span", { class: `type ${shell.palette.relation(type.name)}` }, type.name), {
              key: String(type.key),
              disabled: !n,
              click: () => apply(choice(candidate, type, turned).label),
            }),
          ),
      ),
    );
  };
  const all = el("input", { type: "checkbox" });
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    draw();
  });
  const list = el(
    "ul",
    { class: "group-list" },
    members.map((one, place) =>
      el(
        "li",
        {},
        el(
          "label",
          {},
          boxes[place],
          el(
            "span",
            {},
            sentence(one.parts, {
              palette: shell.palette,
              first: one.first,
              second: one.second,
              brief: true,
            }),
            el("small", {}, " ", el("bdi", {}, one.document.name)),
          ),
        ),
      ),
    ),
  );
  list.addEventListener("change", draw);
  const more =
    answer.total > members.length
      ? el(
          "p",
          { class: "soft" },
          `The first ${members.length} of ${counted(answer.total, "candidate")}.`,
        )
      : null;
  const made = dialog(
    `${counted(members.length, "similar candidate")}`,
    el(
      "p",
      { class: "soft" },
      "Undecided candidates with the same entity types and the same dependency path. Those that the model predicts otherwise are not ticked. One undo takes all of them back.",
    ),
    el("label", { class: "check" }, all, " All"),
    list,
    more,
    actions,
    el("p", { class: "buttons" }, button("Close", { click: () => made.close() })),
  );
  made.classList.add("wide");
  draw();
  const keys = { y: () => relation && apply(relation.label), n: () => apply(NONE) };
  for (const type of types.filter((one) => one.key !== null)) {
    keys[String(type.key)] = () => apply(choice(candidate, type, turned).label);
  }
  bindKeys(made, keys, () => true);
}
