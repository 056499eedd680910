// Compare: two systems of one run or of two, what moved, what was lost, and the gate's verdict.

function compareView(found) {
  const run = runOf(found);
  const own = firstContenders(run);
  const [before, after] = MANY ? farthest() : [own.at(-2) ?? own[0], own.at(-1)];
  const a = contender(found.a) ?? before;
  const b = contender(found.b) ?? after;
  if (!a || !b || CONTENDERS.length < 2)
    return [el("h1", {}, "Compare"), el("p", {}, "There is only one system; name several runs to compare them.")];
  const names = CONTENDERS.map((c) => [c.key, c.key]);
  const measure = a.run.summary.measures.includes(found.measure) ? found.measure : mainMeasure(a.run);
  return [
    el("h1", {}, said(a.key), " → ", said(b.key)),
    el(
      "div",
      { class: "bar" },
      select("Before (A)", names, a.key, (value) => go({ view: "compare", a: value, b: b.key })),
      select("After (B)", names, b.key, (value) => go({ view: "compare", a: a.key, b: value })),
      el("button", { onclick: () => go({ view: "compare", a: b.key, b: a.key }) }, "Turn round"),
      select(
        "Categories and queries by",
        a.run.summary.measures.map((m) => [m, headOf(m)]),
        measure,
        (value) => go({ view: "compare", measure: value }),
      ),
    ),
    a === b ? el("p", {}, "A system is not compared with itself.") : differences(a, b, measure),
    betweenRuns(a.run, b.run, measure),
    gateSection(a, b),
    a === b ? null : moved(a, b, measure),
  ];
}

/** The contenders of the comparison between runs that is the least likely by chance. */
function farthest() {
  const sides = ({ a, b }) => [a, b].map(([label, name]) => CONTENDERS.find((c) => c.run.label === label && c.name === name));
  const p = (one) => Math.min(1, ...(one.rows ?? []).map((row) => row[COLUMNS.indexOf("adjusted")]));
  const between = DATA.comparisons.filter((one) => one.a[0] !== one.b[0]);
  return between.length
    ? sides(between.reduce((kept, one) => (p(one) < p(kept) ? one : kept)))
    : [CONTENDERS[0], CONTENDERS.find((c) => c.run !== CONTENDERS[0].run)];
}

/** Every system that both runs have, by one measure. */
function betweenRuns(first, second, measure) {
  if (first === second) return null;
  const rows = contendersOf(first)
    .map((a) => [a, contendersOf(second).find((b) => b.name === a.name)])
    .filter(([, b]) => b)
    .map(([a, b]) => [a, b, comparison(a, b)?.rows?.find((row) => row.measure === measure && !row.category)])
    .filter(([, , row]) => row);
  if (!rows.length) return null;
  return el(
    "section",
    {},
    el("h2", {}, "Every system"),
    table(
      `${headOf(measure)} of every system that both runs have, ${scaleWords()}; p adjusted within each system`,
      ["system", "A", "B", `Δ${inPoints(measure)}`, "95 % interval", "adjusted p", "outcome"],
      rows.map(([a, b, row]) => [
        link({ view: "compare", a: a.key, b: b.key }, said(a.name)),
        percent(row.before, row.measure),
        percent(row.after, row.measure),
        signed(row.mean, row.measure),
        bounds(row.low, row.high, row.measure),
        probability(row.adjusted),
        badge(...outcome(row)),
      ]),
      { left: [0, 6], id: "every-system" },
    ),
  );
}

function differences(a, b, measure) {
  const found = comparison(a, b);
  if (!found)
    return el(
      "p",
      { class: "note" },
      "These two were not tested against each other here: ",
      el("code", {}, `recallmeter compare ${a.run.label}:${a.name} ${b.run.label}:${b.name}`),
      " does it.",
    );
  if (found.error) return el("p", { class: "note loss" }, said(found.error));
  const overall = found.rows.filter((row) => !row.category);
  const parts = found.rows.filter((row) => row.category && row.measure === measure);
  const caption =
    `Means ${scaleWords()}, Δ${inPoints() && " in percentage points"} with its 95 % bootstrap interval; p by paired randomisation, adjusted after Holm over the rows of this table; detectable: the smallest true difference that would be shown with probability .8`;
  return el(
    "section",
    {},
    el("h2", {}, "How they differ"),
    differenceTable("differences", caption, overall, false),
    parts.length
      ? [
          el("h2", {}, "By category"),
          differenceTable("category-differences", "The same by category; p adjusted over all measures and categories", parts, true),
        ]
      : categoryMeans(a, b),
  );
}

function differenceTable(id, caption, rows, categories) {
  const reach = Math.max(...rows.flatMap((row) => [Math.abs(row.mean), Math.abs(row.low ?? 0), Math.abs(row.high ?? 0)]));
  const head = [
    ...(categories ? ["category"] : []),
    "measure",
    "n",
    "A",
    "B",
    rows.every((row) => isShare(row.measure)) ? `Δ${inPoints()}` : "Δ",
    "95 % interval",
    "",
    "p",
    "adjusted",
    "better/same/worse",
    "detectable",
    "outcome",
  ];
  const body = rows.map((row) => [
    ...(categories ? [said(row.category)] : []),
    headOf(row.measure),
    count(row.n),
    percent(row.before, row.measure),
    percent(row.after, row.measure),
    signed(row.mean, row.measure),
    bounds(row.low, row.high, row.measure),
    difference(row.mean, row.low, row.high, reach),
    probability(row.p),
    probability(row.adjusted),
    `${row.wins}/${row.ties}/${row.losses}`,
    percent(row.detectable, row.measure),
    badge(...outcome(row)),
  ]);
  const shift = categories ? 1 : 0;
  head[6 + shift] = el("span", { class: "hidden" }, "the interval drawn");
  return table(caption, head, body, { left: categories ? [0, 1, 7, 12] : [0, 6, 11], id });
}

function categoryMeans(a, b) {
  if (a.run !== b.run) return null;
  const measure = mainMeasure(a.run);
  const rows = Object.keys(a.run.summary.categories)
    .map((category) => [category, a.summary.categories[category][measure], b.summary.categories[category][measure]])
    .filter(([, x]) => x.n);
  return [
    el("h2", {}, "By category"),
    table(
      `${headOf(measure)} by category: means alone, since so many tests on so few queries would mislead`,
      ["category", "n", "A", "B", `Δ${inPoints(measure)}`],
      rows.map(([category, x, y]) => [said(category || "without category"), count(x.n), interval(x, measure), interval(y, measure), signed(y.mean - x.mean, measure)]),
    ),
  ];
}

function gateSection(a, b) {
  const gate = DATA.gates.find(
    (one) => [a.run.label, b.run.label].includes(one.run) && [a.run.label, b.run.label].includes(one.baseline) && a.run !== b.run,
  );
  if (!gate) return null;
  if (gate.error) return el("section", {}, el("h2", {}, "The gate"), el("p", { class: "note loss" }, said(gate.error)));
  const [head, ...rows] = gate.rows;
  return el(
    "section",
    {},
    el("h2", {}, "The gate ", verdictBadge(gate.verdict)),
    el("p", {}, `${gate.run} against ${gate.baseline}. `, gate.headline),
    table(
      "The rules of the gate",
      head,
      rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? verdictBadge(cell) : cell))),
      { left: [0, 1, head.length - 1], id: "gate" },
    ),
    el(
      "details",
      {},
      el("summary", {}, "Why"),
      el(
        "ul",
        {},
        [...gate.why, ...gate.notes].map((line) => el("li", {}, said(line))),
      ),
    ),
  );
}

const titleOf = (run, id) => {
  const title = run.observations[run.row.get(id)]?.title || id;
  return title.length > 48 ? `${title.slice(0, 47)}…` : title;
};

/** The queries on which the measure changed, the largest loss first. */
function moved(a, b, measure) {
  const both = a.run.queries.filter((asked) => asked.relevant.length && b.run.place.has(asked.id));
  const value = (c, asked) => c.answers.values[measure]?.[c.run.place.get(asked.id)] ?? null;
  const changed = both.map((asked) => ({ asked, change: value(b, asked) - value(a, asked) })).filter(({ change }) => change);
  changed.sort((x, y) => x.change - y.change || (x.asked.id < y.asked.id ? -1 : 1));
  const rank = (c, asked, id) => c.answers.hits[c.run.place.get(asked.id)].indexOf(c.run.row.get(id)) + 1 || NONE;
  const moves = (asked) =>
    asked.relevant
      .map(([row]) => a.run.observations[row].id)
      .map((id) => [id, rank(a, asked, id), rank(b, asked, id)])
      .filter(([, x, y]) => x !== y);
  const rows = changed.map(({ asked, change }) => [
    link({ view: "query", run: MANY ? a.run.label : "", query: asked.id, a: a.key, b: b.key }, said(asked.id)),
    said(asked.text),
    said(asked.category ?? ""),
    percent(value(a, asked), measure),
    percent(value(b, asked), measure),
    el("span", { class: change > 0 ? "gain" : "loss" }, signed(change, measure)),
    moves(asked).map(([id, x, y]) => el("span", { class: "chip", title: id }, said(titleOf(a.run, id)), `: ${x} → ${y}`)),
  ]);
  const gains = changed.filter(({ change }) => change > 0).length;
  const words = `${headOf(measure)}: better on ${gains}, worse on ${changed.length - gains}, the same on ${both.length - changed.length} of ${plural(both.length, "query", "queries")}`;
  return el(
    "section",
    {},
    el("h2", {}, "What moved"),
    rows.length
      ? table(
          `${words}; with the ranks of relevant observations that changed`,
          ["query", "question", "category", "A", "B", `Δ${inPoints(measure)}`, "ranks"],
          rows,
          { left: [0, 1, 2, 6], id: "moved", cards: true },
        )
      : el("p", {}, `${words}.`),
  );
}
