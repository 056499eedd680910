"""Ingest: privacy filter, de-duplication, supersession, lifecycle, and the retriever that takes these steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.ingest.deduplicate import Deduplicate
from recallmeter.retrieval.ingest.lifecycle import Lifecycle
from recallmeter.retrieval.ingest.privacy import MARK, PrivacyFilter
from recallmeter.retrieval.ingest.retriever import Ingest, Intake
from recallmeter.retrieval.ingest.supersede import Supersede
from recallmeter.retrieval.ranking import Ranking

START = datetime(2026, 1, 5, tzinfo=UTC)


def remembered(identifier: str, title: str = "a title", *, day: float = 0, **fields: object) -> Observation:
    values = {"session_id": identifier, "timestamp": START + timedelta(days=day), "type": "note"} | fields
    return Observation(id=identifier, title=title, **values)  # type: ignore[arg-type]


class TestPrivacyFilter:
    @pytest.mark.parametrize(
        ("kind", "secret"),
        [
            ("aws_key", "AKIA" + "Q3EXAMPLE0ABCDEF"),
            ("github_token", "ghp_" + "a1B2" * 9),
            ("github_token", "github_pat_" + "11AAAA_" * 4),
            ("gitlab_token", "glpat-" + "x1-Y" * 5),
            ("model_provider_key", "sk-" + "proj-a1B2c3D4" * 3),
            ("stripe_key", "sk_" + "live_" + "a1B2c3D4" * 3),
            ("slack_token", "xoxb-" + "123456789-abc"),
            ("google_key", "AIza" + "Sy0-_" * 7),
            ("package_token", "npm_" + "a1B2" * 9),
            ("package_token", "pypi-" + "AgEIcHlwaS5vcmc" * 3),
            ("hugging_face_token", "hf_" + "AbCd" * 9),
            ("sendgrid_key", "SG." + "a1B2c3D4" * 2 + "." + "e5F6g7H8" * 2),
            ("json_web_token", "eyJ" + "hbGciOi.eyJzdWIiOiI.c2lnbmF0dXJl"),
            ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"),
            ("private_key", "-----BEGIN PRIVATE KEY-----\nMIIE and no end"),
        ],
    )
    def test_a_secret_is_replaced_and_counted_by_kind(self, kind: str, secret: str) -> None:
        intake = PrivacyFilter().apply([remembered("a", narrative=f"we used {secret}")])
        assert intake.observations[0].narrative == f"we used {MARK}"
        assert {name: n for name, n in intake.counts.items() if n} == {kind: 1}

    @pytest.mark.parametrize(
        ("text", "cleaned"),
        [
            ("Authorization: Bearer a1b2c3d4e5f6g7h8i9", f"Authorization: Bearer {MARK}"),
            ("postgres://app:hunter2@db:5432/x", f"postgres://app:{MARK}@db:5432/x"),
            ("API_KEY=abc123def456ghi", f"API_KEY={MARK}"),
            ('"password": "correct1horse2"', f'"password": "{MARK}"'),
        ],
    )
    def test_what_stands_around_a_secret_is_kept(self, text: str, cleaned: str) -> None:
        assert PrivacyFilter().apply([remembered("a", narrative=text)]).observations[0].narrative == cleaned

    @pytest.mark.parametrize(
        "text",
        [
            "JWT_SECRET is read from the environment",
            "token: opaque, kept in Redis",
            "password=changeme",
            "risk-averse-and-well-tested-rollout",
            "https://example.org/a@b",
            "the bearer of this ticket",
            "KEY_PREFIX=kh:session:",
        ],
    )
    def test_prose_is_left_alone(self, text: str) -> None:
        assert PrivacyFilter().apply([remembered("a", narrative=text)]).observations[0].narrative == text

    def test_private_passages_are_cut_out_of_every_field(self) -> None:
        text = "open <private>the\nsecret</private> end"
        fields = {"subtitle": text, "narrative": text, "facts": (text, "<PRIVATE>all</PRIVATE>"), "concepts": (text,), "files": (text,)}
        intake = PrivacyFilter().apply([remembered("a", text, **fields)])
        cleaned = intake.observations[0]
        assert (cleaned.title, cleaned.subtitle, cleaned.narrative) == ("open end",) * 3
        assert (cleaned.facts, cleaned.concepts, cleaned.files) == (("open end",),) * 3
        assert intake.counts["private"] == 7

    def test_an_unclosed_private_passage_reaches_to_the_end(self) -> None:
        assert PrivacyFilter().apply([remembered("a", "open <private>secret")]).observations[0].title == "open"

    def test_an_observation_without_text_left_is_removed(self) -> None:
        assert PrivacyFilter().apply([remembered("a", "<private>all of it</private>"), remembered("b")]).observations == (remembered("b"),)


class TestDeduplicate:
    def ids(self, *minutes: float, window: float = 5, **changed: object) -> list[str]:
        given = [remembered(f"o{i}", day=minute / 1440) for i, minute in enumerate(minutes)]
        given[-1] = replace(given[-1], **changed)  # type: ignore[arg-type]
        return [o.id for o in Deduplicate(window).apply(given).observations]

    def test_a_repeat_within_the_window_is_removed(self) -> None:
        assert self.ids(0, 4.9) == ["o0"]

    def test_the_window_begins_with_what_was_kept(self) -> None:
        assert self.ids(0, 4, 5, 9) == ["o0", "o2"]

    def test_another_session_and_importance_are_the_same_content(self) -> None:
        assert self.ids(0, 1, session_id="other", importance=9) == ["o0"]

    @pytest.mark.parametrize("changed", [{"title": "b"}, {"narrative": "b"}, {"facts": ("b",)}, {"files": ("b",)}, {"type": "b"}])
    def test_other_content_is_no_repeat(self, changed: dict[str, object]) -> None:
        assert self.ids(0, 1, **changed) == ["o0", "o1"]

    def test_fields_do_not_run_into_one_another(self) -> None:
        a, b = remembered("a", "x", subtitle="y"), remembered("b", "xy")
        assert len(Deduplicate().apply([a, b]).observations) == 2

    def test_a_lone_surrogate_can_be_hashed(self) -> None:
        assert len(Deduplicate().apply([remembered("a", "\ud800")]).observations) == 1

    def test_a_window_of_nothing_is_refused(self) -> None:
        with pytest.raises(InputError, match="0 minutes"):
            Deduplicate(0)


class TestSupersede:
    @pytest.mark.parametrize(
        ("earlier", "later"),
        [
            ("Knex as query builder", "Prisma replaces Knex"),
            ("Monorepo with npm workspaces", "Move from npm to pnpm"),
            ("Running numbers as primary keys", "UUIDs instead of running numbers"),
            ("Passwords hashed with bcrypt", "Argon2id takes over from bcrypt"),
        ],
    )
    def test_a_title_that_says_what_it_replaces(self, earlier: str, later: str) -> None:
        assert self.marks([remembered("a", earlier, concepts=("c",)), remembered("b", later, day=1, concepts=("c",))]) == {"a": "b"}

    def test_a_setting_with_another_value(self) -> None:
        a, b = remembered("a", facts=("pool=10",), files=("env.ts",)), remembered("b", narrative="Now pool=20.", day=1, files=("env.ts",))
        assert self.marks([a, b]) == {"a": "b"}
        assert self.marks([a, replace(b, narrative="Still pool=10.")]) == {}

    def test_the_first_successor_counts(self) -> None:
        given = [remembered(f"o{i}", facts=(f"pool={i}",), day=i, files=("env.ts",)) for i in range(3)]
        assert self.marks(given) == {"o0": "o1", "o1": "o2"}

    def test_what_shares_neither_file_nor_concept_contradicts_nothing(self) -> None:
        assert self.marks([remembered("a", "Knex", concepts=("c",)), remembered("b", "Prisma replaces Knex", concepts=("d",))]) == {}

    def test_marks_brought_along_win_and_are_compared(self) -> None:
        given = [
            remembered("a", "Knex", concepts=("c",), superseded_by="x"),
            remembered("b", "Prisma replaces Knex", concepts=("c",), superseded_by="y"),
        ]
        intake = Supersede().apply(given)
        assert {o.id: o.superseded_by for o in intake.observations} == {"a": "x", "b": "y"}
        assert intake.counts == {"brought": 2, "found": 1, "found_as_brought": 0}
        assert {o.id: o.superseded_by for o in Supersede(trust=False).apply(given).observations} == {"a": "b", "b": None}

    @staticmethod
    def marks(given: Sequence[Observation]) -> dict[str, str]:
        return {o.id: o.superseded_by for o in Supersede().apply(given).observations if o.superseded_by}


class TestLifecycle:
    def test_tiers_follow_the_sessions_that_used_a_memory_again(self) -> None:
        given = [remembered(f"o{i}", day=i, files=("a.ts",)) for i in range(8)]
        assert Lifecycle().apply(given).counts == {"procedural": 3, "semantic": 3, "episodic": 1, "working": 1}

    def test_what_was_long_unused_is_forgotten(self) -> None:
        # e^(−90/30) = .0498 < .05 at importance 5; at importance 6 e^(−90/36) = .082
        given = [remembered("plain"), remembered("vital", importance=6), remembered("new", day=90)]
        assert [o.id for o in Lifecycle().apply(given).observations] == ["vital", "new"]

    def test_use_keeps_a_memory(self) -> None:
        given = [remembered("used", files=("a.ts",)), remembered("use", day=60, files=("a.ts",)), remembered("new", day=90)]
        assert [o.id for o in Lifecycle().apply(given).observations] == ["used", "use", "new"]

    def test_going_on_in_the_same_session_is_no_use(self) -> None:
        given = [
            remembered("it", session_id="s", files=("a.ts",)),
            remembered("on", session_id="s", day=60, files=("a.ts",)),
            remembered("new", day=91),
        ]
        assert [o.id for o in Lifecycle().apply(given).observations] == ["on", "new"]

    def test_working_memory_is_the_last_session_however_long_it_takes(self) -> None:
        given = [remembered("first", session_id="s"), remembered("last", day=900, session_id="s")]
        assert len(Lifecycle().apply(given).observations) == 2

    def test_a_threshold_of_zero_forgets_nothing(self) -> None:
        assert len(Lifecycle(forget_below=0).apply([remembered("old"), remembered("new", day=9_000)]).observations) == 2

    def test_nothing_is_taken_in_as_nothing(self) -> None:
        assert Lifecycle().apply([]) == Intake((), {})

    @pytest.mark.parametrize("settings", [{"stability_days": 0}, {"forget_below": 1}, {"semantic_uses": 0}, {"semantic_uses": 6}])
    def test_what_makes_no_sense_is_refused(self, settings: dict[str, float]) -> None:
        with pytest.raises(InputError):
            Lifecycle(**settings)  # type: ignore[arg-type]


class Recorder:
    """A retriever that remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[Observation] = []

    def index(self, observations: Sequence[Observation]) -> None:
        self.given = list(observations)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        return Ranking.of([(f"{query}-{k}-{scope}-{asked_at}", 1.0)])


class TestIngest:
    def test_steps_see_one_scope_at_a_time_in_order_of_time(self) -> None:
        seen: list[list[str]] = []

        class Watch:
            def apply(self, observations: Sequence[Observation]) -> Intake:
                seen.append([o.id for o in observations])
                return Intake(tuple(observations), {"seen": len(observations)})

        system = Ingest(Recorder(), {"watch": Watch()})
        system.index([remembered("b", scope="x"), remembered("c", day=1), remembered("d"), remembered("a", scope="x")])
        assert seen == [["d", "c"], ["a", "b"]]
        assert system.report()["ingest"]["steps"]["watch"]["seen"] == 4

    def test_what_is_left_reaches_the_retriever_in_the_order_given(self) -> None:
        inner = Recorder()
        Ingest(inner, {"deduplicate": Deduplicate()}).index(
            [remembered("z", "one", day=1), remembered("b"), remembered("a"), remembered("y", scope="x")]
        )
        assert [o.id for o in inner.given] == ["z", "a", "y"]

    def test_each_step_gets_what_the_one_before_left_and_the_report_counts_both(self) -> None:
        steps = {"off": None, "privacy": PrivacyFilter(), "deduplicate": Deduplicate()}
        system = Ingest(Recorder(), steps)
        system.index([remembered("a", "one"), remembered("b", "one <private>two</private>"), remembered("c", "<private>three</private>")])
        report = system.report()["ingest"]
        assert (report["taken_in"], report["kept"], list(report["steps"])) == (3, 1, ["privacy", "deduplicate"])
        assert report["steps"]["privacy"]["removed_ids"] == ["c"]
        assert report["steps"]["privacy"]["private"] == 2
        assert report["steps"]["deduplicate"] == {"removed": 1, "removed_ids": ["b"]}

    def test_a_second_intake_replaces_the_first(self) -> None:
        system = Ingest(Recorder(), {"privacy": PrivacyFilter()})
        system.index([remembered("a"), remembered("b")])
        system.index([remembered("a")])
        assert system.report()["ingest"]["taken_in"] == 1

    def test_questions_are_handed_on(self) -> None:
        assert Ingest(Recorder(), {"p": PrivacyFilter()}).search("q", 3, scope="s", asked_at=START).ids == (f"q-3-s-{START}",)

    def test_no_step_at_all_is_refused(self) -> None:
        with pytest.raises(InputError, match="no step"):
            Ingest(Recorder(), {"privacy": None})
