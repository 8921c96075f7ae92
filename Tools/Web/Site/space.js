// The map of a file: what its bytes are used for, cell by cell.

import { element, shape } from "./dom.js";
import { count, counted, percent, size, words } from "./format.js";

// The map takes about so much height, in pixels, with cells between the smallest and the largest.
const height = 160;
const [smallest, largest] = [9, 24];

// Draws the answer of the server; returns { element, close() }.
export function spaceMap(answer) {
  const { kinds, map, cell, total } = answer;
  if (!map) {
    return { element: element("div", {}, legend(kinds, total), element("p", { class: "dim" },
      "Stores of this kind have no map: where their pages lie is their own business.")), close() {} };
  }
  const where = element("p", { class: "where dim" });
  const picture = shape("svg", { class: "map", role: "img", "aria-label": summary(kinds, total) });
  const frame = element("div", { class: "map-frame" }, picture);
  let [columns, cellSize, drawn] = [0, 0, 0];
  const draw = () => {
    const width = frame.clientWidth;
    if (width === drawn || width === 0) return;
    drawn = width;
    const fitting = Math.floor(Math.sqrt(width * height / map.length));
    cellSize = Math.max(smallest, Math.min(fitting, largest));
    columns = Math.min(Math.floor(width / cellSize), map.length);
    const rows = Math.ceil(map.length / columns);
    picture.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
    picture.setAttribute("width", columns * cellSize);
    picture.setAttribute("height", rows * cellSize);
    picture.replaceChildren(...kinds.map((_, kind) => shape("path",
      { class: `kind kind-${kind}`, d: outline(map, kind, columns) })));
  };
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left) / cellSize);
    const y = Math.floor((event.clientY - box.top) / cellSize);
    const index = y * columns + x;
    const kind = kinds[Number.parseInt(map[index], 36)];
    const end = Math.min(total, (index + 1) * cell);
    where.textContent = kind && x >= 0 && x < columns
      ? `${words(kind.name)}: bytes ${count(index * cell)} to ${count(end)}` : hint(cell);
  };
  where.textContent = hint(cell);
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerleave", () => { where.textContent = hint(cell); });
  const observer = new ResizeObserver(draw);
  observer.observe(frame);
  const whole = element("div", {}, frame, where, legend(kinds, total));
  return { element: whole, close: () => observer.disconnect() };
}

function hint(cell) {
  return `Each cell is ${size(cell)} (${count(cell)} bytes), from the file's beginning, row by row.`;
}

// One path for all cells of a kind.
function outline(map, kind, columns) {
  const sign = kind.toString(36);
  let path = "";
  for (let index = 0; index < map.length; index += 1) {
    if (map[index] !== sign) continue;
    path += `M${index % columns} ${Math.floor(index / columns)}h.88v.88h-.88z`;
  }
  return path;
}

function summary(kinds, total) {
  const shares = kinds.map((kind) => `${words(kind.name)} ${percent(kind.bytes, total)}`);
  return "Map of the file: " + shares.join(", ");
}

// What the colours mean, and how much there is of each kind.
function legend(kinds, total) {
  const head = ["Kind", "Pages", "Bytes", "Share"].map((name, index) =>
    element("th", { scope: "col", class: index ? "number" : null }, name));
  const rows = kinds.map((kind, index) => element("tr", {},
    element("th", { scope: "row" }, swatch(index), words(kind.name)),
    element("td", { class: "number" }, kind.pages ? count(kind.pages) : ""),
    element("td", { class: "number", title: counted(kind.bytes, "byte") }, size(kind.bytes)),
    element("td", { class: "number" }, percent(kind.bytes, total))));
  return element("table", { class: "facts legend-table" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function swatch(kind) {
  return shape("svg", { class: "swatch", width: 12, height: 12, "aria-hidden": "true" },
    shape("rect", { class: `kind kind-${kind}`, width: 12, height: 12, rx: 2 }));
}
