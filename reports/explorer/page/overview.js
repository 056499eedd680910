// Overview: which system is best, how sure that is, where it loses, and at what cost.

function overview(found) {
  const run = runOf(found);
  const systems = contendersOf(run);
  if (!systems.length) return [el("p", {}, "This run has no system.")];
  return [
    ...opening(run),
    DATA.gates.length ? gateBadges() : null,
    headToHead(run, systems, found),
    categoryMap(run, systems, found),
    readings(run, systems),
    el("h2", {}, "What it costs"),
    costs(run, systems),
    run.findings.length
      ? el(
          "section",
          {},
          el("h2", {}, "What the numbers say"),
          el(
            "ol",
            {},
            run.findings.map((one) => el("li", {}, sentence(one))),
          ),
        )
      : null,
  ];
}

function opening(run) {
  const { dataset, models, k } = run.manifest;
  const { answerable, unanswerable } = run.summary;
  const facts = [
    plural(dataset.observations, "observation"),
    `${plural(dataset.queries, "query", "queries")} (${answerable} with an answer, ${unanswerable} without)`,
    Object.keys(models ?? {}).join(", ") || "no model",
    `the first ${k} hits of every query`,
  ];
  const failures = (run.manifest.failures ?? []).map((failure) =>
    el(
      "li",
      {},
      el("strong", {}, failure.system),
      ` failed on ${plural(failure.queries ?? 1, "query", "queries")}, the first `,
      link(
        { run: MANY ? run.label : "", query: failure.query, a: MANY ? `${run.label}:${failure.system}` : failure.system },
        failure.query,
      ),
      ": ",
      said(failure.error),
    ),
  );
  return [
    el("h1", {}, run.report.title ?? "Retrieval", " ", said(`on ${dataset.name}`, { class: "quiet" })),
    el("p", { class: "quiet" }, facts.join(" · ")),
    verdictCard(run),
    failures.length ? el("div", { class: "note loss" }, el("ul", {}, failures)) : null,
  ];
}

/** Which system, by how much and how sure, on what: the three lines with which the report begins as well. */
const verdictCard = (run) =>
  el(
    "section",
    { class: "verdict", "aria-label": "Verdict" },
    run.verdict.map((line) => el("p", {}, sentence(line))),
  );

/** How sure it is that the best system is better than this one. */
function certainty(c) {
  const lead = c.run.leads[c.name];
  if (c.run.tied.length > 1 && c.run.tied.includes(c.name)) return badge("gain", "tied");
  if (c.name === c.run.best) return badge("gain", "best");
  if (isControl(c)) return badge("quiet", "control");
  if (!lead) return null;
  return [
    lead.shown ? badge("even", "worse") : badge("unsure", "not separable"),
    el("span", { class: "quiet" }, `p ${probability(lead.p)}`),
    el("div", { class: "quiet" }, `${lead.lead} ${lead.interval}`),
  ];
}

const SORTED = { name: "ascending", latency: "ascending", tokens: "ascending" };

function headToHead(run, systems, found) {
  const main = mainMeasure(run);
  // on a small screen the number that decides is the first
  const measures = NARROW ? [...new Set([main, ...headline(run)])] : headline(run);
  const key = (c) => (name) =>
    ({ name: labelOf(c), latency: c.summary.latency.spans.total?.p50 ?? Infinity, tokens: c.summary.tokens.mean ?? Infinity })[name] ??
    -(c.summary.measures[name]?.mean ?? -1);
  const column = found.sort ?? mainMeasure(run);
  const down = found.order === "reversed" ? -1 : 1;
  const compare = (a, b) => {
    const [x, y] = [key(a)(column), key(b)(column)];
    return isControl(a) - isControl(b) || down * (x < y ? -1 : x > y ? 1 : 0);
  };
  const ordered = [...systems].sort(compare);
  const head = (name, text, unit = "") => {
    const usual = SORTED[name] ?? "descending";
    const direction = column !== name ? null : down === 1 ? usual : usual === "ascending" ? "descending" : "ascending";
    const change = () => go({ view: "overview", sort: name, order: column === name && down === 1 ? "reversed" : "" });
    return el(
      "th",
      { scope: "col", class: name === "name" ? "" : "n", "aria-sort": direction },
      el(
        "button",
        { class: "sort", onclick: change },
        text,
        unit ? el("span", { class: "quiet" }, ` ${unit}`) : null,
        el("span", { class: "arrow", "aria-hidden": "true" }, direction === "ascending" ? "▲" : direction ? "▼" : ""),
      ),
    );
  };
  const range = Object.fromEntries(measures.map((measure) => [measure, rangeOf(run, systems, measure)]));
  const highest = Object.fromEntries(
    measures.map((measure) => [measure, Math.max(...systems.filter((c) => !isControl(c)).map((c) => c.summary.measures[measure].mean ?? -1))]),
  );
  const rows = ordered.map((c) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        swatch(c),
        said(labelOf(c)),
        labelOf(c) === c.name ? null : el("span", { class: "quiet" }, ` ${c.name}`),

        c.summary.status.failed ? [" ", badge("loss", `${c.summary.status.failed} failed`)] : null,
      ),
      el(
        "td",
        { class: "certainty certainty-column" },
        certainty(c),
        c.name === c.run.recommended ? badge("gain", "recommended") : null,
      ),
      measures.map((measure) => {
        const cell = c.summary.measures[measure];
        return el(
          "td",
          {
            class: !isControl(c) && cell.mean !== null && Math.abs(cell.mean - highest[measure]) < 1e-9 ? "n top" : "n",
            "data-measure": measure,
            "data-system": c.name,
          },
          el(
            "div",
            { class: "value" },
            el("b", {}, percent(cell.mean, measure)),
            cell.low === null ? null : el("span", { class: "quiet small" }, ` [${percent(cell.low, measure)}, ${percent(cell.high, measure)}]`),
          ),
          whisker(cell, run.summary.ceilings[measure], { hue: c.hue, mark: c.shape, ...range[measure] }),
        );
      }),
      el("td", { class: "n", "data-measure": "p50", "data-system": c.name }, milliseconds(c.summary.latency.spans.total?.p50)),
      el(
        "td",
        { class: "n", "data-measure": "tokens", "data-system": c.name },
        c.summary.tokens.mean === null ? NONE : count(c.summary.tokens.mean),
      ),
    ),
  );
  const best = el(
    "tr",
    { class: "ceiling" },
    el("th", { scope: "row" }, "The best attainable"),
    el("td", { class: "certainty-column" }),
    measures.map((measure) => el("td", { class: "n", "data-measure": measure, "data-system": "" }, percent(run.summary.ceilings[measure], measure))),
    el("td", {}),
    el("td", {}),
  );
  const caption = `Head to head: means ${scaleWords()} over ${plural(run.summary.answerable, "answerable query", "answerable queries")}, with 95 % bootstrap intervals; the dashed mark is the best attainable${run.best ? `; the lead of the best is in ${headOf(main)}, p after Holm` : ""}`;
  const held = framed(
    "Head to head",
    el(
      "table",
      { id: "head-to-head" },
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head("name", "system"),
          el("th", { scope: "col", class: "certainty-column" }, run.best ? "the best leads by" : el("span", { class: "hidden" }, "how sure")),
          measures.map((measure) => head(measure, headOf(measure))),
          head("latency", "p50", "ms"),
          head("tokens", "tokens", "/query"),
        ),
      ),
      el("tbody", {}, rows, best),
    ),
  );
  return [held, el("p", { class: "quiet small", id: "timing" }, run.timing)];
}

/** From where to where the whiskers of a measure run: all but the controls, so that they use the width. */
function rangeOf(run, systems, measure) {
  const cells = systems.filter((c) => !isControl(c)).map((c) => c.summary.measures[measure]);
  const values = cells.flatMap((cell) => [cell.low ?? cell.mean, cell.high ?? cell.mean]).filter((value) => value !== null);
  if (!values.length) return {};
  const ceiling = run.summary.ceilings[measure];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const most = ceiling !== null && ceiling - high < high - low ? Math.max(ceiling, high) : high;
  return { least: Math.max(0, low - 0.05 * (most - low || 1)), most: Math.min(isShare(measure) ? 1 : Infinity, most + 0.02 * (most - low || 1)) };
}

function categoryMap(run, unranked, found) {
  const place = (c) => (run.ranked.includes(c.name) ? run.ranked.indexOf(c.name) : run.ranked.length);
  const systems = [...unranked].sort((a, b) => place(a) - place(b));
  const measure = run.summary.measures.includes(found.measure) ? found.measure : mainMeasure(run);
  const categories = Object.entries(run.summary.categories).filter(([category]) => unranked[0].summary.categories[category][mainMeasure(run)].n);
  if (!categories.length) return null;
  const pick = select(
    "Measure",
    run.summary.measures.map((m) => [m, headOf(m)]),
    measure,
    (value) => go({ view: "overview", measure: value }),
  );
  const intervals = el(
    "button",
    {
      "aria-pressed": String(found.intervals === "1"),
      onclick: () => go({ view: "overview", intervals: found.intervals === "1" ? "" : "1" }),
    },
    "Intervals",
  );
  const withIntervals = found.intervals === "1";
  const real = systems.filter((c) => !isControl(c));
  const top = (category) => Math.max(...real.map((c) => c.summary.categories[category][measure].mean ?? -1));
  const cell = (c, category) => {
    const value = c.summary.categories[category][measure];
    const best = value.n && !isControl(c) && Math.abs(value.mean - top(category)) < 1e-9;
    const box = el(
      "td",
      { class: best ? "n heat top" : "n heat", "data-category": category, "data-system": c.name },
      value.n ? el(best ? "b" : "span", {}, percent(value.mean, measure)) : NONE,
      withIntervals && value.low !== null && value.n
        ? el("div", { class: "small aside" }, `[${percent(value.low, measure)}, ${percent(value.high, measure)}]`)
        : null,
    );
    if (value.n) box.style.setProperty("--heat", `${fixed(45 * Math.min(1, value.mean), 0)}%`);
    return box;
  };
  const answered = ([category, total]) => systems[0].summary.categories[category][measure].n || total;
  return el(
    "section",
    {},
    el("div", { class: "bar" }, el("h2", {}, "By category"), pick, intervals),
    framed(
      "By category",
      el(
        "table",
        { id: "by-category" },
        el(
          "caption",
          {},
          `${headOf(measure)} ${scaleWords()}; the best of a row is bold; systems in the order of the table above; a few queries a category give hints, not results`,
        ),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "category"),
            el("th", { scope: "col", class: "n" }, "n"),
            systems.map((c) => el("th", { scope: "col", class: "n" }, said(c.name))),
          ),
        ),
        el(
          "tbody",
          {},
          categories.map(([category, total]) =>
            el(
              "tr",
              {},
              el(
                "th",
                { scope: "row" },
                link({ view: "queries", run: MANY ? run.label : "", category: category || "(none)" }, said(category || "without category")),
              ),
              el("td", { class: "n" }, count(answered([category, total]))),
              systems.map((c) => cell(c, category)),
            ),
          ),
          run.summary.unanswerable
            ? el(
                "tr",
                {},
                el("th", { scope: "row" }, link({ view: "queries", run: MANY ? run.label : "", show: "unanswerable" }, "unanswerable: nothing came back")),
                el("td", { class: "n" }, count(run.summary.unanswerable)),
                systems.map((c) => el("td", { class: "n" }, `${c.summary.unanswerable.silent}`)),
              )
            : null,
        ),
      ),
    ),
  );
}

/** What other readings of the labels, of time and of ties would make of the numbers, and what was noted on the way. */
function readings(run, systems) {
  const measure = mainMeasure(run);
  const disputed = systems.some((c) => c.summary.undisputed);
  const named = (kind) => Object.keys(systems[0].summary.time).find((name) => name.startsWith(kind));
  const [stale, asOf] = [named("stale@"), named("as_of_recall@")];
  const notes = ({ summary }) =>
    Object.entries({ ...summary.notes, ...summary.faults }).map(([note, n]) => `${note} (${plural(n, "query", "queries")})`);
  const head = [
    "system",
    `${stale} (n)`,
    "from the future",
    asOf,
    `${headOf(measure)}: worst–best order of ties`,
    ...(disputed ? [`${headOf(measure)} without disputed labels`] : []),
    "notes",
  ];
  const rows = systems.map((c) => {
    const { time, ties, undisputed } = c.summary;
    return [
      said(labelOf(c)),
      `${interval(time[stale])} (${time[stale].n})`,
      count(time.future_leaks),
      percent(time[asOf].mean),
      `${percent(ties[measure]?.worst, measure)}–${percent(ties[measure]?.best, measure)}`,
      ...(disputed ? [percent(undisputed?.[measure].mean, measure)] : []),
      said(notes(c).join("; ") || NONE),
    ];
  });
  return el(
    "section",
    {},
    el("h2", {}, "Time, ties and labels"),
    table(
      "Stale: something superseded stands above its successor, of the queries whose answer superseded something; from the future: returned although later than the question; as of: recall of what existed when it was asked",
      head,
      rows,
      { left: [0, head.length - 1], id: "readings", cards: true },
    ),
  );
}

function costs(run, systems) {
  const measure = mainMeasure(run);
  const of = (x, front) =>
    systems
      .filter((c) => !isControl(c))
      .map((c) => ({
        ...c.summary.measures[measure],
        x: x(c),
        y: c.summary.measures[measure].mean,
        name: c.name,
        hue: c.hue,
        mark: c.shape,
        front: front.includes(c.name),
        hint: `${c.name}: ${interval(c.summary.measures[measure], measure)}`,
      }));
  const words = (front) => (front.length ? `No system is both better and cheaper than ${front.join(", ")}.` : "");
  const { tokens, latency } = run.fronts;
  return el(
    "div",
    { class: "figures" },
    scatter(`${headOf(measure)} against tokens.`, of((c) => c.summary.tokens.mean, tokens), {
      xlabel: `tokens read per query (${run.manifest.tokens_counter ?? "as counted"})`,
      ylabel: `${headOf(measure)}${inPercent(measure, ", ")}`,
      measure,
      text: words(tokens),
    }),
    scatter(`${headOf(measure)} against time.`, of((c) => c.summary.latency.spans.total?.p50 ?? null, latency), {
      xlabel: "median time per query, ms",
      ylabel: `${headOf(measure)}${inPercent(measure, ", ")}`,
      measure,
      wide: true,
      text: words(latency),
    }),
  );
}

function gateBadges() {
  return el(
    "ul",
    { class: "gates" },
    DATA.gates.map((gate) =>
      el(
        "li",
        {},
        verdictBadge(gate.verdict ?? "not judged"),
        link({ view: "compare" }, `${gate.run} against ${gate.baseline}`),
        `: ${gate.headline ?? gate.error}`,
      ),
    ),
  );
}

const verdictBadge = (verdict) =>
  badge({ PASS: "gain", REGRESSION: "loss", FAILED: "loss", INCONCLUSIVE: "unsure" }[verdict] ?? "quiet", verdict);
