// What is shown can be taken along: a table as CSV, Markdown or LaTeX, a figure as SVG or PNG, and a link to exactly this view.

/** The cells of a table as text, the head first; what is drawn or hidden is left out. */
function cellsOf(table) {
  const text = (cell) => {
    const copy = cell.cloneNode(true);
    for (const aside of copy.querySelectorAll("svg, .hidden, .arrow, .aside, .tools")) aside.remove();
    for (const block of copy.querySelectorAll("div, li, p")) block.prepend(" ");
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const rows = [...table.rows].map((row) => [...row.cells].map(text));
  const kept = rows[0].map((_, column) => rows.some((row, n) => n && row[column]));
  return rows.map((row) => row.filter((_, column) => kept[column]));
}

const WRITERS = {
  CSV: {
    ending: "csv",
    // a cell that a spreadsheet would take for a formula is told to be text
    write: (rows) =>
      rows
        .map((row) =>
          row
            .map((cell) => (/^[=@\t]|^[+-](?![\d.])/.test(cell) ? `'${cell}` : cell))
            .map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
            .join(","),
        )
        .join("\r\n") + "\r\n",
  },
  Markdown: {
    ending: "md",
    write: ([head, ...rows]) => {
      const safe = (cell) => cell.replace(/[\\`*_[\]|~$]/g, "\\$&").replaceAll("<", "&lt;");
      const line = (cells) => `| ${cells.map(safe).join(" | ")} |`;
      return [line(head), `|${" --- |".repeat(head.length)}`, ...rows.map(line), ""].join("\n");
    },
  },
  LaTeX: {
    ending: "tex",
    write: ([head, ...rows]) => {
      const named = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", Δ: "$\\Delta$", "→": "$\\to$", "–": "--" };
      const safe = (cell) => cell.replace(/[\\~^Δ→–]/g, (c) => named[c]).replace(/(?<!\\text\w*|\$\\\w*)[&%#_]/g, "\\$&");
      const line = (cells) => `${cells.map(safe).join(" & ")} \\\\`;
      return [
        `\\begin{tabular}{l${"r".repeat(head.length - 1)}}`,
        "\\toprule",
        line(head),
        "\\midrule",
        ...rows.map(line),
        "\\bottomrule",
        "\\end{tabular}",
        "",
      ].join("\n");
    },
  },
};

function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  tell(`Saved ${name}`);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // a page opened from disk may have no clipboard of its own
    const box = el("textarea", { "aria-label": what });
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  tell(`Copied ${what}`);
}

/** Say in the corner what was done; screen readers hear it. */
function tell(words) {
  const box = document.getElementById("told");
  box.textContent = visible(words);
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => (box.textContent = ""), 3000);
}

const fileName = (what, ending) => `${`${document.title} ${what}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80)}.${ending}`;

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font", "text-anchor", "paint-order"];

/** A drawing that stands by itself: its styles written into it, on paper. */
function standalone(drawing) {
  const copied = drawing.cloneNode(true);
  const [originals, copies] = [drawing, copied].map((one) => [one, ...one.querySelectorAll("*")]);
  originals.forEach((original, n) => {
    const style = getComputedStyle(original);
    for (const name of DRAWN) copies[n].style.setProperty(name, style.getPropertyValue(name));
  });
  const box = drawing.viewBox.baseVal;
  const [width, height] = box?.width ? [box.width, box.height] : [drawing.clientWidth, drawing.clientHeight];
  copied.setAttribute("xmlns", SVG);
  copied.setAttribute("width", width);
  copied.setAttribute("height", height);
  copied.prepend(svg("rect", { width, height, fill: getComputedStyle(document.documentElement).backgroundColor }));
  return { text: new XMLSerializer().serializeToString(copied), width, height };
}

function savePng(drawing, name) {
  const { text, width, height } = standalone(drawing);
  const picture = new Image();
  picture.onload = () => {
    const canvas = el("canvas", { width: 3 * width, height: 3 * height });
    canvas.getContext("2d").drawImage(picture, 0, 0, 3 * width, 3 * height);
    canvas.toBlob((blob) => save(name, blob));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

const menu = (label, ...entries) =>
  el(
    "details",
    { class: "tools" },
    el("summary", { "aria-label": label }, "export"),
    el(
      "div",
      {},
      entries.map(([text, act]) =>
        el(
          "button",
          {
            onclick: (event) => {
              event.target.closest("details").open = false;
              act();
            },
          },
          text,
        ),
      ),
    ),
  );

/** Give every table and figure inside `root` a menu; a table and its menu become one box, as wide as the table. */
function addExports(root) {
  for (const frame of root.querySelectorAll(".frame")) {
    const table = frame.querySelector("table");
    if (!table || frame.previousElementSibling?.matches(".tools")) continue;
    const what = frame.getAttribute("aria-label");
    const short = table.id || what.slice(0, 30);
    const entries = Object.entries(WRITERS).flatMap(([name, { ending, write }]) => [
      [`Copy ${name}`, () => copy(write(cellsOf(table)), `the table as ${name}`)],
      [`Save ${name}`, () => save(fileName(short, ending), write(cellsOf(table)), "text/plain")],
    ]);
    const held = el("div", { class: "exported" }, menu(`Export the table: ${what}`, ...entries));
    frame.replaceWith(held);
    held.append(frame);
  }
  for (const figure of root.querySelectorAll("figure")) {
    const drawing = figure.querySelector("svg[role=img]");
    if (!drawing || figure.querySelector(":scope > .tools")) continue;
    const what = drawing.getAttribute("aria-label");
    const name = (ending) => fileName(what.split(".")[0].slice(0, 40), ending);
    figure.prepend(
      menu(
        `Export the figure: ${what}`,
        ["Save SVG", () => save(name("svg"), standalone(drawing).text, "image/svg+xml")],
        ["Save PNG", () => savePng(drawing, name("png"))],
      ),
    );
  }
}
