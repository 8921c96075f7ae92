// Who links to an object.

import { link } from "./address.js";
import { element } from "./dom.js";
import { count, counted, literal } from "./format.js";
import { store } from "./store.js";

// The nodes that show the backlinks of an object as the server has sent it.
export function backlinks(answer) {
  const sources = answer.backlinks ?? [];
  return [
    element("h2", { id: "backlinks-title" }, "Linked from"),
    sources.length === 0 ? element("p", { class: "dim" }, "No object links to this one.") : "",
    ...sources.map((source) => origin(source, answer)),
  ];
}

function origin(source, answer) {
  const rows = source.rows.map(({ row, text }) => element("li", {},
    element("a", { href: link("object", [source.class, row]), class: "link" }, text || '""')));
  const left = source.count - source.rows.length;
  return element("div", { class: "origin" },
    element("h3", {}, `${source.class}.${source.property}`, " ",
      element("span", { class: "dim" }, counted(source.count, "object"))),
    element("ul", {}, ...rows, left > 0 ? element("li", {}, others(source, answer, left)) : null));
}

// The way to the ones that are not named: a table, where a query can ask for them.
function others(source, answer, left) {
  const text = `and ${count(left)} more`;
  const query = condition(source, answer);
  return query
    ? element("a", { href: link("class", [source.class], { query }), class: "link" }, text)
    : element("span", { class: "dim" }, text);
}

function condition(source, answer) {
  const key = store.find(answer.class)?.properties.find((property) => property.key);
  const { kind } = store.property(source.class, source.property);
  const value = key?.type === "Int" ? answer.key : key?.type === "String" ? literal(answer.key) : null;
  if (value === null || !["link", "list", "set"].includes(kind)) return null;
  return `${kind === "link" ? "" : "ANY "}${source.property}.${key.name} == ${value}`;
}
