// Which rows are shown of how many, and the ways to the others.

import { button, element } from "./dom.js";
import { count, counted, time } from "./format.js";

// How many rows a page has.
export let pageLength = 100;

export class Pager {
  #range = element("span", { class: "range" });
  #facts = element("span", { class: "facts" });
  #buttons;
  #input;

  // `go` is called with the index of the first row of a page, `find` with the index of a row.
  constructor(go, find) {
    this.#buttons = {
      first: button("First", () => go(0)),
      previous: button("Previous", () => go(this.#from - pageLength)),
      next: button("Next", () => go(this.#from + pageLength)),
      last: button("Last", () => go(lastPage(this.#total))),
    };
    this.#input = element("input",
      { id: "to-row", inputmode: "numeric", size: "7", autocomplete: "off", placeholder: "row" });
    const form = element("form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          const wanted = Number(this.#input.value.replace(/[\s,.]/g, ""));
          if (!Number.isSafeInteger(wanted) || this.#total === 0) return this.#input.select();
          this.#input.value = "";
          find(Math.max(0, Math.min(wanted, this.#total) - 1));
        },
      },
      element("label", { for: "to-row" }, "Go to row"), this.#input);
    this.element = element("footer", { class: "pager" }, this.#range,
      element("nav", { "aria-label": "Pages" }, ...Object.values(this.#buttons)), form, this.#facts);
  }

  #from = 0;
  #total = 0;

  show(answer) {
    const { from, total, rows, milliseconds, version } = answer;
    // The server may have been told to send fewer at once.
    if (from + rows.length < total) pageLength = Math.min(pageLength, rows.length);
    this.#from = from;
    this.#total = total;
    const range = `${count(from + 1)}–${count(from + rows.length)} of ${count(total)}`;
    this.#range.textContent = rows.length === 0 ? counted(total, "object") : range;
    this.#facts.textContent = `${time(milliseconds)}, version ${version}`;
    const isFirst = from === 0;
    const isLast = from + rows.length >= total;
    this.#buttons.first.disabled = this.#buttons.previous.disabled = isFirst;
    this.#buttons.next.disabled = this.#buttons.last.disabled = isLast;
  }
}

// The first row of the page that has the row at `index`.
export function pageOf(index) {
  return Math.max(0, Math.floor(index / pageLength) * pageLength);
}

export function lastPage(total) {
  return pageOf(total - 1);
}
