// Figures: each is one image with a text for those who don't see it, and stands beside a table of the same numbers.

/** On a small screen figures are drawn small, so that their text stays readable. */
const NARROW = matchMedia("(max-width: 40rem)").matches;

/** Shapes, so that systems are told apart without hue as well; each is drawn around a point. */
const SHAPES = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}Z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}Z`,
  (x, y, r) => `M${x} ${y + 1.2 * r}L${x + 1.2 * r} ${y - r}H${x - 1.2 * r}Z`,
  (x, y, r) => `M${x - r / 2} ${y - 1.2 * r}h${r}v${0.7 * r}h${0.7 * r}v${r}h${-0.7 * r}v${0.7 * r}h${-r}v${-0.7 * r}h${-0.7 * r}v${-r}h${0.7 * r}Z`,
  (x, y, r) => `M${x - 1.2 * r} ${y}L${x + r} ${y - 1.2 * r}V${y + 1.2 * r}Z`,
  (x, y, r) => `M${x + 1.2 * r} ${y}L${x - r} ${y - 1.2 * r}V${y + 1.2 * r}Z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y - r / 3}L${x + 0.7 * r} ${y + r}H${x - 0.7 * r}L${x - 1.2 * r} ${y - r / 3}Z`,
  (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}V${y - r}L${x - r} ${y + r}Z`,
];

const shape = (n, x, y, r, attributes) => svg("path", { d: SHAPES[n % SHAPES.length](x, y, r), ...attributes });

/** The shape and hue of a system, for words that stand beside a figure. */
const swatch = (c) =>
  el("span", { class: `swatch ${c.hue}`, "aria-hidden": "true" }, svg("svg", { width: 13, height: 13 }, shape(c.shape, 6.5, 6.5, 4.6, { class: "dot" })));

/** A mean as a dot, its interval as a whisker, the best attainable as a mark; the axis runs from `least` to `most`. */
function whisker(cell, ceiling, { hue = "", mark = 0, least = 0, most = 1 } = {}) {
  const [width, height] = [120, 18];
  const x = (value) => 6 + Math.max(0, Math.min(1, (value - least) / (most - least || 1))) * (width - 12);
  const middle = height / 2;
  const drawing = svg("svg", { class: `whisker ${hue}`, viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  drawing.append(svg("line", { class: "axis", x1: x(least), x2: x(most), y1: middle, y2: middle }));
  if (ceiling !== null && ceiling !== undefined && ceiling <= most) {
    drawing.append(svg("line", { class: "ceiling", x1: x(ceiling), x2: x(ceiling), y1: 2, y2: height - 2 }));
  }
  if (cell.mean !== null && cell.mean >= least && cell.mean <= most) {
    if (cell.low !== null) drawing.append(svg("line", { class: "spread", x1: x(cell.low), x2: x(cell.high), y1: middle, y2: middle }));
    drawing.append(shape(mark, x(cell.mean), middle, 3.4, { class: "dot" }));
  }
  return drawing;
}

/** A difference with its interval around zero; `reach` is the largest that the table shows. */
function difference(mean, low, high, reach, width = 140) {
  const height = 18;
  const x = (value) => width / 2 + (value / (reach || 1)) * (width / 2 - 6);
  const middle = height / 2;
  const drawing = svg("svg", { class: "whisker wide", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  drawing.append(svg("line", { class: "axis", x1: 2, x2: width - 2, y1: middle, y2: middle }));
  drawing.append(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 1, y2: height - 1 }));
  if (low !== null) drawing.append(svg("line", { class: "spread", x1: x(low), x2: x(high), y1: middle, y2: middle }));
  drawing.append(svg("circle", { class: `dot ${mean > 0 ? "gain" : mean < 0 ? "loss" : ""}`, cx: x(mean), cy: middle, r: 4 }));
  return drawing;
}

/** Round values that divide a range into about five parts. */
function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + step * 1e-9; n++) found.push(Number((n * step).toPrecision(12)));
  return found;
}

function powers(low, high) {
  const found = [];
  for (let n = Math.floor(Math.log10(low)); n <= Math.ceil(Math.log10(high)); n++) found.push(10 ** n);
  return found;
}

/**
 * Quality (0 to 1) against a cost, with the points that nothing beats in both joined.
 * Points are {x, y, low, high, name, hue, front}; a point without a name is drawn small. A cost that ranges `wide` may get a log scale.
 */
function scatter(title, points, { xlabel, ylabel, wide = false, text, measure }) {
  const [width, height, left, right, top, bottom] = [NARROW ? 340 : 520, 320, 48, 22, 12, 44];
  const drawn = points.filter((p) => p.y !== null && p.x !== null && (!wide || p.x > 0));
  const figure = el("figure", {}, el("figcaption", {}, el("strong", {}, title), " ", text));
  if (!drawn.length) return figure;
  const xs = drawn.map((p) => p.x);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const log = wide && most > 20 * least;
  const across = log ? Math.log10 : (value) => value;
  const spare = (most - least) * 0.12 || most * 0.1 || 1;
  const [from, to] = least < most / 2 ? [0, most + spare] : [least - spare, most + spare];
  const marks = log ? powers(least, most) : ticks(from, to);
  const [first, last] = log ? [across(marks[0]), across(marks.at(-1))] : [from, to];
  const ys = drawn.flatMap((p) => [p.low ?? p.y, p.high ?? p.y]);
  const [lowest, highest] = [Math.min(...ys), Math.max(...ys)];
  const [begin, next] = ticks(lowest, Math.max(highest, lowest + 0.01));
  const grain = next - begin || 0.1;
  const floor = Math.max(0, Math.floor(lowest / grain - 0.2) * grain);
  const roof = Math.min(isShare(measure) ? 1 : Infinity, Math.ceil(highest / grain + 0.2) * grain);
  const x = (value) => left + ((across(value) - first) / (last - first || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - floor) / (roof - floor)) * (height - top - bottom);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} ${text}` });
  for (const mark of ticks(floor, roof)) {
    drawing.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(mark), y2: y(mark) }));
    drawing.append(svg("text", { class: "tick", x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, DATA.fraction || !isShare(measure) ? String(mark) : String(Number((100 * mark).toPrecision(6)))));
  }
  for (const mark of marks) {
    drawing.append(svg("line", { class: "grid", x1: x(mark), x2: x(mark), y1: top, y2: height - bottom }));
    const label = mark < 1000 ? String(mark) : count(mark);
    drawing.append(svg("text", { class: "tick", x: x(mark), y: height - bottom + 16, "text-anchor": "middle" }, label));
  }
  drawing.append(
    svg(
      "text",
      { class: "label", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" },
      log ? `${xlabel}, log scale` : xlabel,
    ),
  );
  drawing.append(
    svg("text", { class: "label", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, ylabel),
  );
  const front = drawn.filter((p) => p.front && p.name).sort((a, b) => a.x - b.x);
  const steps = front.map((p, n) => (n ? `H${x(p.x)}V${y(p.y)}` : `M${x(p.x)} ${y(p.y)}`)).join("");
  if (front.length > 1) drawing.append(svg("path", { class: "front", d: steps }));
  for (const p of drawn) {
    if (p.low !== null && p.low !== undefined && p.name)
      drawing.append(svg("line", { class: `spread ${p.hue}`, x1: x(p.x), x2: x(p.x), y1: y(p.low), y2: y(p.high) }));
  }
  for (const p of drawn) {
    const dot = shape(p.mark ?? 0, x(p.x), y(p.y), p.name ? 5 : 3, { class: `dot ${p.hue} ${p.front ? "" : "behind"}` });
    dot.append(svg("title", {}, p.hint ?? p.name));
    drawing.append(dot);
  }
  named(
    drawing,
    drawn.filter((p) => p.name).map((p) => ({ name: p.name, x: x(p.x), y: y(p.y) })),
    { width, top, bottom: height - bottom },
  );
  figure.append(drawing);
  return figure;
}

/** Write names beside their points, each where it covers nothing, or as little as can be. */
function named(drawing, points, { width, top, bottom }) {
  const taken = points.map(({ x, y }) => ({ x1: x - 5, x2: x + 5, y1: y - 5, y2: y + 5 }));
  const covered = (a) =>
    taken.reduce(
      (sum, b) => sum + Math.max(0, Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1)) * Math.max(0, Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1)),
      0,
    );
  for (const { name, x, y } of [...points].sort((a, b) => a.y - b.y)) {
    const length = 7.2 * name.length;
    const places = [0, -13, 13, -26, 26, -39, 39, -52, 52].flatMap((shift) =>
      [x + 8, x - 8 - length].map((x1) => ({ x1, x2: x1 + length, y1: y - 7 + shift, y2: y + 6 + shift })),
    );
    const inside = places.filter((box) => box.x1 > 40 && box.x2 < width && box.y1 >= top && box.y2 <= bottom);
    const best = (inside.length ? inside : places).reduce((kept, box) => (covered(box) < covered(kept) ? box : kept));
    taken.push(best);
    drawing.append(svg("text", { class: "name", x: best.x1, y: best.y2 - 2 }, name));
  }
}
