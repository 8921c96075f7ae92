// Elements, made of a name, attributes and children.
//
// Children that are texts become text nodes, never HTML: what a store holds may look like markup.

const svgSpace = "http://www.w3.org/2000/svg";

// An element of HTML. Attributes that begin with "on" are listeners; null and false leave one out.
export function element(name, attributes, ...children) {
  return complete(document.createElement(name), attributes, children);
}

// An element of SVG.
export function shape(name, attributes, ...children) {
  return complete(document.createElementNS(svgSpace, name), attributes, children);
}

function complete(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// A button that does something here and now.
export function button(text, action, attributes) {
  return element("button", { type: "button", onclick: action, ...attributes }, text);
}

export function byId(id) {
  return document.getElementById(id);
}

// Whether keys that are typed now belong to a field.
export function isTyping() {
  return document.activeElement?.matches("input, textarea, select") ?? false;
}
