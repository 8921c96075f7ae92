// The list of classes, each with the number of its objects, and the ways to the other views.

import { link } from "./address.js";
import { byId, element } from "./dom.js";
import { count } from "./format.js";
import { store } from "./store.js";

let shown = "";
// The names in the list and the nodes of the counts, by class.
let names = null;
let counts = new Map();

// Draws the list as the store is now.
export function drawSidebar() {
  const known = JSON.stringify(store.classes.map((type) => [type.name, type.embedded]));
  if (known !== names) draw();
  names = known;
  for (const type of store.classes) counts.get(type.name).textContent = count(type.count);
}

function draw() {
  const types = store.classes;
  counts = new Map();
  byId("side").replaceChildren(
    heading("Classes"),
    list(types.filter((type) => !type.embedded).map(entry)),
    ...embedded(types.filter((type) => type.embedded)),
    heading("Whole store"),
    list([view("schema", "Schema"), view("store", "Store")]));
  const path = store.description.path;
  byId("title").replaceChildren(element("bdi", {}, store.name));
  byId("title").title = path;
  mark();
}

// Marks the entry of what is shown; the address of another place marks none.
export function markSidebar(address) {
  shown = address;
  mark();
}

function mark() {
  for (const anchor of byId("side").querySelectorAll("a")) {
    if (anchor.getAttribute("href") === shown) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

function heading(text) {
  return element("h2", {}, text);
}

function list(entries) {
  return element("ul", {}, ...entries);
}

function embedded(types) {
  return types.length === 0 ? [] : [heading("Embedded"), list(types.map(entry))];
}

function entry(type) {
  const number = element("span", { class: "count" });
  counts.set(type.name, number);
  return element("li", {},
    element("a", { href: link("class", [type.name]) },
      element("span", { class: "name" }, type.name), " ", number));
}

function view(name, title) {
  return element("li", {}, element("a", { href: link(name) }, title));
}
