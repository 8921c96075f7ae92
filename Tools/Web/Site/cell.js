// What a cell holds, and how it looks in a table.
//
// A cell is null, a text, or an object with a `text`: a link, which has `class` and `row` as well, or a
// part of something long, which is `cut`.

import { link } from "./address.js";
import { element } from "./dom.js";
import { count, oneLine } from "./format.js";
import { store } from "./store.js";

// The text of a cell; null for null.
export function textOf(cell) {
  return cell !== null && typeof cell === "object" ? cell.text : cell;
}

export function isLink(cell) {
  return cell !== null && typeof cell === "object" && "class" in cell;
}

// Whether there is more than the cell's text.
export function isCut(cell) {
  return cell !== null && typeof cell === "object" && cell.cut === true;
}

export function isSame(one, other) {
  return textOf(one) === textOf(other) && isCut(one) === isCut(other)
    && one?.class === other?.class && one?.row === other?.row && one?.count === other?.count;
}

// The address of what a link leads to.
export function target(cell) {
  return link("object", [cell.class, cell.row]);
}

const codeTypes = /^(Date|Data|UUID|ObjectId)\b/;

// How values of a property are set: "number", "code" or "text".
export function look(property) {
  if (property.numeric) return "number";
  if (["list", "set", "map", "any"].includes(property.kind) || property.embeds) return "code";
  return codeTypes.test(property.type) ? "code" : "text";
}

export function nullMark() {
  return element("span", { class: "null" }, "null");
}

// Puts a cell into a node of a table, in one line.
export function fill(node, cell) {
  node.replaceChildren(inLine(cell));
  node.title = isCut(cell) ? `${count(cell.count)} in all; open the object to see more` : "";
}

function inLine(cell) {
  if (cell === null) return nullMark();
  const text = oneLine(textOf(cell)) + (isCut(cell) ? "…" : "");
  return isLink(cell) ? anchor(cell, text) : document.createTextNode(text);
}

// A link to the object of a cell. It is left out of the order of the Tab key, where `tabs` is false.
export function anchor(cell, text = textOf(cell), tabs = false) {
  const isEmbedded = store.find(cell.class)?.embedded ?? false;
  return element("a",
    {
      href: target(cell), class: isEmbedded ? "embedded" : "link", tabindex: tabs ? null : "-1",
      title: `${cell.class} ${isEmbedded ? "#" + cell.row : textOf(cell)}`,
    },
    text === "" ? '""' : text);
}
