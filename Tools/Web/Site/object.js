// One object: all its properties, and who links to it.

import { go, remembered, tableOf } from "./address.js";
import { read } from "./api.js";
import { backlinks } from "./backlinks.js";
import { button, element } from "./dom.js";
import { edits } from "./edits.js";
import { PropertyLine } from "./property.js";
import { Reread } from "./reread.js";
import { store } from "./store.js";

export class ObjectView {
  #name;
  #row;
  #answer = null;
  #lines = new Map();
  #heading = element("bdi");
  #crumb = element("bdi", { "aria-current": "page" });
  #deletion = button("", () => this.#toggleDeletion(), { class: "delete-object", hidden: true });
  #body = element("tbody");
  #links = element("section", { class: "backlinks", "aria-labelledby": "backlinks-title" });
  #failure = element("p", { class: "failure", role: "alert", hidden: true });
  #reread = new Reread(() => this.#read(), 200);
  #drawEdits = () => this.#showEdits();

  constructor({ names: [name, row] }) {
    this.#name = name;
    this.#row = row;
    this.title = `${name} #${row}`;
    this.element = element("article", { class: "object-view scrolled" },
      element("nav", { "aria-label": "Where this is", class: "crumbs" },
        element("a", { href: tableOf(name), class: "link" }, element("bdi", {}, name)), " / ", this.#crumb),
      element("header", {}, element("h1", { tabindex: "-1" }, `${name} `, this.#heading), this.#deletion),
      this.#failure,
      element("table", { class: "properties", "aria-label": "Properties" }, this.#body), this.#links);
    edits.onChange(this.#drawEdits);
  }

  accepts() {
    return false;
  }

  async show() {
    await this.#read();
  }

  onEvent() {
    this.#reread.ask();
  }

  reread() {
    this.#reread.ask();
  }

  leave() {
    if (remembered().inside) history.back();
    else go(tableOf(this.#name));
  }

  close() {
    this.#reread.end();
    edits.offChange(this.#drawEdits);
  }

  // The object as edits name it.
  get object() {
    const key = this.#answer.key;
    return { class: this.#name, row: this.#row, key, label: key ?? `#${this.#row}` };
  }

  // What was committed while something was edited is read now.
  editingEnds() {
    this.#reread.ask();
  }

  get #isEditing() {
    return [...this.#lines.values()].some((line) => line.isEditing);
  }

  async #read() {
    if (this.#isEditing) return;
    try {
      const answer = await read("object", { class: this.#name, row: this.#row });
      if (!this.#isEditing) this.#draw(answer);
      this.#failure.hidden = true;
    } catch (error) {
      if (!error.answer) throw error;
      this.#failure.textContent = error.message;
      this.#failure.hidden = false;
      if (!this.#answer) this.#heading.textContent = this.#crumb.textContent = `#${this.#row}`;
    }
  }

  #draw(answer) {
    const before = this.#answer;
    this.#answer = answer;
    const { label } = this.object;
    this.#heading.textContent = this.#crumb.textContent = label;
    this.title = `${this.#name} ${label}`;
    document.title = `${this.title} – ${store.name}`;
    const known = this.#lines;
    this.#lines = new Map(answer.properties.map((part) => {
      const line = known.get(part.name) ?? new PropertyLine(this.#name, part, this);
      line.update(part);
      return [part.name, line];
    }));
    if ([...this.#lines.keys()].join("\n") !== [...known.keys()].join("\n")) {
      this.#body.replaceChildren(...[...this.#lines.values()].map((line) => line.node));
    }
    if (JSON.stringify(before?.backlinks) !== JSON.stringify(answer.backlinks)) {
      this.#links.replaceChildren(...backlinks(answer));
    }
    this.#drawDeletion();
  }

  // MARK: Editing

  #showEdits() {
    if (!this.#answer) return;
    for (const line of this.#lines.values()) line.drawEdits();
    this.#drawDeletion();
  }

  #drawDeletion() {
    const { deletion } = edits.of(this.#name, this.#row);
    this.#deletion.hidden = !store.canEdit(this.#name);
    this.#deletion.textContent = deletion ? "Keep" : "Delete";
    this.element.classList.toggle("deleted", deletion !== undefined);
  }

  #toggleDeletion() {
    const known = [...this.#lines].map(([name, line]) => [name, line.text])
      .filter(([, text]) => text !== undefined);
    edits.toggleDeletion(this.object, Object.fromEntries(known));
  }
}
