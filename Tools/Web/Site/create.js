// The form for a new object. What is left empty takes its default.

import { button, element } from "./dom.js";
import { edits } from "./edits.js";
import { field, hint, textIn } from "./editor.js";
import { store } from "./store.js";

export class CreateForm {
  #name;
  #fields;
  #dialog;

  constructor(className) {
    this.#name = className;
    const { properties } = store.find(className);
    const stored = properties.filter((property) => property.kind !== "computed");
    this.#fields = stored.map((property, number) => {
      const required = property.key;
      const node = field(property, null, {
        id: `new-${number}`, required, placeholder: hint(property),
        "aria-describedby": `new-type-${number}`,
      }, "default");
      return { property, node };
    });
    const lines = this.#fields.map(({ property, node }, number) => element("div", { class: "field" },
      element("label", { for: node.id }, property.name),
      element("span", { class: "type", id: `new-type-${number}` },
        property.type + (property.key ? ", primary key" : "")),
      node));
    this.#dialog = element("dialog", { class: "create-form", "aria-labelledby": "new-title" },
      element("form", { method: "dialog", onsubmit: () => this.#submit(), onkeydown: submitsByKey },
        element("h2", { id: "new-title" }, `New ${className}`),
        element("p", { class: "dim" }, "What is left empty takes its default."),
        element("div", { class: "fields" }, ...lines),
        element("div", { class: "actions" },
          button("Cancel", () => this.#dialog.close()),
          element("button", { class: "main" }, "Add to the edits"))));
    this.#dialog.addEventListener("close", () => this.#dialog.remove());
  }

  show() {
    document.body.append(this.#dialog);
    this.#dialog.showModal();
  }

  #submit() {
    const given = this.#fields.map(({ property, node }) => [property, textIn(node, property, null)])
      .filter(([, text]) => text !== null);
    const key = given.find(([property]) => property.key)?.[1] ?? null;
    const values = Object.fromEntries(given.map(([property, text]) => [property.name, text]));
    edits.create(this.#name, key, values);
  }
}

// Enter is a new line with the Shift key only, as in a table.
function submitsByKey(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (!event.target.matches("textarea")) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}
