// One property of an object: its name, its type, and its value, which may be edited.

import { isCut, textOf } from "./cell.js";
import { Collection } from "./collection.js";
import { button, element } from "./dom.js";
import { edit } from "./editor.js";
import { edits } from "./edits.js";
import { mark } from "./mark.js";
import { store } from "./store.js";
import { whole } from "./value.js";

export class PropertyLine {
  isEditing = false;
  #part;
  #property;
  #owner;
  #collection = null;
  #value = element("div", { class: "content" });
  #edit;

  // `owner` is told when an edit ends: { object, editingEnds() }.
  constructor(className, part, owner) {
    this.#property = store.property(className, part.name);
    this.#part = part;
    this.#owner = owner;
    this.#edit = button("Edit", () => this.#startEdit(),
      { class: "edit", "aria-label": `Edit ${part.name}` });
    const { type, key } = this.#property;
    this.node = element("tr", { "data-name": part.name },
      element("th", { scope: "row" }, part.name),
      element("td", { class: "type" }, type + (key ? ", primary key" : "")),
      element("td",
        {
          ondblclick: ({ target }) => { if (!target.closest("a, button, textarea")) this.#startEdit(); },
          onkeydown: ({ key }) => { if (key === "F2") this.#startEdit(); },
        },
        element("div", { class: "with-edit" }, this.#value, this.#edit)));
    this.#draw();
  }

  // Takes what the server has sent anew, and marks it if it is something else.
  update(part) {
    if (JSON.stringify(part) === JSON.stringify(this.#part)) return;
    this.#part = part;
    this.#draw();
    mark(this.#value, "changed");
  }

  // Shows the value, or what an edit makes of it.
  drawEdits() {
    if (!this.isEditing) this.#draw();
  }

  // The text that the store has; undefined when not all of it is known.
  get text() {
    return "cell" in this.#part && !isCut(this.#part.cell) ? textOf(this.#part.cell) : undefined;
  }

  get #change() {
    return edits.of(this.#owner.object.class, this.#owner.object.row).sets.get(this.#property.name);
  }

  get #canEdit() {
    const { class: className, row } = this.#owner.object;
    return store.canEdit(className) && this.#property.editable && this.text !== undefined
      && !edits.of(className, row).deletion;
  }

  #draw() {
    const change = this.#change;
    this.#value.classList.toggle("edited", change !== undefined);
    this.#value.classList.toggle("conflicting", change !== undefined && change.conflicts.length > 0);
    this.#edit.hidden = !this.#canEdit;
    if (change) return this.#value.replaceChildren(whole(change.new, this.#property));
    this.#value.replaceChildren("cells" in this.#part
      ? this.#collectionNode() : whole(this.#part.cell, this.#property));
  }

  // The elements are kept for as long as they are the same.
  #collectionNode() {
    if (this.#collection?.part !== this.#part) {
      const earlier = this.#collection;
      const { class: className, row } = this.#owner.object;
      this.#collection = new Collection({ class: className, row }, this.#part);
      if (earlier) this.#collection.catchUp(earlier);
    }
    return this.#collection.element;
  }

  #startEdit() {
    if (this.isEditing || !this.#canEdit) return;
    const change = this.#change;
    this.isEditing = true;
    this.#edit.hidden = true;
    edit(this.#value, this.#property, change ? change.new : this.text, (result, key) => {
      this.isEditing = false;
      if (result) edits.set(this.#owner.object, this.#property.name, this.text, result.text);
      this.#draw();
      if (key) this.#edit.focus();
      this.#owner.editingEnds();
    });
  }
}
