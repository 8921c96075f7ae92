// The line in which a query is written, with what is wrong with it right below.

import { button, element } from "./dom.js";
import { prefix } from "./format.js";

export class Filter {
  #input;
  #clear;
  #error;
  #caret;
  #message;

  // `apply` is called with the text, `leave` when the line is left with the Escape key.
  constructor(type, apply, leave) {
    const clear = () => {
      this.#input.value = "";
      this.#input.focus();
      apply("");
    };
    this.#input = element("input", {
      id: "filter", type: "text", placeholder: example(type), spellcheck: "false",
      autocomplete: "off", autocapitalize: "off", enterkeyhint: "search",
      "aria-describedby": "filter-error", oninput: () => { this.clearError(); this.#drawClear(); },
      onscroll: () => { this.#caret.scrollLeft = this.#input.scrollLeft; },
      onkeydown: (event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        leave();
      },
    });
    this.#clear = button("Clear", clear, { class: "quiet" });
    this.#caret = element("div", { class: "caret", "aria-hidden": "true" });
    this.#message = element("p", { id: "filter-error", role: "alert" });
    this.#error = element("div", { class: "error", hidden: true }, this.#caret, this.#message);
    this.element = element("form",
      {
        role: "search", class: "filter", onsubmit: (event) => {
          event.preventDefault();
          apply(this.#input.value);
        },
      },
      element("label", { for: "filter" }, "Filter"),
      element("div", { class: "line" }, this.#input, this.#clear), element("button", {}, "Apply"),
      this.#error);
    this.#drawClear();
  }

  // Shows the query that the rows were found by.
  show(query) {
    if (this.#input.value !== query) this.#input.value = query;
    this.clearError();
    this.#drawClear();
  }

  // Takes what was wrong away, unless it is about another query that is still written.
  settle(query) {
    if (this.#input.value === query) this.clearError();
  }

  // Shows what is wrong, with a caret under the place if the refusal knows it. Without a query what is
  // written stays as it is.
  fail(query, refusal) {
    this.#message.textContent = refusal.message;
    this.#error.hidden = false;
    const hasPlace = query !== null && refusal.offset !== undefined;
    if (query !== null) this.#input.value = query;
    this.#drawClear();
    this.#caret.hidden = !hasPlace;
    this.#input.setAttribute("aria-invalid", "true");
    if (!hasPlace) return;
    const before = prefix(query, refusal.offset);
    // The text before the place is there but not seen, so that the caret stands where the place is.
    this.#caret.replaceChildren(
      element("span", {}, before), "^", element("span", {}, query.slice(before.length)));
    this.#input.setSelectionRange(before.length, before.length);
    this.#caret.scrollLeft = this.#input.scrollLeft;
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  clearError() {
    this.#error.hidden = true;
    this.#message.textContent = "";
    this.#input.removeAttribute("aria-invalid");
  }

  #drawClear() {
    this.#clear.hidden = this.#input.value === "";
  }
}

// A query that fits the class, to show what the language looks like.
function example(type) {
  const values = type?.properties.filter((property) => property.kind === "value") ?? [];
  const number = values.find((property) => property.numeric && !property.key)
    ?? values.find((property) => property.numeric);
  const text = values.find((property) => property.type.startsWith("String"));
  const conditions = [number && `${number.name} > 30`, text && `${text.name} BEGINSWITH 'A'`];
  const sorted = number ?? text ?? values[0];
  if (!sorted) return "TRUEPREDICATE LIMIT(10)";
  return [conditions.filter(Boolean).join(" AND "), `SORT(${sorted.name} DESC)`, "LIMIT(10)"]
    .filter(Boolean).join(" ");
}
