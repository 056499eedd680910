// Data: what was asked and remembered, what is wrong with it, what the measures mean, and how the run came about.

function dataView(found) {
  const run = runOf(found);
  return [
    el("h1", {}, "Data: ", said(run.manifest.dataset.name)),
    el("div", { class: "figures" }, facts(run), ceilings(run)),
    el("h2", {}, "Timeline"),
    timeline(run),
    el("h2", {}, "Checks"),
    checks(run),
    el("h2", {}, "The metric contract"),
    table("Every measure", ["measure", "what it is", "divided by", "ties", "left out"], DATA.contract, { left: [0, 1, 2, 3, 4] }),
    table("What holds for all of them", ["term", "rule"], DATA.rules, { left: [0, 1] }),
    el("h2", {}, "The run"),
    table(
      "Manifest",
      ["fact", "value"],
      flat(run.manifest).map(([name, value]) => [name, said(value)]),
      { left: [0, 1], id: "manifest" },
    ),
    el("details", {}, el("summary", {}, "The resolved configuration"), el("pre", { tabindex: 0 }, said(run.config))),
  ];
}

function facts(run) {
  const relevant = run.queries.filter((asked) => asked.relevant.length).map((asked) => asked.relevant.length);
  const { dataset } = run.manifest;
  const rows = [
    ["licence", said(dataset.licence || NONE)],
    ["fingerprint (SHA-256)", el("code", {}, dataset.fingerprint.slice(0, 16), "…")],
    ["observations", count(dataset.observations)],
    ["queries", count(dataset.queries)],
    ...Object.entries(run.summary.categories).map(([category, n]) => [said(`– ${category || "without category"}`), count(n)]),
    [
      "relevant observations a query",
      relevant.length
        ? `${Math.min(...relevant)}–${Math.max(...relevant)}, mean ${fixed(relevant.reduce((sum, n) => sum + n, 0) / relevant.length, 1)}`
        : NONE,
    ],
    ["tokens of all that a query may search", count(run.summary.memory_tokens)],
  ];
  return table("The data set", ["fact", "value"], rows);
}

function ceilings(run) {
  const rows = run.summary.measures.map((measure) => [
    headOf(measure),
    percent(run.summary.ceilings[measure], measure),
    whisker({ mean: null }, run.summary.ceilings[measure]),
  ]);
  return table(
    `The best that any ranking can reach with these labels, ${scaleWords()}`,
    ["measure", "ceiling", el("span", { class: "hidden" }, "drawn")],
    rows,
    { left: [0, 2], id: "ceilings" },
  );
}

/** How many observations are drawn one by one. */
const DOTS = 4000;

/** Sessions side by side in their order, the observations of each as dots from its first to its last. */
function timeline(run) {
  const sessions = new Map();
  run.observations.forEach((observation, row) => {
    if (observation.unknown) return;
    if (!sessions.has(observation.session_id)) sessions.set(observation.session_id, []);
    sessions.get(observation.session_id).push({ row, at: Date.parse(observation.timestamp) });
  });
  const rows = [...sessions]
    .map(([name, all]) => [name, all.sort((x, y) => x.at - y.at || x.row - y.row)])
    .sort((x, y) => x[1][0].at - y[1][0].at);
  if (!rows.length) return el("p", {}, "The run kept no observation.");
  const asked = new Set(run.queries.flatMap((one) => one.relevant.map(([row]) => row)));
  const day = (at) => new Date(at).toISOString().slice(0, 10);
  const all = rows.flatMap(([, found]) => found);
  const latest = all.reduce((kept, one) => Math.max(kept, one.at), 0);
  if (latest === rows[0][1][0].at) return el("p", {}, "All observations are of one moment, or the data set carries no times.");
  const drawnApart = all.length <= DOTS;
  const words = `${plural(rows.length, "session")} with ${plural(all.length, "observation")} from ${day(rows[0][1][0].at)} to ${day(latest)}; ${plural(asked.size, "observation")} ${asked.size === 1 ? "answers" : "answer"} a query${drawnApart ? ", drawn full; orange was superseded later" : ""}.`;
  if (!drawnApart)
    return over(
      all.map((one) => one.at),
      words,
      day,
    );
  const [step, left] = [Math.max(6, Math.min(26, 1000 / rows.length)), 10];
  const tallest = Math.max(...rows.map(([, found]) => found.length));
  const dot = Math.max(4, Math.min(10, 200 / tallest));
  const [width, height] = [left * 2 + step * rows.length, dot * tallest + 30];
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "timeline", role: "img", "aria-label": words });
  rows.forEach(([name, found], n) => {
    found.forEach(({ row }, at) => {
      const observation = run.observations[row];
      const circle = svg("circle", {
        class: `${asked.has(row) ? "asked" : ""} ${observation.superseded_by ? "old" : ""}`,
        cx: left + step * (n + 0.5),
        cy: height - 24 - dot * (at + 0.5),
        r: dot / 2 - 0.8,
      });
      circle.append(svg("title", {}, `${name} ${day(Date.parse(observation.timestamp))}: ${observation.title}`));
      drawing.append(circle);
    });
    if (n % Math.ceil(70 / step) === 0) drawing.append(svg("text", { class: "tick", x: left + step * n, y: height - 6 }, day(found[0].at)));
  });
  const listed = rows.slice(0, 500).map(([name, found]) => [
    said(name),
    day(found[0].at),
    count(found.length),
    el(
      "div",
      {},
      found.map(({ row }) => el("div", {}, observationLink(run, run.observations[row].id))),
    ),
  ]);
  return el(
    "figure",
    { class: "wide" },
    el("figcaption", {}, words),
    framed("Timeline", drawing),
    el(
      "details",
      {},
      el("summary", {}, "The sessions as a table"),
      table("Sessions", ["session", "first day", "observations", "titles"], listed, { left: [0, 1, 3] }),
    ),
  );
}

/** How many observations there are at what time, for a memory of too many to draw each. */
function over(times, words, day) {
  const [first, last, bins] = [times[0], times.reduce((kept, at) => Math.max(kept, at)), 120];
  const counts = new Array(bins).fill(0);
  for (const at of times) counts[Math.min(bins - 1, Math.floor(((at - first) / (last - first || 1)) * bins))] += 1;
  const [width, height, bottom] = [960, 150, 24];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "parallel", role: "img", "aria-label": words });
  counts.forEach((n, bin) => {
    const tall = (n / Math.max(...counts)) * (height - bottom - 4);
    drawing.append(
      svg("rect", { class: "bin", x: (bin * width) / bins, width: width / bins - 1, y: height - bottom - tall, height: tall }),
    );
  });
  for (const part of [0, 1, 2, 3])
    drawing.append(svg("text", { class: "tick", x: (part * width) / 4, y: height - 6 }, day(first + ((last - first) * part) / 4)));
  return el("figure", { class: "wide" }, el("figcaption", {}, words), drawing);
}

function checks(run) {
  const { findings, counts } = run.check;
  const kept = `${count(counts.observations)} of ${count(run.manifest.dataset.observations)} observations are in the run: those that are judged or that an arm found. `;
  if (!findings.length) return el("p", {}, kept, "Nothing was found wrong with them.");
  const rows = findings.map((one) => [
    badge({ error: "loss", warning: "unsure" }[one.severity] ?? "quiet", one.severity),
    one.name,
    count(one.count),
    el(
      "ul",
      {},
      one.examples.slice(0, 5).map((example) => el("li", {}, said(Object.values(example).join(": ")))),
    ),
    one.remedy,
  ]);
  return el(
    "div",
    {},
    el("p", { class: "quiet" }, kept),
    table("What the checks found: duplicates, labels, leaks", ["severity", "what", "how many", "such as", "what to do"], rows, {
      left: [0, 1, 3, 4],
      id: "checks",
    }),
  );
}

/** A nested record as pairs of dotted name and text. */
function flat(record, prefix = "") {
  return Object.entries(record).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? flat(value, `${prefix}${name}.`)
      : [[prefix + name, typeof value === "string" ? value : JSON.stringify(value)]],
  );
}
