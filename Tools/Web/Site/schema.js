// The schema as a diagram, with the signs that it uses.

import { element, shape } from "./dom.js";
import { diagram, drawCounts } from "./diagram.js";
import { store } from "./store.js";

export class SchemaView {
  title = "Schema";
  #number = element("p", { class: "dim" });
  #frame = element("div", { class: "picture", tabindex: "0", role: "region", "aria-label": "Diagram" });
  #drawn = "";
  #draw = () => this.show();

  constructor() {
    this.element = element("section", { class: "schema-view" },
      element("header", {}, element("h1", { tabindex: "-1" }, "Schema"), this.#number, legend()),
      this.#frame);
    // What links to or from a class stands out while the pointer or the focus is on it.
    for (const name of ["pointerover", "focusin"]) {
      this.#frame.addEventListener(name, ({ target }) => this.#light(target.closest(".box")));
    }
    this.#frame.addEventListener("pointerleave", () => this.#light(null));
    store.onLoad(this.#draw);
  }

  accepts({ view }) {
    return view === "schema";
  }

  // Draws the classes anew where they have changed, and otherwise their counts only.
  async show() {
    const types = store.classes;
    const content = JSON.stringify(types.map((type) => ({ ...type, count: 0 })));
    if (content !== this.#drawn) this.#frame.replaceChildren(diagram(types));
    else drawCounts(this.#frame, types);
    this.#drawn = content;
    this.#number.textContent = types.length === 1 ? "1 class" : `${types.length} classes`;
  }

  onEvent() {}

  close() {
    store.offLoad(this.#draw);
  }

  #light(box) {
    const name = box?.dataset.name;
    for (const line of this.#frame.querySelectorAll(".line")) {
      const isLit = name !== undefined && (line.dataset.from === name || line.dataset.to === name);
      line.classList.toggle("lit", isLit);
    }
  }
}

function legend() {
  const sign = (text, ...shapes) => element("li", {},
    shape("svg", { width: 40, height: 12, "aria-hidden": "true" }, ...shapes), " ", text);
  const line = (more) => shape("path", { class: "line", d: "M2 6 H36", ...more });
  return element("ul", { class: "legend" },
    sign("to one", line({ "marker-end": "url(#arrow)" })),
    sign("to many", line({ "marker-end": "url(#arrows)" })),
    sign("embedded", line({ "marker-start": "url(#diamond)", "marker-end": "url(#arrow)" })));
}
