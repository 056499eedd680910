// Queries: every question, and where each system put what answers it.

const AT_ONCE = 100;

const SHOWS = {
  all: "all queries",
  better: "A better than B",
  worse: "B better than A",
  fail: "all fail: no system found anything",
  arms: "arms disagree",
  unanswerable: "unanswerable",
  failed: "a system failed",
};

function queries(found) {
  const run = runOf(found);
  const systems = contendersOf(run);
  const { a, b, measure } = sides(run, found);
  const list = el("div", {});
  const refresh = () => fillQueries(list, run, systems, state());
  const change = (name) => (value) => go({ view: "queries", [name]: value }, { quietly: true });
  const names = systems.map((c) => [c.key, labelOf(c)]);
  const categories = Object.keys(run.summary.categories).map((category) => [category || "(none)", category || "without category"]);
  const search = el("input", {
    type: "search",
    id: "search",
    value: found.text ?? "",
    placeholder: "words of question or answer",
    oninput: (event) => {
      history.replaceState(null, "", address({ ...state(), view: "queries", text: event.target.value }));
      refresh();
    },
  });
  fillQueries(list, run, systems, found);
  return [
    el("h1", {}, "Queries"),
    el(
      "div",
      { class: "bar", role: "search" },
      el("label", { class: "field" }, el("span", {}, "Search"), search),
      select("Category", [["", "all categories"], ...categories], found.category ?? "", change("category")),
      select("Show", Object.entries(SHOWS), found.show ?? "all", change("show")),
      select("A", names, a?.key ?? "", change("a")),
      select("B", names, b?.key ?? "", change("b")),
      select(
        "by",
        run.summary.measures.map((m) => [m, headOf(m)]),
        measure,
        change("measure"),
      ),
    ),
    list,
  ];
}

/** The two systems and the measure that the filters speak of. */
function sides(run, found) {
  const systems = contendersOf(run);
  const first = firstContenders(run);
  const pick = (key) => systems.find((c) => c.key === key);
  return {
    a: pick(found.a) ?? first.at(-1),
    b: pick(found.b) ?? first.at(-2) ?? first.at(-1),
    measure: run.summary.measures.includes(found.measure) ? found.measure : mainMeasure(run),
  };
}

/** What a search looks through: the question, and the texts of what answers it; made when it is first asked for. */
function searched(run, n) {
  run.searched ??= [];
  if (run.searched[n] === undefined) {
    const query = run.queries[n];
    const texts = query.relevant.map(([row]) => {
      const { id, title, subtitle, narrative, facts, concepts, files } = run.observations[row];
      return [id, title, subtitle, narrative, ...(facts ?? []), ...(concepts ?? []), ...(files ?? [])].filter(Boolean).join(" ");
    });
    run.searched[n] = [query.id, query.text, ...texts].join(" ").toLowerCase();
  }
  return run.searched[n];
}

/** The positions of the queries that pass the filters. */
function filtered(run, found) {
  const { a, b, measure } = sides(run, found);
  const systems = contendersOf(run);
  const real = systems.filter((c) => !isControl(c));
  const value = (c, n) => c?.answers.values[measure][n] ?? null;
  const tests = {
    better: (n) => value(a, n) > value(b, n),
    worse: (n) => value(a, n) < value(b, n),
    fail: (n) => run.queries[n].relevant.length > 0 && real.every((c) => !value(c, n)),
    arms: (n) => armsDisagree(run, n),
    unanswerable: (n) => !run.queries[n].relevant.length,
    failed: (n) => systems.some((c) => c.answers.status[n] === "failed"),
  };
  const shows = tests[found.show] ?? (() => true);
  const words = (found.text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const category = found.category === "(none)" ? "" : found.category;
  const positions = run.queries
    .map((_, n) => n)
    .filter((n) => {
      const query = run.queries[n];
      if (found.category && (query.category ?? "") !== category) return false;
      return (!words.length || words.every((word) => searched(run, n).includes(word))) && shows(n);
    });
  if (found.show === "better" || found.show === "worse") {
    const gap = (n) => Math.abs(value(a, n) - value(b, n));
    positions.sort((x, y) => gap(y) - gap(x) || x - y);
  }
  return positions;
}

function fillQueries(place, run, systems, found, most = AT_ONCE) {
  const { measure } = sides(run, found);
  const positions = filtered(run, found);
  const head = ["query", "question", "R", ...systems.map((c) => said(c.name))];
  const shown = positions.slice(0, most);
  const caption = `${plural(positions.length, "query", "queries")} of ${count(run.queries.length)}; for each system the ranks of the relevant observations among the first ${run.manifest.k}, ${NONE} for one not returned; the shade is ${headOf(measure)}`;
  place.replaceChildren(
    el("p", { role: "status", class: "quiet" }, `${plural(positions.length, "query", "queries")} of ${count(run.queries.length)}`),
    positions.length
      ? framed(
          "Queries",
          el(
            "table",
            { id: "query-list", class: "cards" },
            el("caption", {}, caption),
            el(
              "thead",
              {},
              el(
                "tr",
                {},
                head.map((cell, n) => el("th", { scope: "col", class: n === 2 ? "n" : "" }, cell)),
              ),
            ),
            el(
              "tbody",
              {},
              shown.map((n) => queryRow(run, systems, n, measure, found)),
            ),
          ),
        )
      : el(
          "p",
          {},
          "No query passes these filters. ",
          el("button", { onclick: () => go({ view: "queries", text: "", category: "", show: "" }) }, "Clear the filters"),
        ),
    ...(positions.length > most
      ? [
          el(
            "button",
            { onclick: () => fillQueries(place, run, systems, found, most + 5 * AT_ONCE) },
            `Show more: ${count(positions.length - most)} are left`,
          ),
        ]
      : []),
  );
}

function queryRow(run, systems, n, measure, found) {
  const query = run.queries[n];
  const kept = { ...found, view: "query", query: query.id };
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, link(kept, said(query.id))),
    el("td", { class: "question" }, said(query.text), query.category ? el("span", { class: "quiet" }, ` ${query.category}`) : null),
    el("td", { class: "n", "data-head": "relevant" }, count(query.relevant.length)),
    systems.map((c) => rankCell(c, n, measure)),
  );
}

function rankCell(c, n, measure) {
  const status = c.answers.status[n];
  if (status === "failed") return el("td", { class: "ranks", "data-head": c.name }, badge("loss", "failed"));
  if (!c.run.queries[n].relevant.length)
    return el("td", { class: "ranks quiet", "data-head": c.name }, status === "empty" ? "silent" : `returned ${c.answers.hits[n].length}`);
  const ranks = ranksOf(c, n);
  const there = ranks.filter(Boolean).sort((x, y) => x - y);
  const missing = ranks.length - there.length;
  const cell = el("td", { class: "ranks heat", "data-head": c.name }, there.join(" "), missing ? ` ${missing === 1 ? NONE : `${NONE}×${missing}`}` : "");
  cell.style.setProperty("--heat", `${fixed(45 * Math.min(1, c.answers.values[measure][n] ?? 0), 0)}%`);
  return cell;
}
