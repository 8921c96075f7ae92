// The classes as a picture: a box for each, and a line for each property that links to another.

import { link } from "./address.js";
import { shape } from "./dom.js";
import { count } from "./format.js";
import { arrange } from "./layout.js";

const lineHeight = 19;
const headHeight = 30;
const padding = 10;
const margin = 30;
const longest = 34;
const font = "12px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

// The picture of the classes of a store.
export function diagram(types) {
  const boxes = types.map(box);
  const known = new Map(boxes.map((each) => [each.name, each]));
  const lines = boxes.flatMap((each) => each.properties
    .map((property, index) => ({ from: each.name, to: property.target, property, index }))
    .filter(({ to, property }) => property.kind !== "computed" && known.has(to)));
  const size = arrange(boxes, lines);
  const [width, height] = [size.width + 2 * margin, size.height + 2 * margin];
  const picture = shape("svg",
    {
      class: "diagram", width, height, viewBox: `${-margin} ${-margin} ${width} ${height}`, role: "group",
      "aria-label": `${types.length} classes and the links between them`,
    },
    shape("defs", {}, sign("arrow", "-6 0 16 10", 9, "M1 1 L9 5 L1 9"),
      sign("arrows", "-6 0 16 10", 9, "M1 1 L9 5 L1 9 M-5 1 L3 5 L-5 9"),
      sign("diamond", "0 0 14 10", 0, "M0 5 L7 1 L14 5 L7 9 Z")),
    ...spread(lines.map((line) => placed(line, known))).map(connection),
    ...boxes.map(drawing));
  // It shrinks to fit, for as long as it can be read.
  picture.style.minWidth = `${0.75 * width}px`;
  return picture;
}

// What lines begin or end with; as large on thick lines as on thin ones.
function sign(id, viewBox, refX, path) {
  const [, , markerWidth, markerHeight] = viewBox.split(" ");
  const frame = { viewBox, refX, refY: 5, markerWidth, markerHeight, markerUnits: "userSpaceOnUse" };
  return shape("marker", { id, orient: "auto", ...frame }, shape("path", { d: path, class: id }));
}

// MARK: Boxes

function box(type) {
  const lines = type.properties.map((property) => [shortened(property.name), shortened(property.type)]);
  const head = widthOf(type.name) * 1.1 + widthOf(facts(type));
  const widths = lines.map(([name, kind]) => widthOf(name) + widthOf(kind) + 16);
  return {
    name: type.name, type, properties: type.properties, lines,
    width: Math.ceil(Math.max(head + 30, ...widths, 110) + 2 * padding),
    height: headHeight + lines.length * lineHeight + (lines.length ? 8 : 0),
  };
}

function shortened(text) {
  return text.length > longest ? text.slice(0, longest - 1) + "…" : text;
}

const measure = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  measure.font = font;
  return measure.measureText(text).width;
}

function drawing({ x, y, width, height, type, properties, lines }) {
  const text = (content, attributes) => shape("text", attributes, content);
  const look = type.embedded ? "box embedded" : "box";
  return shape("g", { class: look, "data-name": type.name, transform: `translate(${x} ${y})` },
    shape("rect", { class: "ground", width, height, rx: 6 }),
    shape("path", { class: "head", d: headOutline(width) }),
    shape("path", { class: "rule", d: `M0 ${headHeight} H${width}` }),
    shape("rect", { class: "border", width, height, rx: 6 }),
    shape("a", { href: link("class", [type.name]) },
      text(type.name, { class: "title", x: padding, y: 20 })),
    text(facts(type), { class: "facts", x: width - padding, y: 20 }),
    ...lines.flatMap(([name, kind], index) => {
      const base = middle(0, index) + 4;
      const property = properties[index];
      const look = property.kind === "computed" ? "computed" : property.key ? "key" : null;
      return [
        shape("text", { class: look, x: padding, y: base }, name,
          shape("title", {}, property.name + (property.indexed ? ", indexed" : ""))),
        shape("text", { class: "kind", x: width - padding, y: base }, kind,
          shape("title", {}, property.type)),
      ];
    }));
}

// The upper part of a box, with the round corners of its frame.
function headOutline(width) {
  return `M0 ${headHeight} V6 Q0 0 6 0 H${width - 6} Q${width} 0 ${width} 6 V${headHeight} Z`;
}

function facts(type) {
  return (type.embedded ? "embedded " : "") + count(type.count);
}

// Shows the numbers of objects as they are now.
export function drawCounts(picture, types) {
  const known = new Map(types.map((type) => [type.name, type]));
  for (const box of picture.querySelectorAll(".box")) {
    box.querySelector(".facts").textContent = facts(known.get(box.dataset.name));
  }
}

// MARK: Lines

// A line leaves at its property's height and ends at the head of the class that it links to, on the
// sides that face each other.
function placed({ from, to, property, index }, known) {
  const [source, target] = [known.get(from), known.get(to)];
  const isAfter = target.x > source.x;
  const isBefore = target.x + target.width < source.x;
  return {
    from, to, property, target,
    start: { x: isBefore ? source.x : source.x + source.width, y: middle(source.y, index) },
    stop: { x: isAfter ? target.x : target.x + target.width, y: 0 },
    out: isBefore ? -1 : 1, into: isAfter ? -1 : 1, isFacing: isAfter || isBefore,
  };
}

function middle(y, index) {
  return y + headHeight + 4 + (index + 0.5) * lineHeight;
}

// Lines that end at the same side of a box do so side by side.
function spread(lines) {
  const ends = Map.groupBy(lines, (line) => `${line.to} ${line.into}`);
  for (const group of ends.values()) {
    group.sort((a, b) => a.start.y - b.start.y);
    group.forEach((line, index) => {
      line.stop.y = line.target.y + headHeight * (index + 1) / (group.length + 1);
    });
  }
  return lines;
}

function connection({ from, to, property, start, stop, out, into, isFacing }) {
  const bend = isFacing ? Math.max(36, Math.abs(stop.x - start.x) / 2) : 46;
  const [leaving, arriving] = [start.x + out * bend, stop.x + into * bend];
  const curve = `C${leaving} ${start.y} ${arriving} ${stop.y} ${stop.x} ${stop.y}`;
  const isMany = ["list", "set", "map"].includes(property.kind);
  return shape("path",
    {
      class: "line", "data-from": from, "data-to": to, d: `M${start.x} ${start.y} ${curve}`,
      "marker-start": property.embeds ? "url(#diamond)" : null,
      "marker-end": `url(#${isMany ? "arrows" : "arrow"})`,
    },
    shape("title", {}, `${from}.${property.name}: ${property.type}`));
}
