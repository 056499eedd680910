// What is shown stands in the address behind the #, so that a link, a reload and the back button all lead to it.

const address = (target) =>
  `#${new URLSearchParams(Object.entries(target).filter(([, value]) => value !== null && value !== undefined && value !== ""))}`;

/** The state: everything after the #; a query alone means the view of it. */
function state() {
  const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  found.view ??= found.query ? "query" : VIEWS.find((view) => view.there()).name;
  return found;
}

const runOf = (found) => DATA.runs.find((run) => run.label === found.run) ?? DATA.runs[0];

/** Go on with some values changed; typing replaces the entry of the history, everything else adds one. */
function go(changes, { quietly = false } = {}) {
  const target = address({ ...state(), ...changes });
  if (quietly) {
    history.replaceState(null, "", target);
    render();
  } else location.hash = target;
}
