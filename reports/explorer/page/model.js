// The data of the page, and what follows from it without any statistics.

const DATA = JSON.parse(document.getElementById("data").textContent);
const MANY = DATA.runs.length > 1;
const HUES = 9;

/** Every system of every run: what can stand beside another. */
const CONTENDERS = DATA.runs.flatMap((run) =>
  Object.entries(run.systems).map(([name, answers], n) => ({
    key: MANY ? `${run.label}:${name}` : name,
    name,
    run,
    answers,
    summary: run.summary.systems[name],
    hue: `hue${n % HUES}`,
    shape: n,
  })),
);

/** A system by its key; by its name alone too, as in a link to a page of one run. */
const contender = (key) => CONTENDERS.find((c) => c.key === key) ?? CONTENDERS.find((c) => c.name === key) ?? null;
const contendersOf = (run) => CONTENDERS.filter((c) => c.run === run);
const isControl = (c) => (c.run.report.controls ?? []).includes(c.name);
const labelOf = (c) => c.run.report.labels?.[c.name] ?? c.name;
const headOf = (measure) => DATA.headline[measure] ?? measure;

/** The measures of the head-to-head table; all where a run has none of those. */
function headline(run) {
  const chosen = Object.keys(DATA.headline).filter((measure) => run.summary.measures.includes(measure));
  return chosen.length ? chosen : run.summary.measures;
}

const mainMeasure = (run) => run.measure;

for (const run of DATA.runs) {
  run.place = new Map(run.queries.map((query, n) => [query.id, n]));
  run.row = new Map(run.observations.map((observation, n) => [observation.id, n]));
  for (const query of run.queries) query.grades = new Map(query.relevant);
}

/** The systems that a reader wants to see first: the best four of those that the report is about, in the order of the run. */
function firstContenders(run) {
  const best = run.ranked.filter((name) => run.main.includes(name)).slice(0, 4);
  return contendersOf(run).filter((c) => best.includes(c.name));
}

/** The ranks, from 1, of a query's relevant observations; null for one that was not returned. */
function ranksOf(c, n) {
  const hits = c.answers.hits[n];
  return c.run.queries[n].relevant.map(([row]) => hits.indexOf(row) + 1 || null);
}

/** Arm → the rank, from 1, that it gave an observation; null for none. */
function armRanks(c, n, row) {
  return Object.entries(c.answers.arms).map(([arm, found]) => {
    const deep = (found.deep[n] ?? []).find(([other]) => other === row);
    return [arm, deep ? deep[1] : found.ids[n].indexOf(row) + 1 || null, found.scores[n]?.[found.ids[n].indexOf(row)] ?? null];
  });
}

/** The stage that took an observation out; null when none did. */
function droppedBy(c, n, row) {
  const stage = Object.entries(c.answers.dropped).find(([, queries]) => queries[n]?.includes(row));
  return stage ? stage[0] : null;
}

/** Why an observation is not in an answer, in words. */
function whyMissing(c, n, row) {
  if (c.run.observations[row].unknown) return "not in the memory";
  if (c.answers.status[n] === "failed") return "the system failed";
  const stage = droppedBy(c, n, row);
  const ranks = armRanks(c, n, row)
    .filter(([, rank]) => rank)
    .map(([arm, rank]) => `${arm} ${rank}`);
  const places = ranks.length ? `in ${ranks.join(", ")}` : "";
  if (stage) return [`dropped by ${stage}`, places].filter(Boolean).join("; ");
  const arms = Object.keys(c.answers.arms).length;
  return places ? `${places}, below the cut` : arms ? "among no arm's candidates" : "not returned";
}

/** Whether the arms of any fused system found different relevant observations among their first ten. */
function armsDisagree(run, n) {
  return contendersOf(run).some((c) => {
    const found = Object.values(c.answers.arms).map((arm) =>
      run.queries[n].relevant
        .map(([row]) => {
          const at = arm.ids[n].indexOf(row);
          return at >= 0 && at < 10;
        })
        .join(),
    );
    return new Set(found).size > 1;
  });
}

const COLUMNS = [
  "measure",
  "category",
  "n",
  "before",
  "after",
  "mean",
  "low",
  "high",
  "p",
  "adjusted",
  "wins",
  "ties",
  "losses",
  "detectable",
];

/** The comparison of two contenders, seen from the first; null where none was made. */
function comparison(a, b) {
  const is = ([label, name], c) => c.run.label === label && c.name === name;
  const found = DATA.comparisons.find((one) => (is(one.a, a) && is(one.b, b)) || (is(one.a, b) && is(one.b, a)));
  if (!found || found.error) return found ?? null;
  const rows = found.rows.map((row) => Object.fromEntries(COLUMNS.map((name, n) => [name, row[n]])));
  return { rows: is(found.a, a) ? rows : rows.map(turned) };
}

function turned(row) {
  const minus = (value) => (value === null ? null : -value);
  return {
    ...row,
    before: row.after,
    after: row.before,
    mean: minus(row.mean),
    low: minus(row.high),
    high: minus(row.low),
    wins: row.losses,
    losses: row.wins,
  };
}

/** What a difference amounts to: kind of badge and words. */
function outcome(row) {
  if (!row.wins && !row.losses) return ["even", "no change"];
  if (!(row.adjusted < 0.05)) return ["unsure", "inconclusive"];
  return row.mean > 0 ? ["gain", "gain"] : ["loss", "loss"];
}
