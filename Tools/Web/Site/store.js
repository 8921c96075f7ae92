// What the store is: its classes with their properties and counts, its version and sizes.

import { read } from "./api.js";

class Store {
  description = null;
  #listeners = new Set();

  async load() {
    this.description = await read("store");
    for (const listener of [...this.#listeners]) listener();
  }

  // Calls `listener` after each load.
  onLoad(listener) {
    this.#listeners.add(listener);
  }

  offLoad(listener) {
    this.#listeners.delete(listener);
  }

  get isWritable() {
    return this.description.writable;
  }

  // The store's file, without the folders.
  get name() {
    return this.description.path.split("/").filter(Boolean).pop() ?? this.description.path;
  }

  get classes() {
    return this.description.classes;
  }

  find(className) {
    return this.classes.find((type) => type.name === className) ?? null;
  }

  // A property of a class; of one that is not known only the name.
  property(className, name) {
    return this.find(className)?.properties.find((property) => property.name === name)
      ?? { name, type: "", kind: "value", optional: false, editable: false };
  }

  // Whether objects of the class can be made, changed and deleted by themselves.
  canEdit(className) {
    const type = this.find(className);
    return this.isWritable && type !== null && !type.embedded;
  }

  // The class and those that it links to; with `isDeep` those that these link to as well.
  reach(className, isDeep) {
    const found = new Set([className]);
    for (const name of found) {
      // What is embedded is shown with what it has inside.
      if (name !== className && !isDeep && !this.find(name)?.embedded) continue;
      for (const property of this.find(name)?.properties ?? []) {
        if (property.target) found.add(property.target);
      }
    }
    return found;
  }
}

export const store = new Store();
