// One row of a table: its nodes, what the store has in its cells, and what the edits make of them.

import { link } from "./address.js";
import { fill, isCut, isSame, look, textOf } from "./cell.js";
import { button, element } from "./dom.js";
import { edits } from "./edits.js";
import { count } from "./format.js";
import { mark } from "./mark.js";
import { store } from "./store.js";

export class Row {
  // What the store has; null before the first draw.
  cells = null;
  index = 0;
  #className;
  #columns;
  #deletion = null;

  constructor(className, columns, id) {
    this.id = id;
    this.#className = className;
    this.#columns = columns;
    this.anchor = element("a",
      { href: link("object", [className, id]), tabindex: "-1", title: "Open the object" });
    if (store.canEdit(className)) {
      this.#deletion = button("", () => this.toggleDeletion(), { class: "delete", tabindex: "-1" });
    }
    this.nodes = columns.map((column) => element("td", { class: look(column), tabindex: "-1" }));
    this.node = element("tr", {},
      element("th", { scope: "row" }, element("div", {}, this.#deletion, this.anchor)), ...this.nodes);
  }

  // Draws the cells, and marks with `marks` those that are not what they were.
  draw(cells, index, marks) {
    const { deletion, sets } = edits.of(this.#className, this.id);
    this.anchor.textContent = count(index + 1);
    this.node.setAttribute("aria-rowindex", index + 2);
    this.node.classList.toggle("deleted", deletion !== undefined);
    this.node.classList.toggle("conflicting", (deletion?.conflicts.length ?? 0) > 0);
    if (this.#deletion) {
      const label = deletion ? "Keep" : "Delete";
      this.#deletion.textContent = deletion ? "↺" : "×";
      this.#deletion.title = label;
      this.#deletion.setAttribute("aria-label", `${label} row ${index + 1}`);
    }
    this.#columns.forEach((column, number) => {
      const node = this.nodes[number];
      const change = sets.get(column.name);
      const shown = change ? change.new : cells[number];
      const isOther = this.cells && !isSame(this.cells[number], cells[number]);
      if (marks && isOther && !change) mark(node, "changed");
      if (node.shown === undefined || !isSame(node.shown, shown)) fill(node, shown);
      node.shown = shown;
      node.classList.toggle("edited", change !== undefined);
      node.classList.toggle("conflicting", change !== undefined && change.conflicts.length > 0);
    });
    this.cells = cells;
    this.index = index;
  }

  // Shows what is to be done with the row, after the edits have changed.
  redraw() {
    this.draw(this.cells, this.index, false);
  }

  // Shows a cell again, after its node was used for something else.
  refill(number) {
    fill(this.nodes[number], this.nodes[number].shown);
  }

  // The object as edits name it.
  get object() {
    const key = this.#key === null ? null : textOf(this.#key);
    return { class: this.#className, row: this.id, key, label: key ?? "#" + this.id };
  }

  get #key() {
    return this.cells[this.#columns.findIndex((column) => column.key)] ?? null;
  }

  // Whether the value in a column can be edited here: all of it has to be shown.
  canEdit(number) {
    return store.canEdit(this.#className) && (this.#columns[number]?.editable ?? false)
      && !isCut(this.cells[number]) && !isCut(this.#key) && !this.node.classList.contains("deleted");
  }

  // Sets a column to a text, or to null.
  set(number, text) {
    edits.set(this.object, this.#columns[number].name, textOf(this.cells[number]), text);
  }

  // Deletes the object, or keeps it again.
  toggleDeletion() {
    if (!store.canEdit(this.#className) || isCut(this.#key)) return;
    // What is not shown as a whole cannot be compared.
    const shown = this.#columns.map((column, number) => [column.name, this.cells[number]])
      .filter(([, cell]) => !isCut(cell));
    const old = Object.fromEntries(shown.map(([name, cell]) => [name, textOf(cell)]));
    edits.toggleDeletion(this.object, old);
  }
}
