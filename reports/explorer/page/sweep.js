// Sweep: which settings are best, what each parameter is worth, and what quality costs.

function sweepView(found) {
  const sweep = DATA.sweeps.find((one) => one.label === found.sweep) ?? DATA.sweeps[0];
  const head = headOf(sweep.measure);
  const best = sweep.rows[0];
  const even = sweep.rows.filter((row) => row.adjusted >= 0.05).length;
  const part = !sweep.whole;
  return [
    el(
      "div",
      { class: "bar" },
      el("h1", {}, "Sweep ", said(sweep.label)),
      DATA.sweeps.length > 1
        ? select(
            "Sweep",
            DATA.sweeps.map((one) => [one.label, one.label]),
            sweep.label,
            (value) => go({ view: "sweep", sweep: value }),
          )
        : null,
    ),
    el(
      "p",
      { class: "quiet" },
      [
        plural(sweep.points, "point"),
        `${plural(sweep.configurations, "configuration")} by system`,
        sweep.failed ? `${count(sweep.failed)} failed and left out` : "",
        sweep.replaced ? `${count(sweep.replaced)} replaced by later ones of the same parameters` : "",
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    part
      ? el(
          "p",
          { class: "note" },
          `Drawn and listed are ${count(sweep.rows.length)} of ${count(sweep.configurations)} configurations: the whole Pareto front, the best, and others at even distances in the ranks below. The main effects and the histogram are of all.`,
        )
      : null,
    el(
      "p",
      { class: "lead" },
      "Best: ",
      el("strong", {}, said(best.system)),
      best ? ` ${settings(sweep, best)} with ${head} ${percent(best.mean, sweep.measure)}${inPercent(sweep.measure)}` : "",
      even > 1
        ? `; ${even === 2 ? "one other" : `${count(even - 1)} others`} ${part ? " of those drawn" : ""} cannot be told from it.`
        : ".",
    ),
    el("h2", {}, "Main effects"),
    effects(sweep),
    el("h2", {}, "Every configuration"),
    parallel(sweep, found),
    interaction(sweep, found),
    el("h2", {}, "What it costs"),
    sweepCosts(sweep),
    part ? histogram(sweep) : null,
    el("h2", {}, "Leaderboard"),
    leaderboard(sweep, found),
  ];
}

const shortName = (name) => name.split(".").slice(-2).join(".");

const settings = (sweep, row) => sweep.varied.map((name) => `${shortName(name)} = ${parameter(row.parameters[name])}`).join(", ");

/** What each parameter is worth: an axis each, numbers as a line with a band, names as dots with intervals. */
function effects(sweep) {
  if (!sweep.varied.length) return el("p", {}, "Nothing was varied but the replicates.");
  const reach = Math.max(...sweep.effects.flatMap((one) => [Math.abs(one.mean), Math.abs(one.low ?? 0), Math.abs(one.high ?? 0)])) || 0.01;
  return el(
    "div",
    { class: "figures small-multiples" },
    sweep.varied.map((name) => {
      const own = sweep.effects.filter((one) => one.parameter === name);
      const rows = own.map((one) => [
        parameter(one.value),
        count(one.rows),
        signed(one.mean, sweep.measure),
        ...(sweep.whole ? [bounds(one.low, one.high, sweep.measure)] : []),
      ]);
      const head = ["value", "rows", "effect", ...(sweep.whole ? ["95 % interval"] : [])];
      const caption = `${name}: mean of its rows less the mean of all${inPoints(sweep.measure) && ", in percentage points"}`;
      return el("div", {}, effectFigure(sweep.measure, name, own, reach), el("details", {}, el("summary", {}, "As a table"), table(caption, head, rows)));
    }),
  );
}

function effectFigure(measure, name, own, reach) {
  const [width, height, left, right, top, bottom] = [340, 190, 54, 14, 10, 38];
  const numeric = own.every((one) => typeof one.value === "number");
  const values = own.map((one) => one.value);
  const [factor] = style(measure);
  const [least, most] = numeric ? [Math.min(...values), Math.max(...values)] : [0, own.length - 1];
  const x = (one, n) => left + 12 + (((numeric ? one.value : n) - least) / (most - least || 1)) * (width - left - right - 24);
  const y = (value) => top + ((reach - value) / (2 * reach)) * (height - top - bottom);
  const words = `${name}: ${own.map((one) => `${parameter(one.value)} ${signed(one.mean, measure)}`).join(", ")}${inPoints(measure) && " percentage points"} against the mean of all.`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  for (const mark of ticks(-factor * reach, factor * reach)) {
    drawing.append(svg("line", { class: mark ? "grid" : "zero", x1: left, x2: width - right, y1: y(mark / factor), y2: y(mark / factor) }));
    drawing.append(svg("text", { class: "tick", x: left - 6, y: y(mark / factor) + 4, "text-anchor": "end" }, mark > 0 ? `+${mark}` : String(mark)));
  }
  const known = own.filter((one) => one.low !== null);
  if (numeric && known.length === own.length && own.length > 1) {
    const upper = own.map((one, n) => `${n ? "L" : "M"}${x(one, n)} ${y(one.high)}`).join("");
    const lower = [...own].reverse().map((one, n) => `L${x(one, own.length - 1 - n)} ${y(one.low)}`).join("");
    drawing.append(svg("path", { class: "band", d: `${upper}${lower}Z` }));
  }
  if (numeric) drawing.append(svg("path", { class: "trend", d: own.map((one, n) => `${n ? "L" : "M"}${x(one, n)} ${y(one.mean)}`).join("") }));
  const every = Math.ceil(own.length / 6);
  own.forEach((one, n) => {
    if (!numeric && one.low !== null)
      drawing.append(svg("line", { class: "spread hue0", x1: x(one, n), x2: x(one, n), y1: y(one.low), y2: y(one.high) }));
    const dot = shape(0, x(one, n), y(one.mean), 4, { class: "dot hue0" });
    dot.append(svg("title", {}, `${parameter(one.value)}: ${signed(one.mean, measure)}${inPoints(measure)} ${bounds(one.low, one.high, measure)}, ${plural(one.rows, "row")}`));
    drawing.append(dot);
    const text = parameter(one.value);
    if (n % every === 0)
      drawing.append(
        svg("text", { class: "tick", x: x(one, n), y: height - bottom + 16, "text-anchor": "middle" }, text.length > 12 ? `${text.slice(0, 11)}…` : text),
      );
  });
  drawing.append(svg("text", { class: "label", x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, shortName(name)));
  const up = { class: "label", "text-anchor": "middle", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)` };
  drawing.append(svg("text", up, `Δ ${headOf(measure)}${inPoints(measure, ", ")}`));
  return el("figure", {}, el("figcaption", {}, el("strong", {}, said(name))), drawing);
}

/** How two parameters act together: the mean of the configurations that have both values. */
function interaction(sweep, found) {
  if (!sweep.interactions.length) return null;
  const name = (one) => `${one.across} × ${one.down}`;
  const one = sweep.interactions.find((other) => name(other) === found.pair) ?? sweep.interactions[0];
  const known = one.cells.flat().filter((cell) => cell).map(([mean]) => mean);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const cell = (value) => {
    if (!value) return el("td", { class: "n" }, NONE);
    const [mean, n] = value;
    const box = el("td", { class: mean === high ? "n heat top" : "n heat", title: plural(n, "row") }, percent(mean, sweep.measure));
    box.style.setProperty("--heat", `${fixed((60 * (mean - low)) / (high - low || 1), 0)}%`);
    return box;
  };
  const caption = `Mean ${headOf(sweep.measure)} ${scaleWords()} of the configurations that have both values; the highest is bold`;
  return [
    el(
      "div",
      { class: "bar" },
      el("h2", {}, "Two parameters together"),
      select(
        "Parameters",
        sweep.interactions.map((other) => [name(other), `${shortName(other.across)} × ${shortName(other.down)}`]),
        name(one),
        (value) => go({ view: "sweep", pair: value }, { quietly: true }),
      ),
    ),
    framed(
      "Two parameters together",
      el(
        "table",
        { id: "interaction" },
        el("caption", {}, caption),
        el(
          "thead",
          {},
          el("tr", {}, el("th", { scope: "col" }, shortName(one.down)), one.columns.map((value) => el("th", { scope: "col", class: "n" }, parameter(value)))),
        ),
        el(
          "tbody",
          {},
          one.lines.map((value, n) => el("tr", {}, el("th", { scope: "row" }, parameter(value)), one.cells[n].map(cell))),
        ),
      ),
    ),
  ];
}

function sweepCosts(sweep) {
  const head = headOf(sweep.measure);
  const points = (x) =>
    sweep.rows.map((row) => ({
      x: x(row),
      y: row.mean,
      front: row.front,
      hue: row.front ? "hue5" : "hue6",
      mark: row.front ? 2 : 0,
      hint: `${row.system} ${settings(sweep, row)}: ${percent(row.mean, sweep.measure)}${inPercent(sweep.measure)}`,
    }));
  const text = "Each dot is a configuration; a diamond is on the front of the leaderboard, which weighs quality, tokens and time together.";
  return el(
    "div",
    { class: "figures" },
    scatter(
      `${head} against tokens.`,
      points((row) => row.tokens),
      { xlabel: "tokens read per query", ylabel: `${head}${inPercent(sweep.measure, ", ")}`, text, measure: sweep.measure },
    ),
    scatter(
      `${head} against time.`,
      points((row) => row.latency),
      { xlabel: "median time per query, ms", ylabel: `${head}${inPercent(sweep.measure, ", ")}`, wide: true, text, measure: sweep.measure },
    ),
  );
}

function histogram(sweep) {
  const { counts, edges } = sweep.histogram;
  const [width, height, bottom] = [NARROW ? 340 : 520, 160, 34];
  const highest = Math.max(...counts);
  const words = `How many of all ${count(sweep.configurations)} configurations reach which ${headOf(sweep.measure)}${inPercent(sweep.measure) && ", in percent"}.`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  counts.forEach((n, bin) => {
    const tall = (n / highest) * (height - bottom - 6);
    const bar = svg("rect", {
      class: "bin",
      x: edges[bin] * width,
      width: width / counts.length - 1,
      y: height - bottom - tall,
      height: tall,
    });
    bar.append(svg("title", {}, `${percent(edges[bin], sweep.measure)}–${percent(edges[bin + 1], sweep.measure)}${inPercent(sweep.measure)}: ${count(n)}`));
    drawing.append(bar);
  });
  for (const mark of [0.2, 0.4, 0.6, 0.8])
    drawing.append(svg("text", { class: "tick", x: mark * width, y: height - 18, "text-anchor": "middle" }, percent(mark, sweep.measure)));
  drawing.append(svg("text", { class: "label", x: width / 2, y: height - 3, "text-anchor": "middle" }, `${headOf(sweep.measure)}${inPercent(sweep.measure, ", ")}`));
  return el("figure", {}, el("figcaption", {}, words), drawing);
}

function leaderboard(sweep, found) {
  const most = Number(found.top) || 50;
  const kept = brushed(sweep, found);
  const rows = sweep.rows
    .map((row, n) => [row, n])
    .filter(([row]) => kept.has(row))
    .slice(0, most)
    .map(([row, n]) => [
      String(n + 1),
      said(row.system),
      ...sweep.varied.map((name) => said(parameter(row.parameters[name]))),
      percent(row.mean, sweep.measure),
      row.low === null ? NONE : `[${percent(row.low, sweep.measure)}, ${percent(row.high, sweep.measure)}]`,
      count(row.replicates),
      count(row.tokens),
      milliseconds(row.latency),
      [n && row.adjusted >= 0.05 ? badge("unsure", "even") : null, row.front ? badge("gain", "front") : null],
    ]);
  const head = [
    "#",
    "system",
    ...sweep.varied.map(shortName),
    headOf(sweep.measure),
    "95 % interval",
    "replicates",
    "tokens/query",
    "p50, ms",
    "marks",
  ];
  return el(
    "div",
    {},
    table(
      `The best ${count(rows.length)} of ${count(sweep.configurations)}: intervals over replicates and queries; even: cannot be told from the first, p ≥ .05 after Holm; front: nothing is at least as good, as short and as fast, and better in one`,
      head,
      rows,
      { left: [1, head.length - 1], id: "leaderboard" },
    ),
    kept.size > most ? el("button", { onclick: () => go({ top: most + 200 }, { quietly: true }) }, "Show more") : null,
  );
}
