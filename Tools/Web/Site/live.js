// What is committed to the store, by whomever, as it happens.
//
// `EventSource` cannot send the token, so the stream is read with `fetch`.

import { stream } from "./api.js";

const shortestPause = 1000;
const longestPause = 30_000;
// The server says something every 15 seconds.
const silence = 40_000;

// Follows the store for as long as the page is open. `onEvent` is called with each event,
// `onState` with "live", "not connected" or "refused".
export async function follow(onEvent, onState) {
  let pause = shortestPause;
  let isFirst = true;
  for (;;) {
    try {
      for await (const event of events(() => {
        pause = shortestPause;
        onState("live");
        // What happened in the meantime is not told.
        if (!isFirst) onEvent({ unknown: true, classes: {} });
        isFirst = false;
      })) onEvent(event);
    } catch (error) {
      if (error.status === 401) {
        onState("refused");
        return;
      }
    }
    isFirst = false;
    onState("not connected");
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(2 * pause, longestPause);
  }
}

async function* events(onOpen) {
  const controller = new AbortController();
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(), silence);
  };
  try {
    wait();
    const body = await stream("events", controller.signal);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    onOpen();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      wait();
      const parts = (text + value).split(/\r?\n\r?\n/);
      text = parts.pop();
      for (const part of parts) {
        const data = part.split(/\r?\n/).filter((line) => line.startsWith("data:"))
          .map((line) => line.slice(5).trimStart()).join("\n");
        if (data) yield { classes: {}, ...JSON.parse(data) };
      }
    }
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
