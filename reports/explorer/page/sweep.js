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
      best ? ` ${settings(sweep, best)} with ${head} ${percent(best.mean)} %` : "",
      even > 1
        ? `; ${even === 2 ? "one other" : `${count(even - 1)} others`} ${part ? " of those drawn" : ""} cannot be told from it.`
        : ".",
    ),
    el("h2", {}, "Main effects"),
    effects(sweep),
    el("h2", {}, "Every configuration"),
    parallel(sweep),
    el("h2", {}, "What it costs"),
    sweepCosts(sweep),
    part ? histogram(sweep) : null,
    el("h2", {}, "Leaderboard"),
    leaderboard(sweep, found),
  ];
}

const shortName = (name) => name.split(".").slice(-2).join(".");

const settings = (sweep, row) => sweep.varied.map((name) => `${shortName(name)} = ${parameter(row.parameters[name])}`).join(", ");

function effects(sweep) {
  if (!sweep.varied.length) return el("p", {}, "Nothing was varied but the replicates.");
  const reach = Math.max(...sweep.effects.flatMap((one) => [Math.abs(one.mean), Math.abs(one.low ?? 0), Math.abs(one.high ?? 0)]));
  return el(
    "div",
    { class: "figures small-multiples" },
    sweep.varied.map((name) => {
      const rows = sweep.effects
        .filter((one) => one.parameter === name)
        .map((one) => [
          parameter(one.value),
          count(one.rows),
          signed(one.mean),
          ...(sweep.whole ? [bounds(one.low, one.high)] : []),
          difference(one.mean, one.low, one.high, reach, 90),
        ]);
      const head = [
        "value",
        "rows",
        "effect",
        ...(sweep.whole ? ["95 % interval"] : []),
        el("span", { class: "hidden" }, "the effect drawn"),
      ];
      return table(`${name}: mean of its rows less the mean of all, in percentage points`, head, rows, { left: [0, head.length - 1] });
    }),
  );
}

/** The axes of the parallel coordinates: what was varied, the system where there are several, the measure, tokens and time. */
function axesOf(sweep) {
  const several = new Set(sweep.rows.map((row) => row.system)).size > 1;
  const numeric = (values) => values.every((value) => typeof value === "number");
  const axis = (name, of, write, parameterOf = false) => {
    const values = [...new Set(sweep.rows.map(of))];
    if (numeric(values)) {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const marks = parameterOf && values.length < 9 ? values : high > low ? [low, (low + high) / 2, high] : [low];
      return {
        name,
        write,
        marks,
        at: (row) => (high > low ? (of(row) - low) / (high - low) : 0.5),
        place: (value) => (high > low ? (value - low) / (high - low) : 0.5),
      };
    }
    const keys = values.map(parameter).sort();
    const place = (value) => (keys.length > 1 ? keys.indexOf(parameter(value)) / (keys.length - 1) : 0.5);
    return { name, write, marks: values, at: (row) => place(of(row)), place };
  };
  return [
    ...(several ? [axis("system", (row) => row.system, String)] : []),
    ...sweep.varied.map((name) => axis(shortName(name), (row) => row.parameters[name], parameter, true)),
    axis("tokens", (row) => row.tokens, count),
    axis("p50, ms", (row) => row.latency, score),
    axis(`${headOf(sweep.measure)}, %`, (row) => row.mean, percent),
  ];
}

function parallel(sweep) {
  const axes = axesOf(sweep);
  const [gap, height, top, left] = [130, 260, 34, 60];
  const width = left * 2 + gap * (axes.length - 1);
  const words = `Each line is a configuration: ${axes.map((axis) => axis.name).join(", ")}. The stronger lines are on the Pareto front; the best is ${settings(sweep, sweep.rows[0]) || sweep.rows[0].system}.`;
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height + top + 16}`,
    class: sweep.rows.length > 200 ? "parallel many" : "parallel",
    role: "img",
    "aria-label": words,
  });
  const x = (n) => left + n * gap;
  const y = (share) => top + (1 - share) * height;
  for (const row of [...sweep.rows].reverse().sort((a, b) => a.front - b.front)) {
    const line = svg("path", {
      class: row.front ? "front" : "",
      d: axes.map((axis, n) => `${n ? "L" : "M"}${x(n)} ${y(axis.at(row))}`).join(""),
    });
    line.append(svg("title", {}, `${row.system} ${settings(sweep, row)}: ${percent(row.mean)} %`));
    drawing.append(line);
  }
  axes.forEach((axis, n) => {
    drawing.append(svg("line", { class: "axis", x1: x(n), x2: x(n), y1: top, y2: top + height }));
    drawing.append(svg("text", { class: "label", x: x(n), y: 16, "text-anchor": "middle" }, axis.name));
    for (const mark of axis.marks)
      drawing.append(svg("text", { class: "tick", x: x(n) + 5, y: y(axis.place(mark)) + 4 }, axis.write(mark)));
  });
  const figure = el("figure", { class: "wide" }, el("figcaption", {}, words), framed("Every configuration", drawing));
  drawing.style.minWidth = `${width * 0.8}px`;
  drawing.style.maxWidth = `${width * 1.5}px`;
  return figure;
}

function sweepCosts(sweep) {
  const head = headOf(sweep.measure);
  const points = (x) =>
    markFront(
      sweep.rows.map((row) => ({ x: x(row), y: row.mean, hint: `${row.system} ${settings(sweep, row)}: ${percent(row.mean)} %` })),
    ).map((point) => ({ ...point, hue: point.front ? "hue5" : "hue6" }));
  const text = "Each dot is a configuration; those that nothing beats in both are joined.";
  return el(
    "div",
    { class: "figures" },
    scatter(
      `${head} against tokens.`,
      points((row) => row.tokens),
      { xlabel: "tokens read per query", ylabel: `${head}, %`, text },
    ),
    scatter(
      `${head} against time.`,
      points((row) => row.latency),
      { xlabel: "median time per query, ms", ylabel: `${head}, %`, wide: true, text },
    ),
  );
}

function histogram(sweep) {
  const { counts, edges } = sweep.histogram;
  const [width, height, bottom] = [NARROW ? 340 : 520, 160, 34];
  const highest = Math.max(...counts);
  const words = `How many of all ${count(sweep.configurations)} configurations reach which ${headOf(sweep.measure)}, in percent.`;
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
    bar.append(svg("title", {}, `${percent(edges[bin])}–${percent(edges[bin + 1])} %: ${count(n)}`));
    drawing.append(bar);
  });
  for (const mark of [0.2, 0.4, 0.6, 0.8])
    drawing.append(svg("text", { class: "tick", x: mark * width, y: height - 18, "text-anchor": "middle" }, percent(mark)));
  drawing.append(svg("text", { class: "label", x: width / 2, y: height - 3, "text-anchor": "middle" }, `${headOf(sweep.measure)}, %`));
  return el("figure", {}, el("figcaption", {}, words), drawing);
}

function leaderboard(sweep, found) {
  const most = Number(found.top) || 50;
  const rows = sweep.rows
    .slice(0, most)
    .map((row, n) => [
      String(n + 1),
      said(row.system),
      ...sweep.varied.map((name) => said(parameter(row.parameters[name]))),
      percent(row.mean),
      row.low === null ? NONE : `[${percent(row.low)}, ${percent(row.high)}]`,
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
    sweep.rows.length > most ? el("button", { onclick: () => go({ top: most + 200 }, { quietly: true }) }, "Show more") : null,
  );
}
