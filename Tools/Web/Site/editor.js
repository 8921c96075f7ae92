// Edits one value in its place, as a text.

import { button, element } from "./dom.js";

// What a text for the property looks like.
export function hint(property) {
  if (property.kind === "list" || property.kind === "set") return 'JSON, as ["a", "b"]';
  if (property.kind === "map") return 'JSON, as {"a": 1}';
  if (property.kind === "any") return "JSON, or a text";
  if (property.embeds) return `JSON of ${property.target}`;
  if (property.kind === "link") return `key of ${property.target}, or #row`;
  const type = property.type.replace("?", "");
  return { Date: "2024-02-29T12:00:00Z", Data: "Base64", Bool: "true or false" }[type] ?? type;
}

// A field for the property's value. Without one, which `nothing` names, it is empty.
export function field(property, text, attributes, nothing = "null") {
  if (/^Bool\b/.test(property.type) && property.kind === "value") {
    const choices = property.optional || text === null ? ["", "true", "false"] : ["true", "false"];
    const select = element("select", attributes,
      ...choices.map((choice) => element("option", { value: choice }, choice || nothing)));
    select.value = text ?? "";
    return select;
  }
  // A line of input would drop the breaks of a text with several lines.
  const area = element("textarea", { rows: "1", spellcheck: "false", autocomplete: "off", ...attributes });
  area.value = text ?? "";
  return area;
}

// The text in a field, or null; `old` is the text that it began with.
export function textIn(field, property, old) {
  const given = field.value;
  // A text area knows only one kind of line break.
  if (old !== null && given === old.replace(/\r\n?/g, "\n")) return old;
  if (given === "" && (old === null || (property.optional && !isText(property)))) return null;
  return old?.includes("\r\n") ? given.replaceAll("\n", "\r\n") : given;
}

function isText(property) {
  return property.kind === "value" && /^String\b/.test(property.type);
}

// A button for the value that cannot be typed: null, or an empty text in the place of null.
function other(property, text, take) {
  if (!property.optional) return null;
  if (text !== null) return button("null", () => take(null), { title: "Set to null (Ctrl+Delete)" });
  return isText(property) ? button('""', () => take(""), { title: "Set to an empty text" }) : null;
}

// Replaces what is in `node` by a field. `done` is called once: with { text } when there is a new
// value, with null when there is none; `key` is the key that ended it, if any.
export function edit(node, property, text, done) {
  let isOver = false;
  const input = field(property, text, {
    "aria-label": `${property.name}, ${property.type}`,
    placeholder: text === null ? "null" : hint(property),
  });
  const end = (result, key) => {
    if (isOver) return;
    isOver = true;
    done(result, key);
  };
  const commit = (key) => {
    const given = textIn(input, property, text);
    end(given === text ? null : { text: given }, key);
  };
  const editor = element("div", {
    class: "editor",
    onfocusout: (event) => { if (!editor.contains(event.relatedTarget)) commit(); },
    ondblclick: (event) => event.stopPropagation(),
    onkeydown: (event) => {
      const isCommand = event.ctrlKey || event.metaKey;
      // The edit is taken first, and then saved with the others.
      if (isCommand && event.key === "s") return commit("Enter");
      event.stopPropagation();
      if (event.key === "Escape") end(null, event.key);
      else if (event.key === "Delete" && isCommand && property.optional) end({ text: null }, event.key);
      else if (event.key === "Tab") commit(event.shiftKey ? "Shift+Tab" : "Tab");
      else if (event.key === "Enter" && event.target === input && !event.shiftKey
        && !event.isComposing) commit(event.key);
      else return;
      event.preventDefault();
    },
  }, input, other(property, text, (text) => end({ text }, "Enter")));
  node.replaceChildren(editor);
  input.focus();
  if (input.select) input.select();
}
