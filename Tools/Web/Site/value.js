// A value as a whole, as the view of its object shows it.

import { anchor, isCut, isLink, look, nullMark, target, textOf } from "./cell.js";
import { element } from "./dom.js";
import { count, indented } from "./format.js";
import { store } from "./store.js";

// The node of a cell of that property.
export function whole(cell, property) {
  if (cell === null) return nullMark();
  const text = textOf(cell);
  if (isLink(cell) && !store.find(cell.class)?.embedded) {
    return element("span", {}, anchor(cell, text, true), " ", element("span", { class: "dim" }, cell.class));
  }
  if (text === "") return element("span", { class: "dim" }, "empty text");
  const isJSON = property.kind !== "value" && /^[{[]/.test(text);
  const value = isJSON
    ? element("pre", { class: "value" }, isCut(cell) ? text : indented(text))
    : element("span", { class: `value ${look(property)}` }, text);
  return element("div", {}, value,
    isLink(cell)
      ? element("p", {}, element("a", { href: target(cell), class: "link" }, `${cell.class} #${cell.row}`))
      : null,
    isCut(cell)
      ? element("p", { class: "dim" }, `The first ${count(text.length)} of ${count(cell.count)} characters.`)
      : null);
}
