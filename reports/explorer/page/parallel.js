// Parallel coordinates of a sweep: a line a configuration, its colour the quality; pulling along an axis keeps what crosses there.

/** The axes: what was varied, the system where there are several, the measure, tokens and time. */
function axesOf(sweep) {
  if (sweep.axes) return sweep.axes;
  const several = new Set(sweep.rows.map((row) => row.system)).size > 1;
  const numeric = (values) => values.every((value) => typeof value === "number");
  const axis = (name, of, write, parameterOf = false) => {
    const values = [...new Set(sweep.rows.map(of))];
    if (numeric(values)) {
      const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
      const marks = parameterOf && values.length < 9 ? values : high > low ? [low, (low + high) / 2, high] : [low];
      const place = (value) => (high > low ? (value - low) / (high - low) : 0.5);
      return { name, write, marks, at: (row) => place(of(row)), place };
    }
    const keys = values.map(parameter).sort();
    const place = (value) => (keys.length > 1 ? keys.indexOf(parameter(value)) / (keys.length - 1) : 0.5);
    return { name, write, marks: values, at: (row) => place(of(row)), place };
  };
  sweep.axes = [
    ...(several ? [axis("system", (row) => row.system, String)] : []),
    ...sweep.varied.map((name) => axis(shortName(name), (row) => row.parameters[name], parameter, true)),
    axis("tokens", (row) => row.tokens, count),
    axis("p50, ms", (row) => row.latency ?? 0, milliseconds),
    axis(`${headOf(sweep.measure)}${inPercent(sweep.measure, ", ")}`, (row) => row.mean, (value) => percent(value, sweep.measure)),
  ];
  return sweep.axes;
}

/** Axis → the stretch that is kept, from 0 to 1, as the address holds it: `axis~from~to`, one after another. */
function brushesOf(found) {
  const parts = (found.brush ?? "").split("|").filter(Boolean);
  return new Map(
    parts.map((part) => part.split("~")).map(([n, from, to]) => [Number(n), [Number(from), Number(to)]]),
  );
}

const brushAddress = (brushes) => [...brushes].map(([n, [from, to]]) => `${n}~${fixed(from, 3)}~${fixed(to, 3)}`).join("|");

/** The configurations that every brush keeps. */
function brushed(sweep, found) {
  const axes = axesOf(sweep);
  const brushes = [...brushesOf(found)].filter(([n]) => axes[n]);
  return new Set(
    sweep.rows.filter((row) => brushes.every(([n, [from, to]]) => axes[n].at(row) >= from - 5e-4 && axes[n].at(row) <= to + 5e-4)),
  );
}

function parallel(sweep, found) {
  const axes = axesOf(sweep);
  const brushes = brushesOf(found);
  const kept = brushed(sweep, found);
  const [gap, height, top, left] = [130, 260, 34, 60];
  const width = left * 2 + gap * (axes.length - 1);
  const words = `Each line is a configuration: ${axes.map((axis) => axis.name).join(", ")}. The lighter a line, the higher its quality; dashed ones are on the Pareto front; the best is ${settings(sweep, sweep.rows[0]) || sweep.rows[0].system}.`;
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height + top + 16}`,
    class: sweep.rows.length > 200 ? "parallel many" : "parallel",
    role: "img",
    "aria-label": words,
  });
  const x = (n) => left + n * gap;
  const y = (share) => top + (1 - share) * height;
  const quality = axes.at(-1);
  const order = [...sweep.rows].reverse().sort((a, b) => kept.has(a) - kept.has(b) || a.front - b.front);
  for (const row of order) {
    const line = svg("path", {
      class: `${row.front ? "front" : ""} ${kept.has(row) ? "" : "out"}`,
      d: axes.map((axis, n) => `${n ? "L" : "M"}${x(n)} ${y(axis.at(row))}`).join(""),
    });
    line.style.setProperty("--quality", `${fixed(100 * quality.at(row), 0)}%`);
    line.append(svg("title", {}, `${row.system} ${settings(sweep, row)}: ${percent(row.mean, sweep.measure)}${inPercent(sweep.measure)}`));
    drawing.append(line);
  }
  axes.forEach((axis, n) => {
    drawing.append(svg("line", { class: "axis", x1: x(n), x2: x(n), y1: top, y2: top + height }));
    drawing.append(svg("text", { class: "label", x: x(n), y: 16, "text-anchor": "middle" }, axis.name));
    for (const mark of axis.marks)
      drawing.append(svg("text", { class: "tick", x: x(n) + 5, y: y(axis.place(mark)) + 4 }, axis.write(mark)));
    const handle = svg("rect", { class: "handle", x: x(n) - 14, y: top, width: 28, height, "data-axis": n });
    const [from, to] = brushes.get(n) ?? [0, 0];
    const stretch = svg("rect", { class: "brush", x: x(n) - 7, width: 14, y: y(to), height: (to - from) * height });
    drawing.append(stretch, handle);
    pull(handle, stretch, { drawing, top, height, whole: height + top + 16 }, (range) => {
      const changed = new Map(brushes);
      if (range) changed.set(n, range);
      else changed.delete(n);
      go({ view: "sweep", brush: brushAddress(changed) }, { quietly: true });
    });
  });
  drawing.style.minWidth = `${width * 0.8}px`;
  drawing.style.maxWidth = `${width * 1.5}px`;
  return el(
    "div",
    { id: "parallel" },
    axisFilters(axes, brushes),
    el("p", { role: "status" }, `${plural(kept.size, "configuration")} of ${count(sweep.rows.length)} kept`),
    el("figure", { class: "wide" }, el("figcaption", {}, words), framed("Every configuration", drawing)),
  );
}

/** Let a stretch of an axis be pulled; a click without a pull takes it away. */
function pull(handle, stretch, { drawing, top, height, whole }, done) {
  const share = (event) => {
    const box = drawing.getBoundingClientRect();
    const at = 1 - (((event.clientY - box.top) / box.height) * whole - top) / height;
    return at < 0.03 ? 0 : at > 0.97 ? 1 : at; // the ends are easily missed
  };
  handle.addEventListener("pointerdown", (event) => {
    const begin = share(event);
    handle.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const ends = [begin, share(moved)].sort((a, b) => a - b);
      stretch.setAttribute("y", top + (1 - ends[1]) * height);
      stretch.setAttribute("height", (ends[1] - ends[0]) * height);
    };
    const end = (ended) => {
      handle.removeEventListener("pointermove", move);
      const ends = [begin, share(ended)].sort((a, b) => a - b);
      done(ends[1] - ends[0] < 0.02 ? null : ends);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", () => handle.removeEventListener("pointermove", move), { once: true });
  });
}

/** The same filters for the keyboard: from and to on every axis. */
function axisFilters(axes, brushes) {
  const set = (n, side, value) => {
    const changed = new Map(brushes);
    const ends = [...(changed.get(n) ?? [0, 1])];
    ends[side] = Number(value);
    if (ends[0] <= 0 && ends[1] >= 1) changed.delete(n);
    else changed.set(n, [Math.min(...ends), Math.max(...ends)]);
    go({ view: "sweep", brush: brushAddress(changed) }, { quietly: true });
  };
  const fields = axes.map((axis, n) => {
    const marks = [...axis.marks].sort((a, b) => axis.place(a) - axis.place(b));
    const options = marks.map((value) => [fixed(axis.place(value), 3), axis.write(value)]);
    const [from, to] = brushes.get(n) ?? [0, 1];
    const nearest = (share) => options.reduce((a, b) => (Math.abs(b[0] - share) < Math.abs(a[0] - share) ? b : a))[0];
    return [
      select(`${axis.name} from`, options, nearest(from), (value) => set(n, 0, value)),
      select("to", options, nearest(to), (value) => set(n, 1, value)),
    ];
  });
  const clear = el("button", { onclick: () => go({ view: "sweep", brush: "" }, { quietly: true }) }, "Clear");
  return el("details", { open: brushes.size > 0 }, el("summary", {}, "Filter by axis"), el("div", { class: "bar" }, fields, clear));
}
