// Requests to the server, each with the token.

import { token } from "./address.js";

// What the server refuses, and why. `status` is 0 when it does not answer at all.
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.error ?? `The server answers with status ${status}.`);
    this.status = status;
    this.answer = answer;
  }

  // The place in the query that the refusal is about, in UTF-8 bytes.
  get offset() {
    return this.answer.offset;
  }
}

// The answer to a question. Parameters that are empty are left out.
export async function read(path, parameters = {}, signal) {
  const given = Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  const response = await ask(`/api/${path}` + (search && "?" + search), { signal });
  return content(response);
}

// The answer to something that is sent.
export async function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await ask(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return content(response);
}

// A response whose body goes on for as long as both sides like.
export async function stream(path, signal) {
  const response = await ask(`/api/${path}`, { signal });
  if (!response.ok) await content(response);
  return response.body;
}

async function ask(address, options) {
  const headers = { ...options.headers, Authorization: `Bearer ${token()}` };
  try {
    return await fetch(address, { ...options, headers, cache: "no-store", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { error: "The server does not answer. It may have been ended." });
  }
}

async function content(response) {
  let answer = {};
  try {
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (response.ok) throw new Refusal(response.status, { error: "The server's answer was cut off." });
  }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}
