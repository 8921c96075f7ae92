// Rows and columns: draws them and moves from cell to cell.

import { look, textOf } from "./cell.js";
import { button, element } from "./dom.js";
import { edit } from "./editor.js";
import { moveBy } from "./keys.js";
import { mark } from "./mark.js";
import { Row } from "./row.js";
import { store } from "./store.js";

export class Grid {
  // Where the keys are; row -1 is the header, column 0 the numbers of the rows.
  at = { row: 0, column: 1 };
  isEditing = false;
  #owner;
  #className;
  #columns = [];
  #rows = [];
  #table;
  #head = element("thead");
  #body = element("tbody");

  // `owner` is told of { sort(name), page(step), leave(), open(row), follow(cell), editingEnds() }.
  constructor(className, owner) {
    this.#className = className;
    this.#owner = owner;
    this.#table = element("table",
      {
        role: "grid", "aria-label": className, onkeydown: (event) => this.#press(event),
        onfocusin: (event) => this.#enter(event), ondblclick: (event) => this.#doubleClick(event),
      }, this.#head, this.#body);
    this.element = element("div", { class: "rows" }, this.#table);
  }

  // Draws the columns alone, before there are rows.
  drawColumns(names) {
    if (names.join("\n") === this.#columns.map((column) => column.name).join("\n")) return;
    this.#columns = names.map((name) => store.property(this.#className, name));
    this.#rows = [];
    this.#body.replaceChildren();
    const corner = element("span", { tabindex: "-1" }, element("span", { class: "unseen" }, "Row"));
    const heads = this.#columns.map((column) => {
      const isSortable = column.kind === "value";
      const title = column.type + (column.key ? ", primary key" : column.indexed ? ", indexed" : "");
      const label = isSortable
        ? button(column.name, () => this.#owner.sort(column.name), { tabindex: "-1", title })
        : element("span", { tabindex: "-1", title }, column.name);
      return element("th",
        { scope: "col", class: look(column), "data-name": isSortable ? column.name : null }, label);
    });
    this.#head.replaceChildren(element("tr", {}, element("th", { scope: "col" }, corner), ...heads));
  }

  // Shows by which column the rows are sorted.
  drawSort(name, isDescending) {
    for (const head of this.#head.querySelectorAll("th[data-name]")) {
      const isSorted = head.dataset.name === name;
      head.setAttribute("aria-sort", !isSorted ? "none" : isDescending ? "descending" : "ascending");
    }
  }

  // Draws an answer of the server. What differs from what was drawn before is marked as `marks` says:
  // { isChanged, isNew }.
  draw(answer, marks = {}) {
    this.drawColumns(answer.columns);
    const known = new Map(this.#rows.map((row) => [row.id, row]));
    const hadFocus = this.#body.contains(document.activeElement);
    const focused = this.#rows[this.at.row]?.id;
    this.#rows = answer.rows.map((data, index) => {
      const isKnown = known.has(data.row);
      const row = known.get(data.row) ?? new Row(this.#className, this.#columns, data.row);
      if (!isKnown && marks.isNew) mark(row.node, "new");
      row.draw(data.cells, answer.from + index, marks.isChanged && isKnown);
      return row;
    });
    this.#table.setAttribute("aria-rowcount", answer.total + 1);
    this.#place(this.#rows.map((row) => row.node));
    const same = hadFocus ? this.indexOf(focused) : -1;
    this.#moveTo(same >= 0 ? same : this.at.row, this.at.column, hadFocus);
  }

  // Nodes that are in place already keep the focus and the selection.
  #place(nodes) {
    const now = this.#body.children;
    if (now.length !== nodes.length || nodes.some((node, index) => now[index] !== node)) {
      this.#body.replaceChildren(...nodes);
    }
  }

  // Shows what is to be done with the rows, after the edits have changed.
  drawEdits() {
    for (const row of this.#rows) row.redraw();
  }

  // The place of an object's row on the page; -1 when it is not there.
  indexOf(id) {
    return this.#rows.findIndex((row) => row.id === id);
  }

  // Moves the keys into a cell.
  focus(row = this.at.row, column = this.at.column) {
    this.#moveTo(row, column, true);
  }

  // MARK: Moving

  // What takes the focus at a place.
  #nodeAt({ row, column }) {
    if (row < 0) return this.#head.rows[0]?.cells[column]?.firstElementChild;
    const line = this.#rows[row];
    return column === 0 ? line?.anchor : line?.nodes[column - 1];
  }

  // One node of the table is in the order of the Tab key: where the keys are.
  #moveTo(row, column, takesFocus) {
    const old = this.#table.querySelector("[tabindex='0']");
    if (old) old.tabIndex = -1;
    this.at = {
      row: Math.max(-1, Math.min(row, this.#rows.length - 1)),
      column: Math.max(0, Math.min(column, this.#columns.length)),
    };
    const node = this.#nodeAt(this.at);
    if (!node) return;
    node.tabIndex = 0;
    if (takesFocus) node.focus();
  }

  #enter(event) {
    const cell = event.target.closest("th, td");
    if (!cell || event.target.closest(".editor")) return;
    this.#moveTo(this.#rows.findIndex((row) => row.node === cell.parentNode), cell.cellIndex, false);
  }

  #press(event) {
    if (event.target.closest(".editor")) return;
    const { row, column } = this.at;
    const isCommand = event.ctrlKey || event.metaKey;
    const next = moveBy(event, this.at, this.#rows.length - 1, this.#columns.length);
    if (next) this.focus(next.row, next.column);
    else if (event.key === "PageDown") this.#owner.page(1);
    else if (event.key === "PageUp") this.#owner.page(-1);
    else if (event.key === "Escape") this.#owner.leave();
    else if (row < 0) return;
    else if (event.key === "Enter" && column > 0) this.#activate(this.#rows[row], column - 1, isCommand);
    else if (event.key === "F2" && column > 0) this.#edit();
    else if (event.key === "Delete" && column === 0) this.#rows[row].toggleDeletion();
    else if (event.key === "Delete" && isCommand) this.#setNull(this.#rows[row], column - 1);
    else return;
    event.preventDefault();
  }

  #activate(row, number, isCommand) {
    const cell = row.nodes[number].shown;
    if (!isCommand && row.canEdit(number)) this.#edit();
    else if (isCommand && cell?.class) this.#owner.follow(cell);
    else this.#owner.open(row.id);
  }

  #doubleClick(event) {
    if (event.target.closest("td") && !event.target.closest("a, .editor")) this.#edit();
  }

  // MARK: Editing

  #setNull(row, number) {
    if (row.canEdit(number) && this.#columns[number].optional) row.set(number, null);
  }

  #edit() {
    const { row: place, column } = this.at;
    const [row, number] = [this.#rows[place], column - 1];
    if (this.isEditing || !row?.canEdit(number)) return;
    const node = row.nodes[number];
    this.isEditing = true;
    node.classList.add("editing");
    edit(node, this.#columns[number], textOf(node.shown), (result, key) => {
      this.isEditing = false;
      node.classList.remove("editing");
      row.refill(number);
      if (result) row.set(number, result.text);
      if (key === "Tab") this.focus(place, column + 1);
      else if (key === "Shift+Tab") this.focus(place, column - 1);
      else if (key) this.focus(place, column);
      this.#owner.editingEnds();
    });
  }
}
