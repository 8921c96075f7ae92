// Texts for numbers, sizes and values.

// 1,234,567
export function count(number) {
  return number.toLocaleString("en");
}

// "1 object", "2 objects"
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// 17.4 MB
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} B` : `${value.toPrecision(3)} ${units[unit]}`;
}

export function percent(part, whole) {
  return whole ? `${(100 * part / whole).toFixed(1)} %` : "";
}

export function time(milliseconds) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

// 2 h 5 min
export function age(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

// "columnLeaf" is "column leaf".
export function words(name) {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

// The text in one line, with signs where it breaks.
export function oneLine(text) {
  return text.replace(/\r\n|[\n\r\u2028\u2029]/g, "↵").replace(/\t/g, "⇥");
}

// The text in one line, cut where it is long. `null` stands for null.
export function brief(text, limit = 60) {
  if (text === null) return "null";
  const line = oneLine(text.length > limit ? text.slice(0, limit) + "…" : text);
  return line === "" ? '""' : line;
}

// How the text begins up to an offset that counts UTF-8 bytes.
export function prefix(text, byteCount) {
  return new TextDecoder().decode(new TextEncoder().encode(text).slice(0, byteCount));
}

// JSON over several lines. Works on the text, since numbers would be rounded if they were parsed.
export function indented(json) {
  let depth = 0;
  const line = () => "\n" + "  ".repeat(Math.max(0, depth));
  const tokens = json.match(/"(?:\\.|[^"\\])*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  return tokens.map((token) => {
    if (token === "{" || token === "[") return token + (depth += 1, line());
    if (token === "}" || token === "]") return (depth -= 1, line()) + token;
    if (token === ",") return "," + line();
    return token === ":" ? ": " : token;
  }).join("");
}

// A text as a literal of the query language.
export function literal(text) {
  return "'" + text.replace(/[\\']/g, "\\$&") + "'";
}
