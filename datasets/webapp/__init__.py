"""The synthetic data set ``webapp``: what an agent remembers of building web applications, and questions with graded answers.

The first application, Kilnhouse, is written by hand in ``history/``; labels name its events, never its words. Whoever
asks for more than its 240 observations gets further applications of other names and other facts. All of them share
one memory, one after another in time, and a question is asked when the memory of its own application is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count

from ..model import Dataset, Observation, Query
from .composition import Composer
from .events import Application, Question
from .kilnhouse import kilnhouse
from .timeline import Timeline

LICENCE = "CC0-1.0"


def generate_webapp(sessions: int = 30, observations_per_session: int = 8, seed: int = 0) -> Dataset:
    """Return the data set in memory; byte-identical for the same arguments.

    Raises:
        InputError: a number of sessions or observations out of range.
    """
    return Dataset(
        name="webapp",
        observations=tuple(stream_observations(sessions, observations_per_session, seed)),
        queries=tuple(stream_queries(sessions, observations_per_session, seed)),
        licence=LICENCE,
    )


def stream_observations(sessions: int = 30, observations_per_session: int = 8, seed: int = 0) -> Iterator[Observation]:
    """Yield the observations in the order of time, holding one application at a time.

    Raises:
        InputError: as `generate`.
    """
    return _observations(Timeline(sessions, observations_per_session, seed))


def stream_queries(sessions: int = 30, observations_per_session: int = 8, seed: int = 0) -> Iterator[Query]:
    """Yield the queries whose every event is among the observations, holding one application at a time.

    Raises:
        InputError: as `generate`.
    """
    return _queries(Timeline(sessions, observations_per_session, seed))


def _applications(timeline: Timeline) -> Iterator[tuple[int, Application]]:
    """Yield the applications, each with the number of its first observation."""
    composer, first = Composer(timeline.seed), 0
    for number in count():
        application = composer.application(number) if number else kilnhouse(timeline.seed)
        yield first, application
        first += len(application.keys)
        if first >= timeline.total:
            return


def _observations(timeline: Timeline) -> Iterator[Observation]:
    for first, application in _applications(timeline):
        for number, key in enumerate(application.keys[: timeline.total - first], first):
            event, later = application.event(key), application.superseded_by.get(key)
            later_number = first + application.position[later] if later else timeline.total
            yield Observation(
                id=timeline.identifier(number),
                session_id=timeline.session(number),
                timestamp=timeline.moment(number),
                type=event.type,
                title=event.title,
                subtitle=event.subtitle,
                narrative=event.narrative,
                facts=event.facts,
                concepts=event.concepts,
                files=event.files,
                importance=event.importance,
                superseded_by=timeline.identifier(later_number) if later_number < timeline.total else None,
            )


def _queries(timeline: Timeline) -> Iterator[Query]:
    for first, application in _applications(timeline):
        for question in application.questions:
            number = {key: first + application.position[key] for key in (*question.relevant, *question.rests_on)}
            if max(number.values()) < timeline.total:
                yield Query(
                    id=question.id,
                    text=question.text,
                    category=question.category,
                    relevant={timeline.identifier(number[key]): grade for key, grade in question.relevant.items()},
                    asked_at=_asked_at(question, first, application, timeline),
                    tags=question.tags,
                )


def _asked_at(question: Question, first: int, application: Application, timeline: Timeline) -> datetime | None:
    """Return the minute after the event, or after the last observation there is if the event is not among them."""
    if question.asked_after is None:
        return None
    number = min(first + application.position[question.asked_after], timeline.total - 1)
    return timeline.moment(number) + timedelta(minutes=1)
