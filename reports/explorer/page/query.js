// One query: what each system returned, what it should have returned, and which arm or stage made the difference.

function query(found) {
  const run = runOf(found);
  const n = run.place.get(found.query);
  if (n === undefined)
    return [
      el("h1", {}, "One query"),
      el("p", { role: "alert" }, found.query ? `There is no query ${found.query} in this run.` : "Choose a query first."),
      el("p", {}, link({ view: "queries" }, "To the list of queries")),
    ];
  const asked = run.queries[n];
  const shown = columnsOf(run, found, asked.id);
  return [
    el("div", { class: "bar" }, el("h1", {}, said(asked.text || "(no text)")), stepper(run, found, n)),
    el(
      "p",
      { class: "quiet" },
      [
        asked.id,
        asked.category,
        asked.scope ? `scope ${asked.scope}` : "",
        asked.asked_at ? `asked ${asked.asked_at.slice(0, 16).replace("T", " ")}` : "",
        asked.relevant.length ? plural(asked.relevant.length, "relevant observation") : "unanswerable: nothing should come back",
        ...(asked.tags ?? []),
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    systemChoice(run, found, asked.id, shown),
    asked.relevant.length ? goldTable(run, n, shown) : null,
    el("h2", {}, "Side by side"),
    el(
      "p",
      { class: "quiet" },
      "Lines join the same observation. Marked words share a stem with the question. ",
      badge("gain", "✓ grade"),
      " marks what is relevant. ",
      el(
        "button",
        { "aria-pressed": String(found.judge === "1"), onclick: () => go({ judge: found.judge === "1" ? "" : "1" }) },
        "Judge hits",
      ),
    ),
    found.judge === "1" ? markBar(run) : null,
    sideBySide(run, asked, shown, found.judge === "1"),
    el("h2", {}, "Measures and time"),
    valuesTable(asked.id, shown),
    el(
      "div",
      { class: "figures" },
      shown.map((c) => waterfall(c, c.run.place.get(asked.id))),
    ),
  ];
}

/** Move on in the list that the filters leave. */
function stepper(run, found, n) {
  const [before, after] = neighboursIn(run, found, n);
  const step = (to, text, key) =>
    to === undefined
      ? el("span", { class: "quiet" }, text)
      : el("a", { href: address({ ...found, query: run.queries[to].id }), "data-key": key }, text);
  return el(
    "p",
    { class: "steps" },
    step(before, "← previous", "k"),
    step(after, "next →", "j"),
    el("a", { href: address({ ...found, view: "queries", query: "" }), "data-key": "Escape" }, "list"),
  );
}

function neighboursIn(run, found, n) {
  const positions = filtered(run, found);
  const at = positions.indexOf(n);
  return at < 0 ? [n > 0 ? n - 1 : undefined, n + 1 < run.queries.length ? n + 1 : undefined] : [positions[at - 1], positions[at + 1]];
}

/** The systems that stand side by side: a, b and more of the address, else those that the report is about. */
function columnsOf(run, found, id) {
  const keys = [found.a, found.b, ...(found.more ?? "").split(",")].filter(Boolean);
  const chosen = [...new Set(keys)].map(contender).filter((c) => c && c.run.place.has(id));
  return chosen.length ? chosen : firstContenders(run);
}

function systemChoice(run, found, id, shown) {
  const keys = shown.map((c) => c.key);
  const toggle = (key) => {
    const [a = "", b = "", ...more] = keys.includes(key) ? keys.filter((other) => other !== key) : [...keys, key];
    go({ view: "query", a, b, more: more.join(",") });
  };
  return el(
    "fieldset",
    { class: "choice" },
    el("legend", {}, "Systems"),
    CONTENDERS.filter((c) => c.run.place.has(id)).map((c) => {
      const box = el("input", { type: "checkbox", id: `show ${c.key}`, onchange: () => toggle(c.key) });
      box.checked = keys.includes(c.key);
      return el("label", { class: c.hue }, box, swatch(c), said(c.key));
    }),
  );
}

function goldTable(run, n, shown) {
  const asked = run.queries[n];
  const cell = (c, id) => {
    const place = c.run.place.get(asked.id);
    const row = c.run.row.get(id);
    const rank = row === undefined ? 0 : c.answers.hits[place].indexOf(row) + 1;
    return rank
      ? el("b", {}, String(rank))
      : el("span", { class: "quiet" }, row === undefined ? "not in this run" : whyMissing(c, place, row));
  };
  const rows = asked.relevant.map(([row, grade]) => {
    const observation = run.observations[row];
    return [
      el("span", {}, opener(run, row, asked, observation.title || observation.id)),
      String(grade),
      ...shown.map((c) => cell(c, observation.id)),
    ];
  });
  return table(
    "What answers it: the rank that each system gave it, or why it is missing",
    ["relevant observation", "grade", ...shown.map((c) => said(c.key))],
    rows,
    { left: [0, ...shown.map((_, at) => at + 2)], id: "gold", cards: true },
  );
}

function valuesTable(id, shown) {
  const measures = shown[0].run.summary.measures;
  const rows = shown.map((c) => {
    const n = c.run.place.get(id);
    const notes = [...(c.answers.notes[n] ?? []), c.answers.errors[n]].filter(Boolean);
    return [
      said(c.key),
      c.answers.status[n],
      ...measures.map((measure) => percent(c.answers.values[measure]?.[n], measure)),
      count(c.answers.hits[n].length),
      count(c.answers.tokens[n]),
      said(notes.join("; ") || NONE),
    ];
  });
  return table(`This query alone, ${scaleWords()}`, ["system", "status", ...measures.map(headOf), "returned", "tokens", "notes"], rows, {
    left: [0, 1, measures.length + 4],
    id: "values",
  });
}

/** The spans of one search, outer before inner, those inside one after another. */
function waterfall(c, n) {
  const spans = Object.entries(c.answers.spans)
    .map(([name, all]) => [name, all[n]])
    .filter(([, ms]) => ms !== null);
  const total = spans.find(([name]) => name === "total")?.[1] ?? 0;
  const laid = [];
  const lay = (name, begin) => {
    const ms = spans.find(([other]) => other === name)?.[1];
    if (ms === undefined) return;
    laid.push({ name, begin, ms });
    let inner = begin;
    for (const [other, length] of spans) {
      if (other.slice(0, other.lastIndexOf(".")) !== name || !other.includes(".")) continue;
      lay(other, inner);
      inner += length;
    }
  };
  lay("total", 0);
  const bar = ({ begin, ms }) => {
    const drawn = el("div", { class: `span ${c.hue}` });
    drawn.style.marginLeft = `${Math.min(99, (100 * begin) / (total || 1))}%`;
    drawn.style.width = `${Math.max(0.5, (100 * ms) / (total || 1))}%`;
    return drawn;
  };
  const part = (name) => name.split(".").at(-1);
  const came = (name) => {
    const arm = c.answers.arms[part(name)];
    const dropped = c.answers.dropped[part(name)]?.[n];
    return arm
      ? plural(arm.ids[n].length, "candidate") + (arm.ids[n].length >= 50 ? " or more" : "")
      : dropped
        ? `${dropped.length} dropped`
        : "";
  };
  const rows = laid.map((one) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: `depth${Math.min(3, one.name.split(".").length - 1)}` }, part(one.name)),
      el("td", { class: "n" }, milliseconds(one.ms)),
      el("td", { class: "spans" }, bar(one)),
      el("td", { class: "quiet" }, came(one.name)),
    ),
  );
  if (!rows.length) return null;
  return el(
    "div",
    {},
    framed(
      `Time of ${c.key}`,
      el(
        "table",
        { class: "waterfall" },
        el("caption", {}, said(c.key), ": where the time went"),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["part", "ms", "from start to end", "outcome"].map((head, at) => el("th", { scope: "col", class: at === 1 ? "n" : "" }, head)),
          ),
        ),
        el("tbody", {}, rows),
      ),
    ),
  );
}
