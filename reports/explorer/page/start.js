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
    main.replaceChildren(...[view.draw(rest)].flat(Infinity).filter((node) => node));
    main.dataset.view = view.name;
    document.title = `${main.querySelector("h1")?.textContent ?? view.title} – Recallmeter`;
    if (moved) {
      window.scrollTo(0, 0);
      main.focus({ preventScroll: true });
    } else if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true });
  }
  showObservation(found);
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
addEventListener("beforeprint", () => {
  if (main.dataset.view === "overview" || !DATA.runs.length) return;
  main.replaceChildren(
    ...overview(state())
      .flat(Infinity)
      .filter((node) => node),
  );
  drawn = null;
});
addEventListener("afterprint", render);
render();
