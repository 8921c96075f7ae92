// Starts the page, and shows what the address says.

import { link, note, onMove, place, remember, takeToken } from "./address.js";
import { byId, element } from "./dom.js";
import { startKeys } from "./keys.js";
import { follow } from "./live.js";
import { ObjectView } from "./object.js";
import { startPanel } from "./panel.js";
import { Reread } from "./reread.js";
import { SchemaView } from "./schema.js";
import { drawSidebar, markSidebar } from "./sidebar.js";
import { notice } from "./status.js";
import { store } from "./store.js";
import { StoreView } from "./overview.js";
import { TableView } from "./table.js";

const kinds = { class: TableView, object: ObjectView, schema: SchemaView, store: StoreView };
const main = byId("main");
let view = null;

// Sentences in the place of everything.
function say(...sentences) {
  view?.close();
  view = null;
  main.replaceChildren(element("div", { class: "sentences" },
    ...sentences.map((sentence) => element("p", {}, sentence))));
}

function show() {
  const where = place();
  const kind = kinds[where.view];
  const type = store.find(where.names[0]);
  if (!kind) return showFirst();
  closeMenu();
  markSidebar(where.names.length ? link("class", [where.names[0]]) : link(where.view));
  if (where.names.length && !type) return say(`The store has no class '${where.names[0]}'.`);
  if (!view?.accepts(where)) {
    view?.close();
    view = new kind(where);
    main.replaceChildren(view.element);
    if (document.activeElement === document.body) main.focus({ preventScroll: true });
  }
  document.title = `${view.title} – ${store.name}`;
  return view.show(where);
}

// Without an address the first class is shown.
function showFirst() {
  const first = store.classes.find((type) => !type.embedded);
  note(first ? link("class", [first.name]) : link("store"), true);
  return show();
}

function closeMenu() {
  document.body.classList.remove("menu-open");
  byId("menu").setAttribute("aria-expanded", "false");
}

function startMenu() {
  byId("menu").addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("menu-open");
    byId("menu").setAttribute("aria-expanded", String(isOpen));
  });
  byId("skip").addEventListener("click", () => main.focus());
}

function showState(state) {
  const live = byId("live");
  live.textContent = state === "live" ? "live" : "not connected";
  live.className = state === "live" ? "live" : "apart";
  live.title = state === "refused" ? "The server was started anew: open the address that it prints." : "";
  if (state === "refused") notice(live.title);
}

async function start() {
  startMenu();
  if (!takeToken()) {
    return say("This page needs the token that its address ends with.",
      "Open the whole address that 'cambium serve' has printed.");
  }
  try {
    await store.load();
  } catch (error) {
    if (!error.answer) throw error;
    return say(error.message, "Open the whole address that 'cambium serve' has printed.");
  }
  document.body.classList.toggle("writable", store.isWritable);
  drawSidebar();
  store.onLoad(drawSidebar);
  startKeys({ find: () => view?.find?.(), leave: () => view?.leave?.() });
  onMove(show, () => { if (view?.memory) remember(view.memory); });
  const counts = new Reread(() => store.load().catch(() => {}), 1000);
  if (store.isWritable) {
    startPanel(() => {
      counts.ask();
      view?.reread();
    });
  }
  follow((event) => {
    counts.ask();
    view?.onEvent(event);
  }, showState);
  await show();
}

start();
