# SPDX-License-Identifier: Apache-2.0
"""The replies of the site service as values."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from .._model import Interruption, _made
from .._protocol import SITE_INTERFACE, milliseconds

Vector = tuple[float, float, float]


def _vector(values: Any) -> Vector | None:
    if not isinstance(values, list) or len(values) != 3:
        return None
    return float(values[0]), float(values[1]), float(values[2])


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """The service of a site, and its run."""

    #: The version of the interface.
    protocol: int = 1
    #: Additions to the interface.
    features: frozenset[str] = frozenset()
    #: The random name of the run, which orders sequence numbers over restarts.
    run: str = ""
    #: The name in the site file.
    site: str = ""
    #: Whether times count from `epoch_s`; the times of a recording are its own.
    live: bool = False
    #: Seconds since 1970 at the time 0 of a live run.
    epoch_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> SiteInfo:
        """Makes the value of the reply to GetInfo."""
        return _made(cls, members, features=frozenset(members.get("features") or []))


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a tag, and how sure it is: metres in the frame of the site file.

    While a place is not sure enough to be stated, `refused` has the reason (`ambiguous`,
    `uncertain` or `outside`), and `position` is None.
    """

    tag: str
    #: Seconds by the clock of the run.
    t: float = 0.0
    #: Counts the places of the tag in this run. After a gap, this place has replaced older ones.
    number: int = 0
    #: x, y and z.
    position: Vector | None = None
    #: Metres per second.
    velocity: Vector | None = None
    #: The covariance of the position in m²: xx, xy, xz, yy, yz, zz.
    covariance: tuple[float, ...] | None = None
    #: The radius of the circle, seen from above, that holds the tag in 95 of 100 cases.
    r95_m: float | None = None
    motion: str | None = None
    floor: str | None = None
    refused: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Place:
        """Makes a place of an object of the service, or of a line of `uwbsite run`."""
        rest = dict(members)
        covariance = rest.pop("covariance_m2", None)
        return _made(
            cls,
            rest,
            position=_vector(rest.pop("position_m", None)),
            velocity=_vector(rest.pop("velocity_m_s", None)),
            covariance=None if covariance is None else tuple(map(float, covariance)),
        )


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of the site file."""

    tag: str
    label: str | None = None
    #: silent (no place yet), present or lost; later services may have more.
    state: str = ""
    #: The last place.
    place: Place | None = None
    #: The zones in which the tag is, or was when it was lost.
    zones: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An anchor of the site file."""

    anchor: str
    #: x, y and z with their standard deviations; None for an anchor without a place.
    position: Vector | None = None
    deviation: Vector | None = None
    floor: str | None = None
    #: good, moved (the ranges of many tags contradict its place) or doubtful (they fit no place).
    state: str = ""
    #: The displacement of an anchor that has moved.
    by: Vector | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone of the site file."""

    zone: str
    label: str | None = None
    floor: str | None = None
    #: The number of tags in the zone, lost ones included.
    count: int = 0
    #: The number of these tags that are lost.
    lost: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Door:
    """A door of the site file, with the last decisions about the sides of tags."""

    door: str
    label: str | None = None
    floor: str | None = None
    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """The present state of a site. `watch` with `run` and `sequence` brings the changes since."""

    run: str = ""
    #: The number of the last event.
    sequence: int = 0
    anchors: tuple[Anchor, ...] = ()
    tags: tuple[Tag, ...] = ()
    zones: tuple[Zone, ...] = ()
    doors: tuple[Door, ...] = ()
    #: Counts since the beginning of the run.
    counters: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> State:
        """Makes the state of the reply to List."""

        def names(owner: Mapping[str, Any], key: str) -> tuple[str, ...]:
            return tuple(owner.get(key) or ())

        return cls(
            members.get("run", ""),
            members.get("sequence", 0),
            tuple(_anchor(anchor) for anchor in members.get("anchors") or []),
            tuple(
                _made(
                    Tag,
                    tag,
                    place=Place.from_json(tag["place"]) if tag.get("place") else None,
                    zones=names(tag, "zones"),
                )
                for tag in members.get("tags") or []
            ),
            tuple(_made(Zone, zone) for zone in members.get("zones") or []),
            tuple(
                _made(Door, door, inside=names(door, "inside"), outside=names(door, "outside"))
                for door in members.get("doors") or []
            ),
            dict(members.get("counters") or {}),
        )


def _anchor(members: Mapping[str, Any]) -> Anchor:
    rest = dict(members)
    return _made(
        Anchor,
        rest,
        position=_vector(rest.pop("position_m", None)),
        deviation=_vector(rest.pop("position_sd_m", None)),
        by=_vector(rest.pop("by_m", None)),
    )


@dataclass(frozen=True, slots=True)
class SiteEvent:
    """A change of the site: a value of `watch`.

    event    -- `entered` and `left` (a zone), `floor`, `inside`, `outside` and `unlocks` (a door),
                `lost` and `found` (a tag), `anchor_moved`, `anchor_doubtful`, `anchor_restored`,
                `clock_set`, `source_connected`, `source_interrupted`, `source_ended`,
                `unknown_address`, `bad_input`, `site_changed`; later services may have more
    run      -- the random name of the run
    sequence -- the number of the event in its run, from 1
    lost     -- the events before this one that the service no longer has
    """

    event: str
    run: str = ""
    sequence: int = 0
    lost: int = 0
    #: Seconds by the clock of the run, at which it happened, with the standard deviation.
    t: float | None = None
    t_sd_s: float | None = None
    #: The time of the decision.
    decided: float | None = None
    tag: str | None = None
    zone: str | None = None
    #: The zones of a tag that is lost.
    zones: tuple[str, ...] = ()
    #: The time that the tag was in the zone.
    dwell_s: float | None = None
    #: The number of tags in the zone from now on.
    count: int | None = None
    floor: str | None = None
    door: str | None = None
    outside_probability: float | None = None
    anchor: str | None = None
    source: str | None = None
    #: A text for users.
    reason: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


SiteUpdate = Union[SiteEvent, Place, Interruption]
"""A value of `watch`."""


class Updates:
    """Makes the values of the replies to Watch, and continues after the last event."""

    method = f"{SITE_INTERFACE}.Watch"

    def __init__(
        self,
        run: str | None,
        after: int | None,
        tags: Iterable[str] | None,
        interval: float | None,
    ) -> None:
        self._parameters: dict[str, Any] = {
            "run": run, "after": after, "every_ms": milliseconds(interval),
            "tags": None if tags is None else [tags] if isinstance(tags, str) else list(tags),
        }
        self.seen: frozenset[tuple[str, int]] = frozenset()

    def parameters(self, features: Container[str]) -> dict[str, Any]:
        """Returns the parameters of the call."""
        return dict(self._parameters)

    def lost(self, error: Exception) -> SiteUpdate:
        """Returns the interruption that begins when the connection is lost."""
        return Interruption("service", str(error))

    def received(
        self, parameters: Mapping[str, Any], interrupted: frozenset[tuple[str, int]]
    ) -> tuple[list[SiteUpdate], frozenset[tuple[str, int]]]:
        """Returns the events and the places of a reply."""
        run, lost = parameters.get("run", ""), parameters.get("lost", 0)
        found: list[SiteUpdate] = []
        for event in parameters.get("events") or []:
            zones = tuple(event.get("zones") or ())
            found.append(_made(SiteEvent, event, run=run, lost=lost, zones=zones))
            lost = 0
        found += [Place.from_json(place) for place in parameters.get("places") or []]
        self._parameters.update(run=run, after=parameters.get("sequence", 0))
        return found, interrupted
