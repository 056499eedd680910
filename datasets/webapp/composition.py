"""Further applications, composed from the vocabulary: each has a name, components, figures and mishaps of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .chance import Chance, Wording
from .events import Application, Event, Question
from .history_files import history

_COMPONENTS = 24
_CLAUSES = 23  # of each sort: a prime, which the check digits need
_COMBINATIONS = _CLAUSES**4
_STRIDE = 99_991

Cast = Mapping[str, str]
"""What the slots of one component's events are filled with."""


@dataclass(frozen=True)
class Composer:
    """Composes the applications 1, 2, 3 … of a seed; the same number always gives the same application.

    Each of an application's components lives through the same ten kinds of events, each worded by six clauses. Four of them
    come from a walk over all combinations, which returns to one only after 279,841 events of its kind; the other two are check
    digits of a Reed–Solomon code. So no two of these events have more than three clauses in common.
    """

    seed: int

    def application(self, number: int) -> Application:
        """Return one application of 240 events, with seven questions that name it."""
        kinds = {kind["key"]: kind for kind in history("kinds")}
        casts = [self._cast(number, part) for part in range(_COMPONENTS)]

        def event(key: str) -> Event:
            kind, part = key.split("-")
            return self._event(kinds[kind], casts[int(part)], number * _COMPONENTS + int(part))

        return Application(
            keys=tuple(_keys(list(kinds))),
            superseded_by={
                f"{kind['supersedes']}-{part}": f"{kind['key']}-{part}"
                for kind in kinds.values()
                if "supersedes" in kind
                for part in range(_COMPONENTS)
            },
            questions=tuple(self._questions(number, casts)),
            event=event,
        )

    @cached_property
    def _chance(self) -> Chance:
        return Chance(self.seed)

    def _cast(self, number: int, part: int) -> Cast:
        """Name everything about one component; no two components of an application share a name, a code or a mishap."""
        words, below = history("vocabulary"), self._chance.below
        app = self._name(number)
        domain = sorted(words["domains"])[below(len(words["domains"]), "domain", number)]
        things, roles = words["domains"][domain], words["roles"]
        pairs = len(things) * len(roles)
        pair = (below(pairs, "pairs", number) + 37 * part) % pairs
        thing, role = things[pair % len(things)], roles[pair // len(things)]
        setting = self._chance.pick(sorted(words["settings"]), "setting", number, part)
        store = below(len(words["stores"]), "store", number, part)
        later_store = (store + 1 + below(len(words["stores"]) - 1, "later", number, part)) % len(words["stores"])
        value = 2 + below(180, "value", number, part)
        mood = (below(len(words["moods"]), "mood", number) + part) % len(words["moods"])
        mishap = (below(len(words["mishaps"]), "mishap", number) + 3 * part) % len(words["mishaps"])
        stem = f"{thing}_{role}".replace(" ", "_")
        language = self._chance.pick(sorted(words["languages"]), "language", number)
        extension = words["languages"][language]
        return {
            "app": app,
            "slug": app.lower(),
            "domain": domain,
            "thing": thing,
            "role": role,
            "component": f"{thing} {role}",
            "Component": f"{thing} {role}".capitalize(),
            "stem": stem,
            "language": language,
            "extension": extension,
            "file": f"src/{stem}.{extension}",
            "setting": setting,
            "Setting": setting.capitalize(),
            "unit": words["settings"][setting],
            "old_value": str(value),
            "new_value": str(value + 1 + below(300, "raise", number, part)),
            "old_store": words["stores"][store],
            "new_store": words["stores"][later_store],
            "code": f"{app.upper()}-{100 + 37 * part + below(37, 'code', number, part)}",
            "nickname": f"{words['moods'][mood]} {words['mishaps'][mishap]}",
        }

    def _name(self, number: int) -> str:
        """Return a name that no other application of this seed has: three syllables, shuffled, then a suffix for each 32,768."""
        syllables = history("vocabulary")["syllables"]
        base = len(syllables)
        suffix, within = divmod(number, base**3)
        within = (within * 20_011 + self._chance.below(base**3, "names")) % base**3
        name = syllables[within % base] + syllables[within // base % base] + syllables[within // base**2]
        while suffix:
            suffix, syllable = divmod(suffix, base)
            name += syllables[syllable]
        return name.capitalize()

    def _event(self, kind: Mapping[str, Any], cast: Cast, serial: int) -> Event:
        place = f"{kind['key']}-{serial}"
        clauses = history("vocabulary")["clauses"]
        combination = (serial * _STRIDE + self._chance.below(_COMBINATIONS, "walk", kind["key"])) % _COMBINATIONS
        digits = [combination // _CLAUSES**power % _CLAUSES for power in range(4)]
        checks = [sum(digits) % _CLAUSES, sum(weight * digit for weight, digit in enumerate(digits, 1)) % _CLAUSES]
        slots = {
            **cast,
            **{name: clauses[name][digit] for name, digit in zip(kind["clauses"], digits + checks, strict=True)},
            "n1": str(11 + self._chance.below(880, "n1", place)),
            "n2": str(3 + self._chance.below(90, "n2", place)),
        }
        wording = Wording(self._chance, {name: (value,) for name, value in slots.items()})
        return Event(
            type=kind["type"],
            title=wording.settle(kind["title"], place),
            subtitle=wording.settle(kind["subtitle"], place),
            narrative=wording.settle(kind["narrative"], place),
            facts=tuple(wording.settle(fact, place) for fact in kind["facts"].splitlines()),
            concepts=tuple(wording.settle(concept, place) for concept in kind["concepts"]),
            files=tuple(wording.settle(file, place) for file in kind["files"]),
            importance=kind["importance"],
        )

    def _questions(self, number: int, casts: list[Cast]) -> Iterator[Question]:
        """Ask each question of another component; every one names the application, so that no other application answers it."""
        first = self._chance.below(_COMPONENTS, "asked", number)
        absent = self._cast(number, _COMPONENTS)
        for turn, form in enumerate(history("forms")):
            part = (first + 5 * turn) % _COMPONENTS
            slots = {**casts[part], "absent": absent["component"]}
            wording = Wording(self._chance, {name: (value,) for name, value in slots.items()})
            yield Question(
                id=f"{slots['slug']}-{form['category']}",
                category=form["category"],
                text=wording.settle(form["text"], f"form-{number}-{turn}"),
                relevant={f"{kind}-{part}": grade for kind, grade in form.get("relevant", {}).items()},
                rests_on=tuple(f"{kind}-{part}" for kind in form.get("rests_on", ())),
            )


def _keys(kinds: list[str]) -> list[str]:
    """Return event keys in the order of time: components begin one after another and their lives overlap."""
    lives = [(_COMPONENTS * stage + 7 * part, part, kind) for stage, kind in enumerate(kinds) for part in range(_COMPONENTS)]
    return [f"{kind}-{part}" for _, part, kind in sorted(lives)]
