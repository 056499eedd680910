"""The table of a comparison as a paper prints it: a row a system, a column a measure, letters where a difference is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from ...evaluation.judging.compare import Comparison
from ...evaluation.measures.grammar import direction
from ...evaluation.measures.numbers import amount, pp
from ..comparison import CORRECTIONS, TESTS
from ..inert import in_latex
from ..table import name_of


def latex(comparisons: Sequence[Comparison], test: str, correction: str, alpha: float) -> str:
    """Return a booktabs table; the highest mean of a column is bold, and a superscript names each system that is shown to differ.

    Args:
        test, correction: how p came about, which the caption says.
        alpha: a corrected p below it counts as shown.
    """
    means: dict[str, dict[str, float]] = {}
    differs: dict[tuple[str, str], list[str]] = {}
    for comparison in comparisons:
        before, after = comparison.pairing.before.label, comparison.pairing.after.label
        for row in comparison.overall:
            means.setdefault(before, {})[row.measure] = row.before
            means.setdefault(after, {})[row.measure] = row.after
            if row.adjusted < alpha:
                differs.setdefault((after, row.measure), []).append(before)
                differs.setdefault((before, row.measure), []).append(after)
    measures = list(dict.fromkeys(measure for values in means.values() for measure in values))
    letters = {label: _letter(number) for number, label in enumerate(means)}
    unit = "Means in per cent. " if pp() else ""
    caption = (
        f"{unit}A superscript names each system from which a system is shown to differ: two-sided p below {alpha:g} by "
        f"{TESTS[test]}, corrected after {CORRECTIONS[correction]} over all cells."
    )
    return "\n".join(_lines(means, measures, letters, differs, caption)) + "\n"


def _lines(
    means: dict[str, dict[str, float]],
    measures: Sequence[str],
    letters: dict[str, str],
    differs: dict[tuple[str, str], list[str]],
    caption: str,
) -> Iterator[str]:
    best = {m: max((values[m] for values in means.values() if m in values), key=lambda value: direction(m) * value) for m in measures}
    yield "% \\usepackage{booktabs}"
    yield f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{ll{'r' * len(measures)}}}\n\\toprule"
    yield " & ".join(["", "system", *(in_latex(name_of(measure)) for measure in measures)]) + r" \\ \midrule"
    for label, values in means.items():
        cells = []
        for measure in measures:
            if measure not in values:
                cells.append("--")
                continue
            text = amount(values[measure], measure)
            shown = rf"\textbf{{{text}}}" if text == amount(best[measure], measure) else text
            against = "".join(sorted(letters[other] for other in differs.get((label, measure), ())))
            cells.append(f"{shown}$^{{{against}}}$" if against else shown)
        yield " & ".join([letters[label], in_latex(label), *cells]) + r" \\"
    yield f"\\bottomrule\n\\end{{tabular}}\n\\caption{{{in_latex(caption)}}}"
    yield "\\end{table}"


def _letter(number: int) -> str:
    rounds, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + "'" * rounds
