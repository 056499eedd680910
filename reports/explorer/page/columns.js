// The ranked lists of several systems, with lines that join the same observation.

function sideBySide(run, asked, shown, judging = false) {
  const pattern = patternOf(asked.words);
  const lines = svg("svg", { class: "lines", "aria-hidden": "true" });
  const columns = shown.map((c) => column(c, asked, pattern, judging));
  const inner = el("div", { class: "columns" }, lines, columns);
  inner.style.setProperty("--columns", shown.length);
  const box = el(
    "div",
    { class: "frame", id: "side-by-side", tabindex: 0, role: "region", "aria-label": "Ranked lists side by side" },
    inner,
  );
  const point = (event) => same(inner, event.target.closest?.("[data-id]")?.dataset.id ?? null);
  for (const kind of ["pointerover", "focusin"]) inner.addEventListener(kind, point);
  for (const kind of ["pointerleave", "focusout"]) inner.addEventListener(kind, () => same(inner, null));
  inner.addEventListener("keydown", moveInLists);
  new ResizeObserver(() => join(inner, lines, columns)).observe(inner);
  return box;
}

function column(c, asked, pattern, judging) {
  const n = c.run.place.get(asked.id);
  const own = c.run.queries[n];
  const hits = c.answers.hits[n];
  const missing = own.relevant.filter(([row]) => !hits.includes(row));
  const dropped = Object.entries(c.answers.dropped)
    .map(([stage, queries]) => [stage, queries[n] ?? []])
    .filter(([, rows]) => rows.length);
  const empty = { failed: `failed: ${c.answers.errors[n] ?? ""}`, empty: "nothing came back" }[c.answers.status[n]] ?? "nothing came back";
  return el(
    "section",
    { class: `column ${c.hue}`, "aria-label": c.key },
    el(
      "h3",
      {},
      swatch(c),
      said(c.key),
      el(
        "span",
        { class: "quiet" },
        own.relevant.length ? ` ${headOf(mainMeasure(c.run))} ${percent(c.answers.values[mainMeasure(c.run)][n], mainMeasure(c.run))}` : "",
      ),
    ),
    hits.length
      ? el(
          "ol",
          { class: "hits" },
          hits.map((row, at) => hit(c, n, own, row, at, pattern, judging)),
        )
      : el("p", { class: "quiet" }, said(empty)),
    missing.length
      ? el(
          "div",
          { class: "missing" },
          el("h4", {}, "Relevant, not returned"),
          el(
            "ul",
            {},
            missing.map(([row, grade]) =>
              el(
                "li",
                { "data-id": c.run.observations[row].id },
                badge("gain", `✓ ${grade}`),
                opener(c.run, row, own, c.run.observations[row].title || c.run.observations[row].id, pattern),
                el("div", { class: "quiet" }, whyMissing(c, n, row)),
                judging ? markButtons(c.run, own, c.run.observations[row].id) : null,
              ),
            ),
          ),
        )
      : null,
    dropped.length
      ? el(
          "details",
          {},
          el("summary", {}, `Dropped on the way: ${dropped.map(([stage, rows]) => `${rows.length} by ${stage}`).join(", ")}`),
          dropped.map(([stage, rows]) =>
            el(
              "div",
              {},
              el("h4", {}, stage),
              el(
                "ul",
                {},
                rows.map((row) =>
                  el(
                    "li",
                    {},
                    own.grades.has(row) ? badge("gain", `✓ ${own.grades.get(row)}`) : null,
                    opener(c.run, row, own, c.run.observations[row].title || c.run.observations[row].id),
                  ),
                ),
              ),
            ),
          ),
        )
      : null,
  );
}

function hit(c, n, own, row, at, pattern, judging) {
  const observation = c.run.observations[row];
  const grade = own.grades.get(row);
  const arms = armRanks(c, n, row);
  const told =
    arms.length > 1
      ? arms
          .filter(([, rank]) => rank)
          .map(([arm, rank, value]) => `${arm} ${rank}${value === null ? "" : ` (${score(value)})`}`)
          .join(" · ")
      : "";
  return el(
    "li",
    { class: grade ? "hit relevant" : "hit", "data-id": observation.id, "data-rank": at + 1 },
    el("span", { class: "rank" }, String(at + 1)),
    el(
      "div",
      {},
      grade ? badge("gain", `✓ ${grade}`) : null,
      opener(c.run, row, own, observation.title || observation.id, pattern),
      el("div", { class: "quiet small" }, score(c.answers.scores[n][at]), told ? ` · ${told}` : ""),
      judging ? markButtons(c.run, own, observation.id) : null,
    ),
  );
}

/** Draw the lines between neighbouring columns. */
function join(inner, lines, columns) {
  const box = inner.getBoundingClientRect();
  lines.setAttribute("width", inner.scrollWidth);
  lines.setAttribute("height", inner.scrollHeight);
  const places = columns.map((one) => new Map([...one.querySelectorAll("li.hit")].map((item) => [item.dataset.id, item])));
  const drawn = [];
  for (let at = 0; at + 1 < columns.length; at++) {
    for (const [id, item] of places[at]) {
      const other = places[at + 1].get(id);
      if (!other) continue;
      const [from, to] = [item.getBoundingClientRect(), other.getBoundingClientRect()];
      const [x1, x2] = [from.right - box.left, to.left - box.left];
      const [y1, y2] = [from.top + 12 - box.top, to.top + 12 - box.top];
      const bend = (x2 - x1) / 2;
      drawn.push(
        svg("path", {
          class: item.classList.contains("relevant") ? "relevant" : "",
          "data-id": id,
          d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
        }),
      );
    }
  }
  lines.replaceChildren(...drawn);
}

/** Bring out one observation in all columns. */
function same(inner, id) {
  for (const one of inner.querySelectorAll("[data-id]")) one.classList.toggle("same", one.dataset.id === id);
}

/** Arrows: up and down in a list, left and right to the same observation in the next one, else to the same place. */
function moveInLists(event) {
  const item = event.target.closest("li.hit");
  const lists = [...event.currentTarget.querySelectorAll("ol.hits")];
  if (!item || !event.key.startsWith("Arrow")) return;
  const list = item.parentElement;
  const at = [...list.children].indexOf(item);
  const aside = lists[lists.indexOf(list) + { ArrowLeft: -1, ArrowRight: 1 }[event.key]];
  const target =
    { ArrowUp: list.children[at - 1], ArrowDown: list.children[at + 1] }[event.key] ??
    (aside &&
      ([...aside.children].find((other) => other.dataset.id === item.dataset.id) ??
        aside.children[Math.min(at, aside.children.length - 1)]));
  if (!target) return;
  event.preventDefault();
  target.querySelector("button").focus();
}
