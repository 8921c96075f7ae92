// The keys that move through rows and columns, and those that work everywhere.

import { byId, isTyping } from "./dom.js";

// Where a key leads from `at`; null when it does not move. Rows begin at -1, the header, and columns at
// 0, the number of the row.
export function moveBy(event, at, lastRow, lastColumn) {
  if (event.altKey || event.shiftKey) return null;
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key !== "Home" && event.key !== "End") return null;
  switch (event.key) {
    case "ArrowUp": return { ...at, row: at.row - 1 };
    case "ArrowDown": return { ...at, row: at.row + 1 };
    case "ArrowLeft": return { ...at, column: at.column - 1 };
    case "ArrowRight": return { ...at, column: at.column + 1 };
    case "Home": return isCommand ? { row: 0, column: 1 } : { ...at, column: 0 };
    case "End": return { row: isCommand ? lastRow : at.row, column: lastColumn };
    default: return null;
  }
}

// Starts the keys of the page: `find` moves to the filter, `leave` leaves what is shown.
export function startKeys({ find, leave }) {
  byId("help").addEventListener("click", () => byId("keys").showModal());
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping() || document.querySelector("dialog[open]")) return;
    if (event.key === "/") find();
    else if (event.key === "?") byId("keys").showModal();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  });
}
