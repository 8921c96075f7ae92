// The address of the page: the token at first, then what is shown.
//
// The token is kept for this tab only, and out of the address from then on, so that neither the
// history nor a copied address has it.

const tokenName = "token";
let move = () => {};
let leave = () => {};
const tables = new Map();

// The token, which may stand in the address; null when there is none.
export function takeToken() {
  const given = location.hash.slice(1);
  if (given && !given.startsWith("/")) {
    sessionStorage.setItem(tokenName, given);
    history.replaceState(null, "", "#/");
  }
  return token();
}

export function token() {
  return sessionStorage.getItem(tokenName);
}

// What the address says to show: { view, names, parameters }.
export function place() {
  const [path, search = ""] = location.hash.slice(2).split("?", 2);
  const parameters = Object.fromEntries(new URLSearchParams(search));
  try {
    const [view, ...names] = path.split("/").map(decodeURIComponent);
    return { view, names, parameters };
  } catch {
    return { view: "", names: [], parameters };
  }
}

// The address of a place. Parameters that are empty are left out.
export function link(view, names = [], parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  const search = new URLSearchParams(given).toString();
  return "#/" + [view, ...names].map(encodeURIComponent).join("/") + (search && "?" + search);
}

// The address of a class's table as it was shown last.
export function tableOf(className) {
  return tables.get(className) ?? link("class", [className]);
}

export function keepTable(className, hash) {
  tables.set(className, hash);
}

// Changes the address only.
export function note(hash, replaces) {
  if (replaces) history.replaceState(history.state, "", hash);
  else if (hash !== location.hash) history.pushState({ inside: true }, "", hash);
}

// Goes to another place.
export function go(hash) {
  leave();
  note(hash, false);
  move();
}

// Keeps something with the place that is about to be left, for those who come back.
export function remember(values) {
  history.replaceState({ ...history.state, ...values }, "");
}

export function remembered() {
  return history.state ?? {};
}

// Calls `action` whenever another place is to be shown, and `leaving` before the page goes there
// by itself.
export function onMove(action, leaving) {
  move = action;
  leave = leaving;
  addEventListener("popstate", () => {
    const isNewToken = location.hash.length > 1 && !location.hash.startsWith("#/");
    if (isNewToken && takeToken()) location.reload();
    else action();
  });
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest("a[href^='#/']");
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
      && !event.altKey;
    if (!anchor || !isPlain || event.defaultPrevented) return;
    event.preventDefault();
    go(anchor.getAttribute("href"));
  });
}
