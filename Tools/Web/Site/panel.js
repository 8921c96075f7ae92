// The edits that are not saved yet: a list, each with a way back, and what others have changed.

import { link } from "./address.js";
import { button, byId, element } from "./dom.js";
import { edits } from "./edits.js";
import { brief, counted } from "./format.js";
import { announce, notice } from "./status.js";

const panel = byId("edits");
let saved = () => {};

// Shows the panel whenever there are edits; `onSave` is called after they were saved.
export function startPanel(onSave) {
  saved = onSave;
  edits.onChange(draw);
  addEventListener("keydown", (event) => {
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!isCommand) return;
    if (event.key === "s") {
      event.preventDefault();
      save();
    } else if (event.key === "z" && !event.target.closest("input, textarea, select, dialog")) {
      event.preventDefault();
      edits.undoLast();
    }
  });
}

async function save() {
  if (edits.isEmpty) return;
  const count = edits.list.length;
  const version = await edits.save();
  if (version === null) return announce(edits.failure ?? "");
  notice(`Saved ${counted(count, "edit")} as version ${version}.`);
  saved();
}

function draw() {
  const hadFocus = panel.contains(document.activeElement);
  panel.hidden = edits.isEmpty;
  const scroll = panel.querySelector("ol")?.scrollTop ?? 0;
  panel.replaceChildren(
    element("header", {},
      element("h2", { tabindex: "-1" }, counted(edits.list.length, "edit") + ", not saved"),
      button("Undo last", () => edits.undoLast(), { class: "undo-last", disabled: !edits.canUndo }),
      button("Discard all", () => edits.discardAll(), { class: "discard" }),
      button(edits.isSaving ? "Saving…" : "Save", save, { class: "save main", disabled: edits.isSaving })),
    edits.failure ? element("p", { class: "failure" }, edits.failure) : "",
    element("ol", {}, ...edits.list.map(item)));
  panel.querySelector("ol").scrollTop = scroll;
  if (hadFocus && !panel.hidden) panel.querySelector("h2").focus({ preventScroll: true });
  else if (hadFocus) byId("main").focus({ preventScroll: true });
}

function item(edit) {
  return element("li", { class: edit.conflicts.length || edit.reason ? "refused" : null },
    element("div", { class: "what" }, element("span", {}, ...description(edit)),
      button("Undo", () => edits.drop(edit), { "aria-label": `Undo: ${spoken(edit)}` })),
    edit.reason ? element("p", { class: "failure" }, edit.reason) : "",
    edit.conflicts.length ? conflict(edit) : "");
}

function spoken(edit) {
  return description(edit).map((part) => part.textContent ?? part).join("");
}

function description(edit) {
  const name = `${edit.class} ${edit.label}`.trim();
  if (edit.change === "create") {
    const values = Object.entries(edit.new).map(([property, text]) => `${property} ${brief(text, 30)}`);
    return ["New ", element("b", {}, name), values.length ? `: ${values.join(", ")}` : ""];
  }
  const object = element("a", { href: link("object", [edit.class, edit.row]), class: "link" }, name);
  if (edit.change === "delete") return ["Delete ", object];
  return [object, `: ${edit.property} `, value(edit.old), " → ", value(edit.new)];
}

function value(text) {
  return element("span", { class: text === null ? "value null" : "value" }, brief(text));
}

// What others have made of the object, and the choice that is left.
function conflict(edit) {
  const isGone = edit.conflicts.some((each) => each.gone);
  const lines = isGone
    ? [element("p", {}, "The object is gone.")]
    : edit.conflicts.map((each) => element("p", {},
      `${each.property}: expected `, value(each.expected), ", found ", value(each.found)));
  return element("div", { class: "conflict" }, ...lines,
    button("Drop mine", () => edits.drop(edit), { class: "drop-mine" }),
    isGone ? "" : button("Keep mine", () => edits.keepMine(edit), { class: "keep-mine" }));
}
