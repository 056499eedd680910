"""The baseline file: small, stable, checked when it is read, and lowered only with a reason."""

from __future__ import annotations

import json

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.judging.baseline import baseline_of, check_against, falls, read_baseline, replaced, rolled, write_baseline
from recallmeter.evaluation.judging.compare import compare, pair, results_of
from recallmeter.evaluation.record import load_run
from recallmeter.evaluation.seal import sealed

LOST = {f"q{i:02}": ["o39"] for i in range(0, 24, 2)}
"""Answers of twelve queries that find nothing."""

HALF = {"q01": ["o01", "o39"], "q02": ["o38", "o37", "o14"], "q03": []}


@pytest.fixture
def run(write_run):
    return load_run(write_run("run", {"good": {}, "half": HALF}))


@pytest.fixture
def path(run, tmp_path):
    write_baseline(baseline_of(run), tmp_path / "baseline.json")
    return tmp_path / "baseline.json"


def test_what_is_written_is_read_and_does_not_differ_from_its_run(run, path):
    kept = read_baseline(path)
    assert list(kept.systems) == ["good", "half"]
    assert kept.categories == ("exact", "semantic")
    for name in run.systems:
        pairing = pair(kept.systems[name], results_of(run, name))
        assert {row.mean for row in compare([pairing])[0].overall} == {0.0}
        assert pairing.before.rankings == {query: ids[:10] for query, ids in pairing.after.rankings.items()}


def test_one_changed_query_is_one_changed_line(write_run, run, path, tmp_path):
    changed = load_run(write_run("changed", {"good": {}, "half": {**HALF, "q07": ["o07"]}}))
    write_baseline(baseline_of(changed), tmp_path / "other.json")
    before, after = path.read_text().splitlines(), (tmp_path / "other.json").read_text().splitlines()
    digest, *different = [(b, a) for b, a in zip(before, after, strict=True) if b != a]
    assert digest[0].startswith('"digest": ')
    assert len(different) == 1
    assert different[0][1] == ('"q07": {"values": [0.5, 0.5, 1, 1, 0, 0, 0.2, 0.380094, 1, 0.5], "top": ["o07"]},')


def test_it_says_nothing_of_time_or_place(run, path):
    text = path.read_text()
    assert str(run.path) not in text
    assert set(json.loads(text)) == {
        "digest", "format", "dataset", "identity", "shaped_by", "versions", "models", "reasons", "anchor", "rolls", "measures",
        "categories", "systems",
    }  # fmt: skip


def test_a_run_with_a_failure_makes_no_baseline(write_run):
    with pytest.raises(InputError, match="shaky failed on query q05"):
        baseline_of(load_run(write_run("failed", {"shaky": {"q05": None}})))


def edited(path, change):
    """Change a baseline and seal it again, as one of another origin might be."""
    document = json.loads(path.read_text())
    del document["digest"]
    change(document)
    path.write_text(json.dumps(sealed(document)))
    return path


@pytest.mark.parametrize("position", [0.01, 0.2, 0.5, 0.9])
def test_a_digit_that_is_another_is_no_baseline(path, position):
    text = path.read_text()
    at = next(at for at in range(int(len(text) * position), len(text)) if text[at].isdigit())
    path.write_text(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")
    with pytest.raises(InputError, match=r"baseline\.json.*make it again with `recallmeter baseline RUN -o FILE`"):
        read_baseline(path)


def test_a_baseline_that_is_written_otherwise_is_the_same(path):
    kept = read_baseline(path)
    path.write_text(json.dumps(dict(sorted(json.loads(path.read_text()).items())), indent=3))
    assert read_baseline(path).about == kept.about


@pytest.mark.parametrize("change", [lambda d: d.pop("digest"), lambda d: d.update(reasons=["accepted by the team"])])
def test_what_was_edited_by_hand_is_no_baseline(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="it was changed since it was written, or is damaged"):
        read_baseline(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(1, 1.7), r"half, query q01: recall@10 is 1.7, which is not between"),
        (lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(0, -0.1), r"recall@5 is -0.1"),
        (lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(0, float("nan")), r"recall@5 is nan"),
        (lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(0, "0.5"), r"recall@5 is '0.5'"),
        (lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(0, True), r"recall@5 is True"),
        (lambda d: d["systems"]["half"]["q01"]["values"].pop(), r"9 values for 10 measures"),
        (lambda d: d["systems"]["half"]["q01"]["top"].append("o01"), r"the id 'o01' is there twice"),
        (lambda d: d["systems"]["half"]["q01"].update(top=[f"x{i}" for i in range(11)]), r"not at most 10 texts"),
        (lambda d: d["systems"]["half"].pop("q01"), r"do not list the same queries \(1 differ, such as 'q01'\)"),
        (lambda d: d.pop("measures"), r"measures is missing"),
        (lambda d: d["systems"].update(half=[1]), r"systems.half is no object"),
        (lambda d: d["systems"].clear(), r"holds no system"),
        (lambda d: d.update(format=1), r"not a baseline of format 2"),
        (lambda d: d.update(measures=["recall@ten"]), r"no measure 'recall@ten'"),
    ],
)
def test_an_impossible_baseline_is_refused_in_one_line(path, change, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        read_baseline(edited(path, change))
    assert "\n" not in str(caught.value)


def test_a_truncated_file_is_named_with_its_line(path):
    path.write_text(path.read_text()[:900])
    with pytest.raises(InputError, match=r"baseline.json:\d+: broken JSON"):
        read_baseline(path)


def test_no_file_and_no_text_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_baseline(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_baseline(tmp_path / "binary.json")


def test_a_possible_value_that_its_own_ids_deny_is_found(run, path):
    edited(path, lambda d: d["systems"]["half"]["q01"]["values"].__setitem__(1, 1.0))
    with pytest.raises(InputError, match=r"half, query q01: recall@10 is 1, but the ids beside it give 0.5"):
        check_against(read_baseline(path), run.queries, str(path))


def test_an_honest_baseline_agrees_with_its_ids(run, path):
    check_against(read_baseline(path), run.queries, str(path))


def test_a_ratchet_raises_and_refuses_to_fall(write_run, run):
    low = baseline_of(run)
    high = baseline_of(load_run(write_run("high", {"good": {}, "half": {"q01": HALF["q01"]}})))
    assert falls(low, high) == []
    with pytest.raises(InputError, match="no gain is shown; leave the baseline as it is"):
        replaced(low, high, ratchet=True, reason="")
    lower = baseline_of(load_run(write_run("lower", {"good": {}, "half": LOST})))
    assert replaced(lower, high, ratchet=True, reason="") == high
    assert falls(high, low)[0] == "half recall@5 falls from 97.9 to 91.7"
    with pytest.raises(InputError, match=r"half recall@5 falls from 97.9 to 91.7 and \d+ more; .*--reason"):
        replaced(high, low, ratchet=True, reason="")


def test_a_reason_lowers_and_is_kept_with_what_fell(write_run, run, tmp_path):
    low = baseline_of(load_run(write_run("lower", {"good": {}, "half": LOST})))
    high = baseline_of(load_run(write_run("high", {"good": {}, "half": {}})))
    lowered = replaced(high, low, ratchet=False, reason="labels mended")
    assert lowered.reasons[0].startswith("labels mended (half recall@5 falls from 100.0 to 50.0; ")
    write_baseline(lowered, tmp_path / "lowered.json")
    again = read_baseline(tmp_path / "lowered.json")
    assert again.reasons == lowered.reasons
    assert replaced(again, high, ratchet=True, reason="").reasons == lowered.reasons
    assert replaced(again, low, ratchet=False, reason="twice").reasons == (*lowered.reasons, "twice")


def test_a_baseline_is_never_replaced_by_the_way(run):
    with pytest.raises(InputError, match="there is a baseline already; go on from it with --roll"):
        replaced(baseline_of(run), baseline_of(run), ratchet=False, reason="")


def test_a_system_that_goes_and_another_data_set_are_falls(write_run, run, memory):
    full = baseline_of(run)
    assert falls(full, baseline_of(load_run(write_run("one", {"good": {}})))) == ["half is no longer in it"]
    other = Dataset("other", memory.observations, memory.queries[:9])
    assert falls(full, baseline_of(load_run(write_run("other", {"good": {}}, dataset=other)))) == [
        "the data set changes from small to other (another fingerprint)"
    ]


def test_nothing_half_written_is_left_behind(run, tmp_path):
    folder = tmp_path / "taken"
    folder.mkdir()
    with pytest.raises(InputError, match="can't be written"):
        write_baseline(baseline_of(run), folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "taken"]


def test_a_roll_keeps_the_anchor_and_counts(write_run, run):
    first = baseline_of(run)
    once = rolled(first, baseline_of(load_run(write_run("next", {"good": {}, "half": LOST}))))
    twice = rolled(once, baseline_of(load_run(write_run("third", {"good": {}, "half": {}}))))
    assert (once.rolls, twice.rolls) == (1, 2)
    for name, results in twice.anchor.items():
        assert {m: v.tolist() for m, v in results.values.items()} == {m: v.tolist() for m, v in first.systems[name].values.items()}
    accepted = replaced(twice, baseline_of(run), ratchet=False, reason="meant")
    assert (accepted.rolls, accepted.anchor) == (0, {})
    with pytest.raises(InputError, match="half was not measured as the anchor was; accept the new state on purpose"):
        rolled(first, baseline_of(load_run(write_run("fewer", {"good": {}}))))
