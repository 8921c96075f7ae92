// The objects of a class as a table: filtered, sorted, page by page, and live.

import { go, keepTable, link, note, remembered } from "./address.js";
import { read } from "./api.js";
import { target } from "./cell.js";
import { CreateForm } from "./create.js";
import { button, element } from "./dom.js";
import { edits } from "./edits.js";
import { Filter } from "./filter.js";
import { counted } from "./format.js";
import { Grid } from "./grid.js";
import { lastPage, pageLength, pageOf, Pager } from "./pager.js";
import { Reread } from "./reread.js";
import { announce } from "./status.js";
import { store } from "./store.js";

export class TableView {
  #name;
  #state = null;
  #answer = null;
  #loading = null;
  // Pages that are read in one session are of one version; it ends by itself after a minute.
  #session = "";
  // The one before, which the server need not keep any longer.
  #endedSession = "";
  // Whether something was committed that is not shown yet, and whether objects may be new by it.
  #isOutdated = false;
  #mayHaveNew = false;
  #hasFailed = false;
  #reread = new Reread(() => this.#readAgain(), 200);
  #drawEdits = () => this.#grid.drawEdits();
  #empty = element("p", { class: "empty", hidden: true });
  #filter;
  #grid;
  #pager;

  constructor({ names: [name] }) {
    this.#name = name;
    const type = store.find(name);
    this.title = name;
    this.#filter = new Filter(type, (query) => this.#move({ ...this.#state, query, from: 0 }),
      () => this.#grid.focus());
    this.#grid = new Grid(name, {
      sort: (property) => this.#sort(property),
      page: (step) => this.#page(this.#state.from + step * pageLength),
      leave: () => document.activeElement.blur(),
      open: (row) => go(link("object", [name, row])),
      follow: (cell) => go(target(cell)),
      editingEnds: () => this.#catchUp(),
    });
    this.#pager = new Pager((from) => this.#page(from), (index) => this.#find(index));
    this.element = element("section", { class: "table-view" },
      element("header", {},
        element("h1", { tabindex: "-1" }, element("bdi", {}, name)),
        store.canEdit(name) ? creation(name) : null, this.#filter.element),
      element("div", { class: "frame" }, this.#grid.element, this.#empty), this.#pager.element);
    this.#grid.drawColumns((type?.properties ?? [])
      .filter((property) => property.kind !== "computed").map((property) => property.name));
    edits.onChange(this.#drawEdits);
  }

  // Whether another place is shown by this view as well.
  accepts({ view, names }) {
    return view === "class" && names[0] === this.#name;
  }

  async show({ parameters }) {
    const from = pageOf(Number.parseInt(parameters.from, 10) || 0);
    const { query = "", sort = "", descending } = parameters;
    const state = { query, sort, isDescending: descending === "1", from };
    const { row, column } = remembered();
    if (await this.#load(state) && row !== undefined && this.#grid.indexOf(row) >= 0) {
      this.#grid.focus(this.#grid.indexOf(row), column);
    }
  }

  // What a commit has done to the classes that are shown.
  onEvent(event) {
    const shown = store.reach(this.#name, this.#state?.query !== "");
    const touched = Object.keys(event.classes).filter((name) => shown.has(name));
    if (!event.unknown && touched.length === 0) return;
    const own = event.classes[this.#name];
    // When objects were only deleted, rows of the next page move up: they are not new.
    this.#mayHaveNew ||= event.unknown || !own || own.inserted + own.modified > 0;
    this.reread();
  }

  reread() {
    this.#isOutdated = true;
    this.#endedSession = this.#session || this.#endedSession;
    this.#session = "";
    this.#reread.ask();
  }

  find() {
    this.#filter.focus();
  }

  leave() {
    this.#grid.focus();
  }

  // What those who come back want to find again: the cell that the keys are in.
  get memory() {
    const { row, column } = this.#grid.at;
    return { row: this.#answer?.rows[row]?.row, column };
  }

  close() {
    this.#loading?.abort();
    this.#reread.end();
    edits.offChange(this.#drawEdits);
  }

  // MARK: Moving

  #sort(name) {
    const { sort, isDescending } = this.#state;
    const isNext = sort !== name ? { sort: name, isDescending: false }
      : isDescending ? { sort: "", isDescending: false } : { sort: name, isDescending: true };
    this.#move({ ...this.#state, ...isNext, from: 0 });
  }

  async #page(from) {
    const total = this.#answer?.total ?? 0;
    const page = Math.max(0, Math.min(from, lastPage(total)));
    const hadFocus = this.#grid.element.contains(document.activeElement);
    if (page === this.#state.from || !await this.#move({ ...this.#state, from: page }, true)) return;
    this.#grid.element.scrollTop = 0;
    if (hadFocus) this.#grid.focus(0);
  }

  async #find(index) {
    const from = pageOf(index);
    if (from === this.#state.from || await this.#move({ ...this.#state, from }, true)) {
      this.#grid.focus(index - this.#state.from, Math.max(1, this.#grid.at.column));
    }
  }

  // Shows something else of the class, and says so in the address if it can be shown.
  async #move(state, replaces = false) {
    if (!await this.#load(state)) return false;
    note(this.#address, replaces);
    announce(`${counted(this.#answer.total, "object")}, from row ${this.#state.from + 1}`);
    return true;
  }

  get #address() {
    const { query, sort, isDescending, from } = this.#state;
    return link("class", [this.#name], {
      query, sort, descending: sort && isDescending ? "1" : "", from: from ? String(from) : "",
    });
  }

  // MARK: Reading

  async #load(state) {
    this.#loading?.abort();
    const controller = this.#loading = new AbortController();
    this.element.setAttribute("aria-busy", "true");
    try {
      this.#draw(state, await this.#ask(state, controller.signal), {});
      return true;
    } catch (error) {
      if (error.name === "AbortError") return false;
      if (!error.answer) throw error;
      this.#state ??= state;
      this.#hasFailed = error.status === 0;
      // The rows that are shown stay.
      this.#filter.fail(state.query, error);
      return false;
    } finally {
      if (this.#loading === controller) {
        this.#loading = null;
        this.element.removeAttribute("aria-busy");
        this.#catchUp();
      }
    }
  }

  async #ask(state, signal) {
    const parameters = {
      class: this.#name, query: state.query, sort: state.sort, from: state.from, count: pageLength,
      descending: state.sort && state.isDescending ? "1" : "", session: this.#session,
      ends: this.#session ? "" : this.#endedSession,
    };
    const answer = await read("rows", parameters, signal);
    if (answer.rows.length > 0 || answer.total === 0) return answer;
    // The page is gone, as there are fewer objects now.
    const last = { ...parameters, session: answer.session, from: lastPage(answer.total) };
    return read("rows", last, signal);
  }

  #draw(state, answer, marks) {
    if (state.query !== this.#state?.query || !this.#answer) this.#filter.show(state.query);
    else if (!marks.isChanged) this.#filter.settle(state.query);
    this.#state = { ...state, from: answer.from };
    this.#session = answer.session;
    this.#answer = answer;
    keepTable(this.#name, this.#address);
    this.#grid.draw(answer, marks);
    this.#grid.drawSort(state.sort, state.isDescending);
    this.#pager.show(answer);
    this.#empty.hidden = answer.total > 0;
    this.#empty.textContent = state.query ? "No object meets the condition." : "There are no objects.";
  }

  #catchUp() {
    if (this.#isOutdated) this.reread();
  }

  // Reads the newest version of what is shown, and marks what has changed. What somebody does in the
  // meantime goes first.
  async #readAgain() {
    if (this.#grid.isEditing || this.#loading || !this.#state) return;
    const [state, mayHaveNew] = [this.#state, this.#mayHaveNew && this.#answer !== null];
    const controller = this.#loading = new AbortController();
    this.#isOutdated = this.#mayHaveNew = false;
    try {
      const answer = await this.#ask(state, controller.signal);
      if (this.#grid.isEditing) this.#isOutdated = true;
      else this.#draw(state, answer, { isChanged: true, isNew: mayHaveNew });
      if (this.#hasFailed) this.#filter.clearError();
      this.#hasFailed = false;
    } catch (error) {
      if (error.name === "AbortError") this.#isOutdated = true;
      else this.#filter.fail(null, error);
      this.#hasFailed = error.name !== "AbortError";
    } finally {
      if (this.#loading === controller) this.#loading = null;
    }
  }
}

function creation(name) {
  return button("New object", () => new CreateForm(name).show(), { class: "create" });
}
