// Where the boxes of a diagram stand: in columns, so that links lead to the right where they can.
//
// Boxes are { name, width, height }, to which `x` and `y` are added; links are { from, to } by name.

const columnGap = 76;
const rowGap = 24;

// Places the boxes; returns the size of the whole.
export function arrange(boxes, links) {
  const groups = connected(boxes, links);
  const single = groups.filter((group) => group.length === 1).flat();
  let y = 0;
  let width = 0;
  for (const group of groups.filter((group) => group.length > 1)) {
    const size = arrangeGroup(group, links, y);
    width = Math.max(width, size.width);
    y += size.height + 2 * rowGap;
  }
  const rest = arrangeRows(single, y, Math.max(width, 700));
  return { width: Math.max(width, rest.width), height: rest.height };
}

// Boxes that links connect, largest groups first.
function connected(boxes, links) {
  const group = new Map(boxes.map((box) => [box.name, new Set([box])]));
  for (const { from, to } of links) {
    const [one, other] = [group.get(from), group.get(to)];
    if (one === other) continue;
    for (const box of other) {
      one.add(box);
      group.set(box.name, one);
    }
  }
  return [...new Set(group.values())].map((set) => [...set]).sort((a, b) => b.length - a.length);
}

function arrangeGroup(boxes, links, top) {
  const columns = inColumns(boxes, links.filter((link) => boxes.some((box) => box.name === link.from)));
  const heights = columns.map((column) => sum(column, (box) => box.height + rowGap) - rowGap);
  const height = Math.max(...heights);
  let x = 0;
  columns.forEach((column, index) => {
    const width = Math.max(...column.map((box) => box.width));
    let y = top + (height - heights[index]) / 2;
    for (const box of column) {
      box.x = x;
      box.y = y;
      y += box.height + rowGap;
    }
    x += width + columnGap;
  });
  return { width: x - columnGap, height };
}

// The columns: each box stands behind those that link to it, except where links go round in a circle.
function inColumns(boxes, links) {
  const rank = ranks(boxes, links);
  const columns = [];
  for (const box of boxes) (columns[rank.get(box.name)] ??= []).push(box);
  for (let round = 0; round < 4; round += 1) {
    const place = new Map();
    for (const column of columns) {
      column.forEach((box, index) => place.set(box.name, (index + 0.5) / column.length));
    }
    for (const column of columns) {
      const middle = new Map(column.map((box) => [box, mean(neighbours(box, links), place)]));
      column.sort((a, b) => middle.get(a) - middle.get(b));
    }
  }
  return columns.flatMap((column) => split(column, columnHeight(boxes)));
}

// The column of each box: links lead from left to right, but for those that close a circle.
function ranks(boxes, links) {
  const targets = new Map(boxes.map((box) => [box.name, new Set()]));
  for (const { from, to } of links) if (from !== to) targets.get(from).add(to);
  const order = [];
  const [path, seen] = [new Set(), new Set()];
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    path.add(name);
    for (const other of [...targets.get(name)]) {
      if (path.has(other)) targets.get(name).delete(other);
      else visit(other);
    }
    path.delete(name);
    order.unshift(name);
  };
  const isTarget = (box) => links.some(({ from, to }) => to === box.name && from !== to);
  for (const box of [...boxes.filter((box) => !isTarget(box)), ...boxes]) visit(box.name);

  const rank = new Map(order.map((name) => [name, 0]));
  for (const name of order) {
    for (const other of targets.get(name)) rank.set(other, Math.max(rank.get(other), rank.get(name) + 1));
  }
  // Whatever links only to boxes that stand far to the right moves closer to them.
  for (const name of order.reverse()) {
    const others = [...targets.get(name)].map((other) => rank.get(other) - 1);
    if (others.length) rank.set(name, Math.min(...others));
  }
  return rank;
}

function neighbours(box, links) {
  return links.filter(({ from, to }) => from !== to && (from === box.name || to === box.name))
    .map(({ from, to }) => from === box.name ? to : from);
}

function mean(names, place) {
  return sum(names, (name) => place.get(name)) / names.length;
}

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

// Columns no higher than the whole is wide, about.
function columnHeight(boxes) {
  const area = sum(boxes, (box) => (box.width + columnGap) * (box.height + rowGap));
  return Math.max(Math.sqrt(area), ...boxes.map((box) => box.height));
}

function split(column, limit) {
  const parts = [[]];
  let height = 0;
  for (const box of column) {
    if (height + box.height > limit && parts.at(-1).length) {
      parts.push([]);
      height = 0;
    }
    parts.at(-1).push(box);
    height += box.height + rowGap;
  }
  return parts;
}

// Boxes without links stand in rows below the others.
function arrangeRows(boxes, top, limit) {
  let [x, y, height, width] = [0, top, 0, 0];
  for (const box of boxes) {
    if (x > 0 && x + box.width > limit) {
      [x, y, height] = [0, y + height + rowGap, 0];
    }
    [box.x, box.y] = [x, y];
    x += box.width + rowGap;
    height = Math.max(height, box.height);
    width = Math.max(width, x - rowGap);
  }
  return { width, height: boxes.length ? y + height : Math.max(0, top - 2 * rowGap) };
}
