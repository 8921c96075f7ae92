// The elements of a list, a set or a map, a page at a time.

import { read } from "./api.js";
import { anchor, isCut, isLink, nullMark, textOf } from "./cell.js";
import { button, element } from "./dom.js";
import { count, counted } from "./format.js";

// Longer texts get lines of their own.
const shortText = 40;

export class Collection {
  #object;
  #name;
  #list = element("ol", { class: "elements" });
  #more = button("", () => this.#readMore(), { class: "more" });
  #note = element("span", { class: "dim" });
  #shown = 0;

  // `object` is { class, row }, and `part` what the server has sent: the first elements.
  constructor(object, part) {
    this.#object = object;
    this.part = part;
    this.#name = part.name;
    this.element = element("div", { class: "collection" }, this.#note, this.#list, this.#more);
    this.#add(part);
  }

  // Reads as many elements as `other` shows, whose place this one takes.
  async catchUp(other) {
    while (this.#shown < other.#shown && !this.#more.hidden) await this.#readMore();
  }

  #add(part) {
    const nodes = part.cells.map((cell, number) => {
      const head = part.keys ? element("b", {}, part.keys[number]) : count(part.from + number);
      const label = element("span", { class: part.keys ? "key" : "number" }, head);
      return element("li", {}, label, elementOf(cell));
    });
    this.#list.append(...nodes);
    const isLong = (cell) => (textOf(cell)?.length ?? 0) > shortText;
    if (part.cells.some(isLong)) this.#list.classList.add("long");
    this.#shown = part.from + part.cells.length;
    this.#note.textContent = part.count === 0 ? "empty" : counted(part.count, "element");
    this.#list.hidden = part.count === 0;
    const left = part.count - this.#shown;
    this.#more.hidden = left <= 0 || part.cells.length === 0;
    this.#more.textContent = `${count(Math.min(100, left))} more of ${count(left)}`;
  }

  async #readMore() {
    this.#more.disabled = true;
    try {
      const { properties } = await read("object",
        { ...this.#object, property: this.#name, from: this.#shown });
      this.#add(properties[0]);
    } catch (error) {
      if (!error.answer) throw error;
      this.#more.after(element("p", { class: "failure" }, error.message));
      this.#more.hidden = true;
    } finally {
      this.#more.disabled = false;
    }
  }
}

function elementOf(cell) {
  if (cell === null) return nullMark();
  if (isLink(cell)) return anchor(cell, textOf(cell), true);
  return element("span", { class: "value" }, textOf(cell) + (isCut(cell) ? "…" : ""));
}
