// Marks a node for two seconds. How that looks, and whether it moves, is the style's business.

const shownFor = 2000;
const timers = new WeakMap();

export function mark(node, name) {
  clearTimeout(timers.get(node));
  if (node.classList.contains(name)) {
    node.classList.remove(name);
    // The layout is read so that the mark begins anew.
    void node.offsetWidth;
  }
  node.classList.add(name);
  timers.set(node, setTimeout(() => node.classList.remove(name), shownFor));
}
