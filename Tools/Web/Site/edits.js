// The edits that are collected until they are saved.
//
// An edit is { id, change, class, row, key, label, … }: of "set" with `property`, `old` and `new`, of
// "delete" with `old` by property, of "create" with `new` by property. `conflicts` and `reason` say why
// it could not be saved. Neither edits nor the list of them are ever changed; each step makes new ones,
// so that taking a step back is to take the list from before.

import { send } from "./api.js";

class Edits {
  list = [];
  isSaving = false;
  // Why the last attempt to save failed as a whole.
  failure = null;
  #earlier = [];
  #nextId = 1;
  #listeners = new Set();

  // Calls `listener` after each change of the list.
  onChange(listener) {
    this.#listeners.add(listener);
  }

  offChange(listener) {
    this.#listeners.delete(listener);
  }

  get isEmpty() {
    return this.list.length === 0;
  }

  // What is to be done with an object: { deletion, sets }, where `sets` has edits by property.
  of(className, row) {
    const own = this.list.filter((edit) => edit.class === className && edit.row === row);
    return {
      deletion: own.find((edit) => edit.change === "delete"),
      sets: new Map(own.filter((edit) => edit.change === "set").map((edit) => [edit.property, edit])),
    };
  }

  // Sets a property of `object`, which is { class, row, key, label }, to the text `value`, or to null.
  // `old` is the text that the store has.
  set(object, property, old, value) {
    const known = this.of(object.class, object.row).sets.get(property);
    if (known?.new === value) return;
    const rest = this.list.filter((edit) => edit !== known);
    // What was edited first is compared when it is saved: no newer value was looked at since.
    const first = known ? known.old : old;
    if (first === value) this.#step(rest);
    else this.#step([...rest, this.#made("set", object, { property, old: first, new: value })]);
  }

  // Deletes an object, or keeps one that was to be deleted. `old` are the texts shown of it.
  toggleDeletion(object, old) {
    const { deletion } = this.of(object.class, object.row);
    if (deletion) return this.drop(deletion);
    const rest = this.list.filter((edit) => edit.class !== object.class || edit.row !== object.row);
    return this.#step([...rest, this.#made("delete", object, { old })]);
  }

  create(className, key, values) {
    const object = { class: className, row: null, key: null, label: key ?? "" };
    this.#step([...this.list, this.#made("create", object, { new: values })]);
  }

  drop(edit) {
    this.#step(this.list.filter((other) => other.id !== edit.id));
  }

  undoLast() {
    if (this.#earlier.length === 0 || this.isSaving) return;
    this.list = this.#earlier.pop();
    this.failure = null;
    this.#tell();
  }

  get canUndo() {
    return this.#earlier.length > 0;
  }

  discardAll() {
    this.#step([]);
  }

  // Takes what others have made of the values as the old ones, so that the edit can be saved over them.
  keepMine(edit) {
    const found = Object.fromEntries(edit.conflicts.map((each) => [each.property, each.found]));
    const old = edit.change === "set" ? found[edit.property] : { ...edit.old, ...found };
    this.#step(this.list.map((other) => other.id === edit.id ? { ...edit, old, conflicts: [] } : other));
  }

  // Saves all edits or none; returns the version that has them, or null.
  async save() {
    if (this.isSaving || this.isEmpty) return null;
    const sent = this.list;
    this.isSaving = true;
    this.#tell();
    try {
      const { version } = await send("save", { edits: sent.map(message) });
      this.list = this.#after(sent);
      this.#earlier = [];
      this.failure = null;
      return version;
    } catch (error) {
      const { conflicts, edit: refused } = error.answer ?? {};
      this.failure = error.message;
      this.list = this.list.map((edit) => {
        const index = sent.indexOf(edit);
        if (index < 0) return edit;
        return {
          ...edit,
          conflicts: conflicts?.filter((each) => each.edit === index) ?? [],
          reason: index === refused ? error.message : null,
        };
      });
      return null;
    } finally {
      this.isSaving = false;
      this.#tell();
    }
  }

  #made(change, object, values) {
    const { class: className, row, key, label } = object;
    const id = this.#nextId++;
    return { id, change, class: className, row, key, label, conflicts: [], reason: null, ...values };
  }

  // What was edited while `sent` was saved: of values that were saved the store has the new ones.
  #after(sent) {
    return this.list.filter((edit) => !sent.includes(edit)).map((edit) => {
      const saved = sent.find((other) => edit.change === "set" && other.change === "set" &&
        other.class === edit.class && other.row === edit.row && other.property === edit.property);
      return saved ? { ...edit, old: saved.new } : edit;
    });
  }

  #step(list) {
    this.#earlier.push(this.list);
    this.list = list;
    this.failure = null;
    this.#tell();
  }

  #tell() {
    for (const listener of [...this.#listeners]) listener();
  }
}

// An edit as the server takes it.
function message(edit) {
  const { change, class: className, row, key, property, old } = edit;
  if (change === "create") return { change, class: className, new: edit.new };
  if (change === "delete") return { change, class: className, row, key, old };
  return { change, class: className, row, key, property, old, new: edit.new };
}

export const edits = new Edits();

// Editing must not be left by mistake.
addEventListener("beforeunload", (event) => {
  if (!edits.isEmpty) event.preventDefault();
});
