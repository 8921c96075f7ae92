// The store as a whole: its versions and sizes, who holds versions of it, and the map of its file.

import { read } from "./api.js";
import { element } from "./dom.js";
import { age, count, counted, percent, size } from "./format.js";
import { Reread } from "./reread.js";
import { spaceMap } from "./space.js";
import { store } from "./store.js";

export class StoreView {
  title = "Store";
  #facts = element("div", { class: "facts-of-store" });
  #pins = element("section", { "aria-labelledby": "pins-title" });
  #space = element("section", { "aria-labelledby": "space-title" });
  #map = null;
  #drawn = "";
  // The map is made from all pages, so it is not asked for at every commit.
  #reread = new Reread(() => this.#read(), 3000);

  constructor() {
    this.element = element("section", { class: "store-view scrolled" },
      element("header", {}, element("h1", { tabindex: "-1" }, "Store")),
      this.#facts, this.#space, this.#pins);
  }

  accepts({ view }) {
    return view === "store";
  }

  async show() {
    this.#reread.ask();
  }

  onEvent() {
    this.#reread.ask();
  }

  reread() {
    this.#reread.ask();
  }

  close() {
    this.#reread.end();
    this.#map?.close();
  }

  async #read() {
    try {
      await store.load();
      this.#drawFacts();
      this.#drawPins();
      this.#drawMap(await read("space"));
    } catch (error) {
      if (!error.answer) throw error;
      this.#space.replaceChildren(element("p", { class: "failure", role: "alert" }, error.message));
      this.#drawn = "";
    }
  }

  #drawFacts() {
    const { path, kind, codec, writable, version, durableVersion, total } = store.description;
    const { free, pending } = store.description;
    const bytes = (number, more) => element("span", {}, size(number), " ",
      element("span", { class: "dim" }, counted(number, "byte") + more));
    const part = (number) => bytes(number, `, ${percent(number, total)}`);
    const durable = durableVersion === version ? "" : `, durable ${count(durableVersion)}`;
    this.#facts.replaceChildren(
      list(["Path", path], ["Kind", kind], ["Codec", codec],
        ["Edits", writable ? "allowed" : "not allowed"]),
      list(["Version", count(version) + durable], ["Size", bytes(total, "")],
        ["Free", part(free)], ["Pending", part(pending)]));
  }

  #drawPins() {
    const { pins } = store.description;
    const head = ["Process", "Label", "Versions", "For"]
      .map((name) => element("th", { scope: "col" }, name));
    const rows = pins.map((pin) => element("tr", {},
      element("td", {}, String(pin.process)), element("td", {}, pin.label),
      element("td", {}, pin.version === pin.newestVersion ? count(pin.version)
        : `${count(pin.version)} to ${count(pin.newestVersion)}`),
      element("td", {}, age(pin.ageSeconds))));
    this.#pins.replaceChildren(
      element("h2", { id: "pins-title" }, "Versions that other processes hold"),
      pins.length === 0 ? element("p", { class: "dim" }, "None.")
        : element("table", { class: "facts" },
          element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
  }

  #drawMap(answer) {
    const content = JSON.stringify(answer);
    if (content === this.#drawn) return;
    this.#drawn = content;
    this.#map?.close();
    this.#map = spaceMap(answer);
    this.#space.replaceChildren(element("h2", { id: "space-title" }, "Space"), this.#map.element);
  }
}

function list(...entries) {
  return element("dl", {}, ...entries.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}
