// Judging: hits are marked as relevant, wrong or doubtful, and saved as errata that `dataset.errata` and `recallmeter data` read.

const JUDGED = { relevant: ["✓", "relevant"], wrong: ["✗", "wrong"], doubtful: ["?", "doubtful"] };

/** Query → observation → mark, kept in the browser as long as the data set is the same. */
const marksKey = (run) => `recallmeter-marks-${run.manifest.dataset.fingerprint}`;

function marksOf(run) {
  if (!run.marks) {
    try {
      run.marks = JSON.parse(localStorage.getItem(marksKey(run)) ?? "{}");
    } catch {
      run.marks = {};
    }
  }
  return run.marks;
}

function mark(run, query, id, kind) {
  const marks = marksOf(run);
  const own = (marks[query] ??= {});
  if (own[id] === kind) delete own[id];
  else own[id] = kind;
  if (!Object.keys(own).length) delete marks[query];
  keepMarks(run);
}

function keepMarks(run) {
  try {
    localStorage.setItem(marksKey(run), JSON.stringify(run.marks));
  } catch {
    // a browser that keeps nothing for files still lets the marks be saved
  }
}

/** The marks as errata: of each marked query all that is relevant now, and whether its labels are in doubt. */
function errataOf(run) {
  const entries = Object.entries(marksOf(run)).filter(([id]) => run.place.has(id));
  return Object.fromEntries(
    entries.map(([id, own]) => {
      const asked = run.queries[run.place.get(id)];
      const relevant = Object.fromEntries(asked.relevant.map(([row, grade]) => [run.observations[row].id, grade]));
      const found = (kind) => Object.keys(own).filter((one) => own[one] === kind);
      for (const one of found("relevant")) relevant[one] ??= 1;
      for (const one of found("wrong")) delete relevant[one];
      const corrected = found("relevant").length || found("wrong").length ? { relevant } : {};
      const disputed = found("doubtful").length ? { disputed: true } : {};
      const note = Object.keys(JUDGED)
        .filter((kind) => found(kind).length)
        .map((kind) => `${kind}: ${found(kind).join(", ")}`)
        .join("; ");
      return [id, { ...corrected, ...disputed, note: `judged in the explorer; ${note}` }];
    }),
  );
}

function markButtons(run, asked, id) {
  const buttons = Object.entries(JUDGED).map(([kind, [sign, words]]) => {
    const button = el("button", { title: words, "aria-label": `${words}: ${run.observations[run.row.get(id)].title || id}` }, sign);
    const show = () => button.setAttribute("aria-pressed", marksOf(run)[asked.id]?.[id] === kind);
    show();
    button.addEventListener("click", () => {
      mark(run, asked.id, id, kind);
      for (const one of buttons) one.show();
      document.getElementById("marks")?.replaceWith(markBar(run));
    });
    button.show = show;
    return button;
  });
  return el("span", { class: "marks", role: "group", "aria-label": "Judge" }, buttons);
}

function markBar(run) {
  const n = Object.values(marksOf(run)).reduce((sum, own) => sum + Object.keys(own).length, 0);
  const forget = () => {
    run.marks = {};
    keepMarks(run);
    drawn = null;
    render();
  };
  const keep = () => save(`errata-${run.manifest.dataset.name.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`, `${JSON.stringify(errataOf(run), null, 1)}\n`, "application/json");
  return el(
    "div",
    { class: "bar", id: "marks" },
    el(
      "p",
      { class: "quiet" },
      n ? `${plural(n, "mark")} on ${plural(Object.keys(marksOf(run)).length, "query", "queries")}. ` : "✓ relevant, ✗ wrong, ? doubtful. ",
      "Saved as errata they are laid over the labels by ",
      el("code", {}, "dataset.errata=FILE"),
      " and ",
      el("code", {}, "recallmeter data check --errata FILE"),
      ".",
    ),
    n ? el("button", { onclick: keep }, "Save as errata") : null,
    n ? el("button", { onclick: forget }, "Forget all marks") : null,
  );
}
