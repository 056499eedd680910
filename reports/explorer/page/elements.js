// Elements are made here and nowhere else. Text goes in as text: nothing in this page is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F\u200B\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/** Show characters that would reorder or hide text by their numbers. */
const visible = (text) => String(text).replace(CONTROLS, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

function built(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

const el = (tag, attributes = {}, ...children) => built(document.createElement(tag), attributes, children);

const svg = (tag, attributes = {}, ...children) => built(document.createElementNS(SVG, tag), attributes, children);

/** Text of a data set, isolated so that its direction does not touch what stands around it. */
const said = (text, attributes = {}) => el("bdi", attributes, text);

const link = (target, ...children) => el("a", { href: address(target) }, ...children);

/** A sentence of the report: its pieces, each with what it is. */
const sentence = (pieces) => pieces.map(([kind, text]) => (kind ? el(kind, {}, said(text)) : said(text)));

/** Put the query's words in the text into marks. */
function highlighted(text, pattern) {
  if (!pattern) return [text];
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    parts.push(text.slice(end, found.index), el("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Khmer}]/u;

/** The pattern of a query's words; null without any. */
function patternOf(words) {
  if (!words.length) return null;
  const literal = (word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"); // under the flag u a hyphen outside a class must not be escaped
  const longest = [...words].sort((a, b) => b.length - a.length);
  const inside = longest.filter((word) => UNSPACED.test(word)).map(literal);
  const whole = longest.filter((word) => !UNSPACED.test(word)).map(literal);
  const alternatives = [...inside];
  if (whole.length) {
    alternatives.unshift(`(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}_][\\/.\\-])(?:${whole.join("|")})(?![\\p{L}\\p{N}_]|[\\/.\\-][\\p{L}\\p{N}_])`);
  }
  return new RegExp(alternatives.join("|"), "giu");
}

/** A table in a frame that scrolls sideways by itself, or turns into cards; the columns named in `left` hold text, the others numbers. */
function table(caption, head, rows, { left = [0], id, cards = false } = {}) {
  const heads = head.map((cell) => (typeof cell === "string" ? cell : cell.textContent));
  const side = (column) => (left.includes(column) ? "" : "n");
  return framed(
    caption,
    el(
      "table",
      { id, class: cards ? "cards" : null },
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((cell, column) => el("th", { scope: "col", class: side(column) }, cell)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell, column) =>
              column ? el("td", { class: side(column), "data-head": cards ? heads[column] : null }, cell) : el("th", { scope: "row", class: side(0) }, cell),
            ),
          ),
        ),
      ),
    ),
  );
}

const framed = (label, inner) => el("div", { class: "frame", tabindex: 0, role: "region", "aria-label": label }, inner);

/** A select with its label; `options` are pairs of value and text. */
function select(label, options, chosen, change) {
  const box = el("select", { onchange: (event) => change(event.target.value) });
  for (const [value, text] of options) box.append(el("option", { value }, text));
  box.value = chosen;
  return el("label", { class: "field" }, el("span", {}, label), box);
}

const badge = (kind, ...children) => el("span", { class: `badge ${kind}` }, ...children);
