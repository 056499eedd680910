// The page: which views there are, what is drawn when the address changes, and the keys.

const VIEWS = [
  { name: "overview", title: "Overview", draw: overview, there: () => DATA.runs.length > 0 },
  { name: "queries", title: "Queries", draw: queries, there: () => DATA.runs.length > 0 },
  { name: "query", title: "One query", draw: query, there: () => DATA.runs.length > 0 },
  { name: "compare", title: "Compare", draw: compareView, there: () => CONTENDERS.length > 1 },
  { name: "sweep", title: "Sweep", draw: sweepView, there: () => DATA.sweeps.length > 0 },
  { name: "data", title: "Data", draw: dataView, there: () => DATA.runs.length > 0 },
];

const main = document.getElementById("main");
let drawn = null;

function render() {
  const found = state();
  const view = VIEWS.find((one) => one.name === found.view && one.there()) ?? VIEWS.find((one) => one.there());
  const { obs, ...rest } = found;
  const wanted = address(rest);
  if (wanted !== drawn) {
    const focused = document.activeElement?.closest?.("main") ? focusable().indexOf(document.activeElement) : -1;
    const before = drawn && new URLSearchParams(drawn.slice(1));
    const moved = before && (before.get("view") !== rest.view || before.get("query") !== (rest.query ?? null));
    drawn = wanted;
    navigate(found, view);
    main.replaceChildren(...drawnSafely(view, rest));
    addExports(main);
    main.dataset.view = view.name;
    document.title = `${main.querySelector("h1")?.textContent ?? view.title} – Recallmeter`;
    if (moved) {
      window.scrollTo(0, 0);
      main.focus({ preventScroll: true });
    } else if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true });
  }
  showObservation(found);
}

/** Draw a view; where that fails, say which fault it was instead of leaving the page empty. */
function drawnSafely(view, found) {
  try {
    return [strayed(found), view.draw(found)].flat(Infinity).filter((node) => node);
  } catch (fault) {
    return [
      el("h1", {}, `${view.title} can't be shown`),
      el("p", { class: "note loss", role: "alert" }, `A fault of this page: ${fault.name}: ${fault.message}`),
      el("p", {}, "The other views still open. Please report it with the address of this page: ", el("code", {}, location.hash)),
      el("pre", { tabindex: 0 }, said(fault.stack ?? "")),
    ];
  }
}

/** Say so where a link names what is not in this page, instead of showing something else in silence. */
function strayed(found) {
  const has = (system) => CONTENDERS.some((c) => c.key === system || c.name === system);
  const wrong = [
    found.view && !VIEWS.some((view) => view.name === found.view && view.there()) ? `no view ${found.view}` : "",
    found.run && DATA.runs.length && !DATA.runs.some((run) => run.label === found.run) ? `no run ${found.run}` : "",
    ...["a", "b"].map((side) => (found[side] && !has(found[side]) ? `no system ${found[side]}` : "")),
    found.measure && DATA.runs.length && !DATA.runs.some((run) => run.summary.measures.includes(found.measure)) ? `no measure ${found.measure}` : "",
    found.sweep && !DATA.sweeps.some((sweep) => sweep.label === found.sweep) ? `no sweep ${found.sweep}` : "",
  ].filter(Boolean);
  return wrong.length ? el("p", { class: "note loss", role: "alert" }, `This link names what the page does not hold: ${wrong.join(", ")}.`) : null;
}

const focusable = () => [...main.querySelectorAll("a, button, input, select, summary, [tabindex]")];

function navigate(found, view) {
  const kept = Object.fromEntries(["run", "a", "b", "measure", "category", "show", "text"].map((name) => [name, found[name]]));
  const there = VIEWS.filter((one) => one.there() && (one.name !== "query" || found.query));
  document.getElementById("views").replaceChildren(
    ...there.map((one) => {
      const target = address({ view: one.name, ...kept, query: one.name === "query" ? found.query : "" });
      return el("a", { href: target, "aria-current": one === view ? "page" : null }, one.title);
    }),
  );
  const several = MANY && view.name !== "sweep" && view.name !== "compare";
  document.getElementById("chooser").replaceChildren(
    ...(several
      ? [
          select(
            "Run",
            DATA.runs.map((run) => [run.label, run.label]),
            runOf(found).label,
            (value) => go({ run: value, a: "", b: "", more: "", category: "" }),
          ),
        ]
      : []),
  );
}

/** j and k move through the list or from query to query; / goes to the search; Esc goes back. */
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("observation").open) return;
  const typing = event.target.matches?.("input[type=search], select");
  if (typing && event.key === "Escape") event.target.blur();
  if (typing) return;
  const links = [...main.querySelectorAll("#query-list tbody th a")];
  if (event.key === "/" && !main.querySelector("#search")) {
    event.preventDefault();
    go({ view: "queries", query: "" });
    addEventListener("hashchange", () => main.querySelector("#search")?.focus(), { once: true });
  } else if (event.key === "/") {
    event.preventDefault();
    main.querySelector("#search").focus();
  } else if (links.length && (event.key === "j" || event.key === "k")) {
    const at = links.indexOf(document.activeElement);
    links[event.key === "j" ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0)].focus();
  } else main.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById("observation").addEventListener("cancel", (event) => {
  event.preventDefault();
  closeObservation();
});
document
  .getElementById("keys")
  .replaceChildren(
    el(
      "p",
      { class: "quiet" },
      el("kbd", {}, "j"),
      " ",
      el("kbd", {}, "k"),
      " next and previous query · ",
      el("kbd", {}, "/"),
      " search · ",
      el("kbd", {}, "Enter"),
      " open · ",
      el("kbd", {}, "Esc"),
      " back · arrows move in the ranked lists",
    ),
  );
addEventListener("keydown", keys);
addEventListener("hashchange", render);
document.getElementById("link").addEventListener("click", () => copy(location.href, "the link"));
render();
