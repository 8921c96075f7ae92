// What the page says beside what it shows.

import { byId } from "./dom.js";

let timer;

// Says something to those who hear the page.
export function announce(text) {
  byId("spoken").textContent = text;
}

// Says something to everybody, for some seconds.
export function notice(text) {
  const line = byId("notice");
  line.textContent = text;
  line.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { line.hidden = true; }, 6000);
}
