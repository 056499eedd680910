"""The gate: a run held against a baseline, rule by rule, with the queries behind each verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...datasets.errors import InputError
from ...retrieval.identity import differing
from ...retrieval.rounding import reaches
from ..exit_code import ExitCode
from ..inference.clusters import Clusters, Floats
from ..inference.verdict import Decision, Evidence, PairedTest, Verdict, corrected, decide, outcome, weigh_all
from ..measures.grammar import direction
from ..record import Run
from .baseline import Baseline, check_against
from .changes import QueryChange, changes
from .compare import DEPTH, DIGITS, Pairing, over_ties, pair, results_of
from .labels import holes, judged_change, sensitivity
from .rules import EVERY, Handling, Rule, Rules


@dataclass(frozen=True)
class Finding:
    """What one rule found on one system.

    Attributes:
        rule: with its category spelt out.
        before: mean of the baseline, `after` of the run, over the `n` queries of the rule.
        decision: of the comparison; None where the rule has a floor alone.
        verdict: of comparison and floor together; `why` says it in words.
        since_anchor: whether `before` is the anchor of the baseline: what was last accepted on purpose.
        ties: what the verdict would be if the order of tied scores had been another; "" where that changes nothing.
        labels: how few relevant holes in the judgments would turn the verdict; "" where that can't be told or nothing is shown.
        worse: the queries that fell, the worst first.
    """

    system: str
    rule: Rule
    n: int
    before: float
    after: float
    decision: Decision | None
    verdict: Verdict
    why: str
    ties: str
    labels: str
    worse: tuple[QueryChange, ...]
    since_anchor: bool = False

    @property
    def name(self) -> str:
        """What reports call it: its rule, and whether it looks back to the anchor."""
        return f"{self.rule.name} since the anchor" if self.since_anchor else self.rule.name


@dataclass(frozen=True)
class Bar:
    """A ceiling on one system: what was measured, and the most that it may be. No chance is in it, and none of the gate's alpha."""

    system: str
    name: str
    value: float
    ceiling: float

    @property
    def verdict(self) -> Verdict:
        """PASS up to the ceiling, REGRESSION above it."""
        return Verdict.PASS if reaches(self.ceiling, self.value) else Verdict.REGRESSION


@dataclass(frozen=True)
class GateReport:
    """Everything that a gate found, and what follows."""

    rules: Rules
    findings: tuple[Finding, ...]
    bars: tuple[Bar, ...]
    notes: tuple[str, ...]
    failures: tuple[Mapping[str, Any], ...]

    @property
    def verdict(self) -> Verdict:
        """REGRESSION if any rule or bar says so, else INCONCLUSIVE if any rule does, else PASS."""
        verdicts = {item.verdict for item in (*self.findings, *self.bars)}
        return next((v for v in (Verdict.REGRESSION, Verdict.INCONCLUSIVE) if v in verdicts), Verdict.PASS)

    @property
    def exit_code(self) -> ExitCode:
        """FAILED when a system failed, REGRESSION on one, INCONCLUSIVE when something inconclusive is to fail, else PASS."""
        if self.failures:
            return ExitCode.FAILED
        if self.verdict is Verdict.REGRESSION:
            return ExitCode.REGRESSION
        return ExitCode.INCONCLUSIVE if any(map(self.fails, self.findings)) else ExitCode.PASS

    def fails(self, finding: Finding) -> bool:
        """Return whether a finding is to fail the build: a regression, or something inconclusive that the rules let fail."""
        return finding.verdict is Verdict.REGRESSION or self.handling(finding) == "fail"

    def warns(self, finding: Finding) -> bool:
        """Return whether a finding is to be said aloud without failing the build."""
        return self.handling(finding) == "warn"

    def handling(self, finding: Finding) -> Handling | None:
        """Return what to do about a finding that is inconclusive; None for any other."""
        if finding.verdict is not Verdict.INCONCLUSIVE or finding.decision is None:
            return None
        return self.rules.handling(finding.rule, loss_shown=finding.decision.loss_shown)


def gate(run: Run, baseline: Baseline, rules: Rules, *, where: str = "baseline", allow_different: bool = False) -> GateReport:
    """Hold a run against a baseline.

    Args:
        where: how errors call the baseline.
        allow_different: judge the queries that both have where data sets or query sets differ.

    Raises:
        InputError: a system, category or measure is missing, the data sets differ, or the baseline contradicts itself.
    """
    systems = _systems(run, baseline, rules, where)
    pairings = {name: pair(baseline.systems[name], results_of(run, name), allow_different=allow_different) for name in systems}
    check_against(baseline, run.queries, where)
    questions = [question for name in systems for question in _questions(name, pairings[name], rules, baseline, where)]
    questions += [question for name in systems if name in baseline.anchor for question in _since_anchor(questions, name, baseline, run)]
    answers = _answers(questions, rules)
    ties = _other_verdicts(questions, answers, pairings, rules, run)
    labels = list(_on_holes(questions, answers, pairings, rules, run))
    return GateReport(
        rules,
        tuple(_finding(q, a, t, pairings[q.system], run, how) for q, a, t, how in zip(questions, answers, ties, labels, strict=True)),
        tuple(_bars(run, systems, rules)),
        (*_notes(run, baseline, pairings), *_on_judged(pairings, run), *_on_looks(baseline, rules), *_on_chance(questions, answers)),
        tuple(failure for failure in run.manifest["failures"] if failure["system"] in systems),
    )


class _Question(NamedTuple):
    """One rule on one system: its queries, and their values in baseline and run."""

    system: str
    rule: Rule
    queries: tuple[str, ...]
    before: Floats
    after: Floats
    units: Clusters
    since_anchor: bool = False

    @property
    def gains(self) -> Floats:
        """How much better each query became, shape (queries,)."""
        return (direction(self.rule.measure) * (self.after - self.before)).round(DIGITS)


class _Answer(NamedTuple):
    decision: Decision | None
    verdict: Verdict
    why: str


def _systems(run: Run, baseline: Baseline, rules: Rules, where: str) -> list[str]:
    for name in rules.systems:
        if name not in baseline.systems:
            raise InputError(f"there is no system {name!r}", where=where, remedy=f"there are {', '.join(baseline.systems)}")
    wanted = list(dict.fromkeys(rules.systems)) or list(baseline.systems)  # one named twice is one
    missing = [name for name in wanted if name not in run.systems]
    if missing:
        raise InputError(
            f"{missing[0]!r} is in the baseline, but not in this run",
            where=str(run.path),
            remedy="run it too, or take it out of the baseline with --reason TEXT",
        )
    return wanted


def _questions(system: str, pairing: Pairing, rules: Rules, baseline: Baseline, where: str) -> Iterator[_Question]:
    gone = [category for category in baseline.categories if category and not pairing.within(category)]
    if gone:
        raise InputError(
            f"no query of {system} is left in the category {gone[0]!r} of the baseline", where=where, remedy="run the whole data set"
        )
    for rule in filter(None, rules.rules.values()):
        if rule.measure not in pairing.measures:
            raise InputError(
                f"{rule.measure} is not in both baseline and run", where=where, remedy=f"both have {', '.join(pairing.measures)}"
            )
        if rule.category not in ("", EVERY, *baseline.categories):
            known = ", ".join(filter(None, baseline.categories))
            remedy = f"there are {known}" if known else "its queries have no category: leave that out of the rule"
            raise InputError(f"there is no category {rule.category!r}", where=where, remedy=remedy)
        for category in filter(None, baseline.categories) if rule.category == EVERY else [rule.category]:
            queries = pairing.within(category, rule.measure)
            if not queries:
                if rule.category == EVERY:
                    continue
                raise InputError(
                    f"{rule.measure} is about no query of {system}", where=where, remedy="take the rule out, or run other data"
                )
            sides = pairing.values(rule.measure, queries)
            yield _Question(system, replace(rule, category=category), queries, *sides, pairing.clusters(queries))


def _since_anchor(questions: Sequence[_Question], system: str, baseline: Baseline, run: Run) -> Iterator[_Question]:
    """Ask each comparison again against the anchor, so that losses too small to be seen one by one do not add up unseen."""
    pairing = pair(baseline.anchor[system], results_of(run, system), allow_different=True)
    for question in questions:
        if question.system == system and question.rule.margin is not None and not question.since_anchor:
            known = set(pairing.within("", question.rule.measure))
            queries = tuple(query for query in question.queries if query in known)
            sides = pairing.values(question.rule.measure, queries)
            yield _Question(system, replace(question.rule, floor=None), queries, *sides, pairing.clusters(queries), since_anchor=True)


def _tests(questions: Sequence[_Question], rules: Rules) -> dict[int, PairedTest]:
    """Return the tests of the questions that are more than a floor, by their place among them."""
    return {
        number: PairedTest(q.gains, q.rule.margin, rules.level(q.rule), q.units)
        for number, q in enumerate(questions)
        if q.rule.margin is not None
    }


def _answers(questions: Sequence[_Question], rules: Rules) -> list[_Answer]:
    tests = _tests(questions, rules)
    decisions = dict(zip(tests, decide(list(tests.values()), power=rules.power), strict=True))
    return [_answer(question, decisions.get(number)) for number, question in enumerate(questions)]


def _answer(question: _Question, decision: Decision | None) -> _Answer:
    """A floor is a bar, and reaching it is a matter of what is shown, not of the last bit; a broken one is a regression in any case."""
    floor, mean = question.rule.floor, 100 * float(question.after.mean())
    if floor is not None and not reaches(mean, floor):
        shown = f"{mean:.1f}" if round(mean, 1) < floor else f"{mean:g}"
        return _Answer(decision, Verdict.REGRESSION, f"{shown} is below the floor of {floor:g}")
    if decision is None:
        return _Answer(None, Verdict.PASS, f"{mean:.1f} is at or above the floor of {floor:g}")
    return _Answer(decision, decision.verdict, decision.why)


def _other_verdicts(
    questions: Sequence[_Question], answers: Sequence[_Answer], pairings: Mapping[str, Pairing], rules: Rules, run: Run
) -> list[str]:
    """Return, for each question, what another order of tied scores would make of the verdict; "" for nothing.

    Where no query changed the order is the baseline's own, so there is nothing to warn of.
    """
    measures = list(dict.fromkeys(question.rule.measure for question in questions))
    extremes = {name: over_ties(pairing.after, run, name, measures) for name, pairing in pairings.items()}
    found = [""] * len(questions)
    if not any(extremes.values()):
        return found
    for position, order in enumerate(("worst", "best")):
        sides = {name: replace(p, after=(extremes[name] or (p.after, p.after))[position]) for name, p in pairings.items()}
        others = [q._replace(after=sides[q.system].values(q.rule.measure, q.queries)[1]) for q in questions]
        for number, (answer, other) in enumerate(zip(answers, _answers(others, rules), strict=True)):
            unchanged = answer.decision is not None and not answer.decision.changed
            if other.verdict is not answer.verdict and not unchanged:
                found[number] += f"{'; ' if found[number] else ''}{other.verdict} with the {order} order of tied scores"
    return found


def _on_holes(
    questions: Sequence[_Question], answers: Sequence[_Answer], pairings: Mapping[str, Pairing], rules: Rules, run: Run
) -> Iterator[str]:
    """Say of each question how few unjudged hits of the run would have to be relevant for its loss not to be shown, or not as a regression.

    "" where no loss is shown.
    """
    tests, evidence = _tests(questions, rules), dict[int, Evidence]()
    for number, (question, decision) in enumerate(zip(questions, (answer.decision for answer in answers), strict=True)):
        if decision is None or question.since_anchor or not (decision.loss_shown or decision.verdict is Verdict.REGRESSION):
            yield ""
            continue
        evidence = evidence or dict(zip(tests, weigh_all([*tests.values()]), strict=True))
        better = -direction(question.rule.measure)
        stands = _still_decided(tests, evidence, number, better, decision)
        found = holes(pairings[question.system], question.rule.measure, question.queries, run.queries, better, stands)
        undone = "for it not to be a regression" if decision.verdict is Verdict.REGRESSION else "for no loss to be shown"
        yield "" if found is None else sensitivity(found, undone)


def _still_decided(
    tests: Mapping[int, PairedTest], evidence: Mapping[int, Evidence], number: int, better: int, decision: Decision
) -> Callable[[Floats], bool]:
    """Return what tells whether a test would be decided the same with other differences, while all other tests of the gate stay."""

    def stands(differences: Floats) -> bool:
        test = tests[number]._replace(differences=(-better * differences).round(DIGITS))
        others, seen = {**tests, number: test}, {**evidence, number: weigh_all([test])[0]}
        adjusted = dict(zip(others, corrected([*others.values()], [*seen.values()]), strict=True))
        found = outcome(test, adjusted[number])
        return (found.verdict, found.loss_shown) == (decision.verdict, decision.loss_shown)

    return stands


def _on_judged(pairings: Mapping[str, Pairing], run: Run) -> Iterator[str]:
    """Yield the systems of which the run's hits and the baseline's were not judged to the same share."""
    for name, pairing in pairings.items():
        if told := judged_change(pairing, run.queries):
            yield f"{name}: judged@{DEPTH} {told}"


def _finding(question: _Question, answer: _Answer, ties: str, pairing: Pairing, run: Run, labels: str) -> Finding:
    rule = question.rule
    changed = [] if question.since_anchor else changes(pairing, [rule.measure], run.queries, category=rule.category, depth=DEPTH)
    worse = [change for change in changed if change.drop(rule.measure) > 0]
    before, after = float(question.before.mean()), float(question.after.mean())
    return Finding(
        question.system,
        rule,
        len(question.queries),
        before,
        after,
        answer.decision,
        answer.verdict,
        answer.why,
        ties,
        labels,
        tuple(worse),
        question.since_anchor,
    )


def _bars(run: Run, systems: Sequence[str], rules: Rules) -> Iterator[Bar]:
    for name in systems:
        system = run.summary["systems"][name]
        total = system["latency"]["spans"].get("total")
        if rules.p95_latency is not None:
            if total is None:
                raise InputError(
                    f"{name} has no latency to hold against p95_latency",
                    where=str(run.path),
                    remedy="run it with protocol.retime=sample, or gate without that bar",
                )
            yield Bar(name, "p95 latency in calibration loops", total["p95"] / run.manifest["calibration_ms"], rules.p95_latency)
        if rules.tokens is not None:
            yield Bar(name, "tokens per query", system["tokens"]["mean"], rules.tokens)


def _on_looks(baseline: Baseline, rules: Rules) -> Iterator[str]:
    """Yield how many looks the baseline has seen, where alpha is spread over them, and that it has rolled where it is not."""
    if rules.looks > 1 and baseline.rolls >= rules.looks:
        yield f"the {rules.looks} looks that alpha was spread over are used up: make a new anchor with `recallmeter baseline --reason TEXT`"
    elif rules.looks > 1:
        yield f"look {baseline.rolls + 1} of {rules.looks}: alpha {rules.alpha:g} holds over all of them"
    elif baseline.rolls:
        yield f"the baseline has rolled {baseline.rolls} times; alpha holds for each look by itself, and --looks N spreads it over N"


def _on_chance(questions: Sequence[_Question], answers: Sequence[_Answer]) -> Iterator[str]:
    """Yield what a reader must know of the units of chance: groups, and slices too small to see what they accept."""
    judged = [(question, answer.decision) for question, answer in zip(questions, answers, strict=True) if answer.decision]
    for system in dict.fromkeys(question.system for question, _ in judged):
        grouped = [(question, decision) for question, decision in judged if question.system == system and question.units.grouped]
        if grouped:
            groups = max(decision.groups for _, decision in grouped)
            effects = ", ".join(f"{question.rule.name} {decision.design_effect:.1f}" for question, decision in grouped)
            yield f"{system}: queries hang together in {groups} groups, which are the units of chance; design effect: {effects}"
    blind = {question.rule.name: question for question, decision in judged if question.rule.category and decision.blind}
    for name, question in blind.items():
        accepted = f"all of the {question.rule.max_drop:g} pp that are accepted"
        yield f"{name} is blind: {len(question.queries)} queries would not even show that something is lost where {accepted} are"


def _notes(run: Run, baseline: Baseline, pairings: Mapping[str, Pairing]) -> Iterator[str]:
    for name, pairing in pairings.items():
        if pairing.left_out:
            yield f"{name}: {pairing.left_out} queries are in only one of baseline and run and were left out; n = {len(pairing.queries)}"
    unjudged = [name for name in run.systems if name not in baseline.systems]
    if unjudged:
        yield f"not in the baseline, so not judged: {', '.join(unjudged)}"
    if baseline.about["identity"] != run.manifest["identity"]:
        moved = differing(baseline.about["shaped_by"], run.manifest["shaped_by"])
        yield f"not made of what the baseline was made of: {moved}"
