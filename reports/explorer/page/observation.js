// One observation in full: its text, where every system put it, and its neighbours in the graph of what it names.

const opener = (run, row, asked, title, pattern = null) =>
  el(
    "button",
    { class: "open", onclick: () => go({ run: MANY ? run.label : "", obs: run.observations[row].id }) },
    el("bdi", {}, highlighted(title, pattern)),
  );

function showObservation(found) {
  const dialog = document.getElementById("observation");
  const run = runOf(found);
  const row = run?.row.get(found.obs);
  if (row === undefined) {
    if (found.obs) tell(`There is no observation ${found.obs} in this run.`);
    if (dialog.open) dialog.close();
    return;
  }
  const asked = run.queries[run.place.get(found.query)];
  const observation = run.observations[row];
  const pattern = patternOf(asked?.words ?? []);
  const marked = (text) => el("bdi", {}, highlighted(text, pattern));
  const listed = (items) =>
    items?.length
      ? el(
          "ul",
          {},
          items.map((item) => el("li", {}, marked(item))),
        )
      : null;
  const chips = (name, items) =>
    items?.length
      ? el(
          "p",
          {},
          el("span", { class: "quiet" }, `${name}: `),
          items.map((item) => el("span", { class: "chip" }, marked(item))),
        )
      : null;
  dialog.replaceChildren(
    el(
      "div",
      { class: "bar" },
      el("h2", { id: "observation-title" }, marked(observation.title || observation.id)),
      el("button", { onclick: closeObservation, autofocus: true }, "Close"),
    ),
    el(
      "p",
      { class: "quiet" },
      [
        observation.id,
        observation.type,
        observation.session_id,
        observation.timestamp?.slice(0, 16).replace("T", " "),
        observation.importance ? `importance ${observation.importance}` : "",
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    observation.unknown ? el("p", {}, "The run names this observation, but the memory does not hold it.") : "",
    observation.superseded_by ? el("p", {}, badge("unsure", "superseded"), " by ", observationLink(run, observation.superseded_by)) : "",
    observation.subtitle ? el("p", {}, el("em", {}, marked(observation.subtitle))) : "",
    observation.narrative ? el("p", { class: "text" }, marked(observation.narrative)) : "",
    observation.cut ? el("p", { class: "note" }, `${count(observation.cut)} more characters are in the run's directory.`) : "",
    listed(observation.facts) ?? "",
    chips("concepts", observation.concepts) ?? "",
    chips("files", observation.files) ?? "",
    asked ? placesOf(columnsOf(run, found, asked.id), asked, observation.id) : "",
    neighboursOf(run, row),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

const closeObservation = () => go({ obs: "" });

const observationLink = (run, id) => link({ ...state(), obs: id }, said(run.observations[run.row.get(id)]?.title ?? id));

function placesOf(shown, asked, id) {
  const rows = shown
    .filter((c) => c.run.row.has(id))
    .map((c) => {
      const [n, row] = [c.run.place.get(asked.id), c.run.row.get(id)];
      const rank = c.answers.hits[n].indexOf(row) + 1;
      const arms = armRanks(c, n, row)
        .map(([arm, place]) => `${arm} ${place ?? NONE}`)
        .join(", ");
      return [said(c.key), rank ? String(rank) : whyMissing(c, n, row), arms || NONE];
    });
  return table(`For this query: ${asked.id}`, ["system", "rank", "rank by arm"], rows, { left: [0, 1, 2] });
}

/** The nodes that an observation holds: pairs of kind and name. */
function nodesOf(observation) {
  return [
    ...(observation.files ?? []).map((name) => ["file", name]),
    ...(observation.concepts ?? []).map((name) => ["concept", name]),
    ...(observation.session_id ? [["session", observation.session_id]] : []),
    ...(observation.superseded_by ? [["superseded", observation.superseded_by]] : []),
    ["superseded", observation.id],
  ];
}

/** Node → the observations that hold it; made when it is first asked for. */
function holders(run) {
  if (run.holders) return run.holders;
  run.holders = new Map();
  run.observations.forEach((observation, row) => {
    for (const node of nodesOf(observation)) {
      const key = node.join(":");
      if (!run.holders.has(key)) run.holders.set(key, []);
      run.holders.get(key).push(row);
    }
  });
  return run.holders;
}

/** What shares a file, a concept or a session, or superseded or was superseded; the most specific and the strongest first. */
function neighboursOf(run, row) {
  const total = run.observations.length;
  const near = new Map();
  for (const [kind, name] of nodesOf(run.observations[row])) {
    const held = holders(run).get(`${kind}:${name}`);
    const weight = (DATA.kinds[kind] * Math.log1p(total / held.length)) / Math.log1p(total);
    for (const other of held) {
      if (other === row) continue;
      const found = near.get(other) ?? { weight: 0, nodes: [] };
      found.weight += weight;
      found.nodes.push(kind === "superseded" ? "superseded" : `${kind} ${name}`);
      near.set(other, found);
    }
  }
  const best = [...near].sort(([a, x], [b, y]) => y.weight - x.weight || a - b).slice(0, 12);
  if (!best.length) return el("p", { class: "quiet" }, "No neighbour in the graph.");
  const rows = best.map(([other, { weight, nodes }]) => [
    observationLink(run, run.observations[other].id),
    nodes.map((node) => el("span", { class: "chip" }, said(node))),
    fixed(weight, 2),
  ]);
  return table(
    `Neighbours in the graph: ${near.size < 13 ? near.size : `the nearest 12 of ${near.size}`}, by shared files, concepts, session and supersession`,
    ["observation", "shares", "weight"],
    rows,
    { left: [0, 1] },
  );
}
