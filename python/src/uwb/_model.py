# SPDX-License-Identifier: Apache-2.0
"""The replies of the service as values."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

from ._protocol import log

if TYPE_CHECKING:
    import numpy
    import pandas

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_Value = TypeVar("_Value")


@cache
def _floats(kind: type[Any]) -> dict[str, bool]:
    """The fields of a kind, and whether each has a fraction."""
    return {entry.name: "float" in str(entry.type) for entry in fields(kind) if entry.name != "extra"}


def _made(kind: type[_Value], members: Mapping[str, Any], **given: Any) -> _Value:
    """The known members as fields, the others as `extra`."""
    make: Any = kind
    floats = _floats(make)
    extra: dict[str, Any] = {}
    for name, value in members.items():
        if name in given:
            continue
        is_float = floats.get(name)
        if is_float is None:
            extra[name] = value
        else:
            given[name] = float(value) if is_float and type(value) is int else value
    made: _Value = make(**given, extra=extra)
    return made


@dataclass(frozen=True, slots=True)
class Owner:
    """A user, and the program that holds a session."""

    uid: int = -1
    pid: int = -1
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of a session since its start."""

    #: Measurements with a value.
    measured: int = 0
    #: Measurements without one.
    failed: int = 0
    #: Rounds of a peer that are missing.
    missing: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session on a chip."""

    session_id: int
    #: starting, ranging, waiting or ending; later services may have more.
    state: str = ""
    share: str = ""
    owners: tuple[Owner, ...] = ()
    #: The chip's own address in the session.
    address: str | None = None
    counters: Counters | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Borrower:
    """A program that uses a chip exclusively."""

    user: Owner = Owner()
    #: The kind of use.
    reason: str = ""
    #: Microseconds since 1970.
    since_us: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


def _counters(members: Mapping[str, Any]) -> Counters | None:
    found = members.get("counters")
    return None if found is None else _made(Counters, found)


@dataclass(frozen=True, slots=True)
class Chip:
    """A chip that the service has."""

    #: The name for calls.
    chip: str
    #: The reason why the chip cannot be used now; None: it can.
    problem: str | None = None
    sessions: tuple[SessionState, ...] = ()
    borrower: Borrower | None = None
    #: A name that finds the same chip after it was plugged in elsewhere.
    device: str | None = None
    #: The serial number of the board.
    serial: str | None = None
    #: The family of the chip.
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Chip:
        """Makes a chip of a member of the reply to List."""
        sessions = tuple(
            _made(
                SessionState,
                session,
                owners=tuple(_made(Owner, owner) for owner in session.get("owners") or []),
                counters=_counters(session),
            )
            for session in members.get("sessions") or []
        )
        borrower = members.get("borrower")
        if borrower is not None:
            borrower = _made(Borrower, borrower, user=_made(Owner, borrower.get("user") or {}))
        return _made(cls, members, sessions=sessions, borrower=borrower)


@dataclass(frozen=True, slots=True)
class Info:
    """The description that a chip gives of itself."""

    device: str = ""
    family: str = ""
    uci: str = ""
    mac: str = ""
    phy: str = ""
    test: str = ""
    vendor_info: str = ""
    channels: tuple[int, ...] = ()
    capabilities: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Info:
        """Makes a description of the reply to Describe."""
        return _made(
            cls,
            members,
            channels=tuple(members.get("channels") or ()),
            capabilities=tuple(members.get("capabilities") or ()),
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement of a peer. None: it is not known.

    `uwbctl json range` describes the fields from `time_s` on.
    """

    chip: str = ""
    session_id: int = 0
    #: The time at which it was read from the chip.
    time: datetime = _EPOCH
    #: That time in the machine's CLOCK_MONOTONIC.
    monotonic_ns: int = 0
    #: Measurements that the service dropped just before, because the client did not read them in
    # time.
    lost: int = 0
    #: The random name of the run of the service: times and sequence numbers are ordered within it.
    run: str | None = None
    #: The name of the machine of the service.
    host: str | None = None
    #: The lasting name, the serial number, the family and the own address of the chip.
    device: str | None = None
    serial: str | None = None
    model: str | None = None
    address: str | None = None
    time_s: float = 0.0
    session: int = 0
    sequence: int = 0
    peer: str = ""
    status: str = ""
    status_code: int = 0
    distance_cm: int | None = None
    estimate_m: float | None = None
    estimate_sd_m: float | None = None
    velocity_m_s: float | None = None
    azimuth_deg: float | None = None
    azimuth_fom: int | None = None
    elevation_deg: float | None = None
    elevation_fom: int | None = None
    rssi_dbm: float | None = None
    nlos: bool | None = None
    lost_before: int = 0
    #: Whether an interruption precedes this measurement: rounds are missing.
    after_interruption: bool = False
    computed_m: float | None = None
    computed_sd_m: float | None = None
    no_computed: str | None = None
    computed_azimuth_deg: float | None = None
    computed_azimuth_sd_deg: float | None = None
    no_computed_azimuth: str | None = None
    computed_elevation_deg: float | None = None
    computed_elevation_sd_deg: float | None = None
    no_computed_elevation: str | None = None
    nlos_probability: float | None = None
    cfo_ppm: float | None = None
    rx_power_dbm: float | None = None
    fp_power_dbm: float | None = None
    diagnostics: str | None = None
    diagnostics_frames: int = 0
    estimate_short_sd_m: float | None = None
    computed_noise_m: float | None = None
    #: Members that this version does not support.
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def distance(self) -> float | None:
        """Metres, filtered."""
        return self.estimate_m

    @property
    def sigma(self) -> float | None:
        """The standard deviation of `distance`, with the error of uncalibrated boards, metres."""
        return self.estimate_sd_m

    @property
    def short_term_sigma(self) -> float | None:
        """The part of `sigma` that changes within seconds, metres."""
        return self.estimate_short_sd_m

    @classmethod
    def from_json(cls, parameters: Mapping[str, Any]) -> Measurement:
        """Makes a measurement of a reply to Monitor."""
        measurement = parameters.get("measurement") or {}
        identity = parameters.get("identity") or {}
        return _made(
            cls,
            measurement,
            chip=parameters.get("chip", ""),
            session_id=parameters.get("session_id", 0),
            time=_EPOCH + timedelta(microseconds=parameters.get("utc_us", 0)),
            monotonic_ns=parameters.get("monotonic_us", 0) * 1_000,
            lost=parameters.get("lost", 0),
            **{name: identity.get(name) for name in _IDENTITY},
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the reply to Monitor."""
        outer = {"chip", "session_id", "time", "monotonic_ns", "lost", "extra", *_IDENTITY}
        inner = {name: getattr(self, name) for name in _COLUMNS if name not in outer}
        identity = {name: getattr(self, name) for name in _IDENTITY}
        return {
            **({"identity": identity} if self.run is not None else {}),
            "chip": self.chip,
            "session_id": self.session_id,
            "monotonic_us": self.monotonic_ns // 1_000,
            "utc_us": (self.time - _EPOCH) // timedelta(microseconds=1),
            "lost": self.lost,
            "measurement": {**inner, **self.extra},
        }


_IDENTITY = ("run", "host", "device", "serial", "model", "address")


@dataclass(frozen=True, slots=True)
class Change:
    """An event of the service: a value of `watch`.

    kind     -- `chip_added`, `chip_opened`, `chip_lost`, `chip_back`, `chip_borrowed`,
                `chip_returned`, `session_started`, `session_joined`, `session_left`,
                `session_ended`, `session_failed`, `counters`, or `watching`, which begins a
                stream; later services may have more
    run      -- the random name of the run of the service
    sequence -- the number of the event in its run, from 1; `counters` and `watching` have the
                number of the event before them
    lost     -- the events before this one that the service no longer has
    """

    kind: str
    run: str = ""
    sequence: int = 0
    lost: int = 0
    time: datetime = _EPOCH
    #: The time in the machine's CLOCK_MONOTONIC.
    monotonic_ns: int = 0
    chip: str | None = None
    session_id: int | None = None
    #: The program that started, joined or left the session, or borrows the chip.
    user: Owner | None = None
    #: A text for users.
    reason: str | None = None
    #: For `counters` and `session_ended`.
    counters: Counters | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def from_json(cls, parameters: Mapping[str, Any]) -> Change:
        """Makes an event of a reply to Watch."""
        event = dict(parameters.get("event") or {})
        user = event.get("user")
        return _made(
            cls,
            event,
            run=parameters.get("run", ""),
            lost=parameters.get("lost", 0),
            time=_EPOCH + timedelta(microseconds=event.pop("utc_us", 0)),
            monotonic_ns=event.pop("monotonic_us", 0) * 1_000,
            user=None if user is None else _made(Owner, user),
            counters=_counters(event),
        )


@dataclass(frozen=True, slots=True)
class Interruption:
    """A gap in a stream. It goes on with the next measurement, without a call of the program.

    cause      -- `"service"`: the service was restarted or killed, or has closed the connection.
                  It is reported at once; the client then connects again and starts its sessions.
                  `"chip"`: the chip was lost, while the service ran. It is reported at once, by
                  older services when the session ranges again
    reason     -- a text for users
    chip       -- the chip, for the cause `"chip"`
    session_id -- the session, for the cause `"chip"`

    In both cases the next measurement of each session has `after_interruption`.
    """

    cause: Literal["service", "chip"]
    reason: str = ""
    chip: str | None = None
    session_id: int | None = None


Event = Union[Measurement, Interruption]
"""A value of a stream."""


class Events:
    """Makes events of the replies to Monitor."""

    method = "Monitor"

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        #: The sessions of which there was a measurement.
        self.seen: frozenset[tuple[str, int]] = frozenset()

    def parameters(self, features: Container[str]) -> dict[str, Any]:
        """Returns the parameters of the call. Older services reject the ones that they lack."""
        asked = {name: True for name in ("events", "identity") if name in features}
        return {**self._parameters, **asked}

    def lost(self, error: Exception) -> Interruption:
        """Returns the interruption that begins when the connection is lost."""
        return Interruption("service", str(error))

    def received(
        self, parameters: Mapping[str, Any], interrupted: frozenset[tuple[str, int]]
    ) -> tuple[list[Event], frozenset[tuple[str, int]]]:
        """Returns the events of a reply, in their order.

        interrupted -- the sessions whose next measurement follows an interruption that is
                       reported; the remaining ones are returned
        """
        if parameters.get("event") is not None:
            return self._changed(Change.from_json(parameters), interrupted)
        measurement = Measurement.from_json(parameters)
        key = measurement.chip, measurement.session_id
        if key not in self.seen:
            self.seen |= {key}
        if key in interrupted:
            return [replace(measurement, after_interruption=True)], interrupted - {key}
        if measurement.after_interruption:
            return [Interruption("chip", "The chip was lost and found.", *key), measurement], interrupted
        return [measurement], interrupted

    def _changed(
        self, change: Change, interrupted: frozenset[tuple[str, int]]
    ) -> tuple[list[Event], frozenset[tuple[str, int]]]:
        if change.kind == "watching" and change.reason:
            log.warning("%s", change.reason)
        if change.kind != "chip_lost":
            return [], interrupted
        keys = {key for key in self.seen if key[0] == change.chip}
        sessions: list[int | None] = [number for _, number in sorted(keys)]
        found: list[Event] = [
            Interruption("chip", change.reason or "", change.chip, number)
            for number in sessions or [self._parameters.get("session_id")]
        ]
        return found, interrupted | keys


class Changes:
    """Makes events of the replies to Watch, and continues after the last one."""

    method = "Watch"

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = dict(parameters)
        self.seen: frozenset[tuple[str, int]] = frozenset()

    def parameters(self, features: Container[str]) -> dict[str, Any]:
        """Returns the parameters of the call."""
        return dict(self._parameters)

    def lost(self, error: Exception) -> Interruption:
        """Returns the interruption that begins when the connection is lost."""
        return Interruption("service", str(error))

    def received(
        self, parameters: Mapping[str, Any], interrupted: frozenset[tuple[str, int]]
    ) -> tuple[list[Change | Interruption], frozenset[tuple[str, int]]]:
        """Returns the event of a reply."""
        change = Change.from_json(parameters)
        self._parameters.update(run=change.run, after=change.sequence)
        return [change], interrupted


_COLUMNS = [entry.name for entry in fields(Measurement) if entry.name != "extra"]


class Recording(list[Measurement]):
    """A list of measurements in their order.

    An interruption leaves a mark: the next measurement has `after_interruption`.
    """

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a table with the columns of `uwbctl range --format csv`.

        The index is the time.
        """
        import pandas

        rows = [[getattr(m, name) for name in _COLUMNS] for m in self]
        return pandas.DataFrame(rows, columns=_COLUMNS).set_index("time")

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """Returns a structured array of the numbers; unknown values are NaN."""
        import numpy

        kinds: list[tuple[str, str]] = [("time", "datetime64[us]"), ("monotonic_ns", "i8")]
        kinds.append(("peer", "U18"))
        for entry in fields(Measurement):
            if "float" in str(entry.type) or entry.name in ("distance_cm", "lost_before", "sequence"):
                kinds.append((entry.name, "f8"))

        def value(m: Measurement, name: str) -> Any:
            found = getattr(m, name)
            if isinstance(found, datetime):
                return found.replace(tzinfo=None)
            return float("nan") if found is None else found

        rows = [tuple(value(m, name) for name, _ in kinds) for m in self]
        return numpy.array(rows, dtype=kinds)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes one object a line, as the service sends it."""
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(m.to_json(), allow_nan=False) + "\n" for m in self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Reads a file that `save` has written."""
        with open(path, encoding="utf-8") as file:
            return cls.from_json(json.loads(line) for line in file if line.strip())

    @classmethod
    def from_json(cls, replies: Iterable[Mapping[str, Any]]) -> Recording:
        """Makes a recording of replies to Monitor."""
        return cls(Measurement.from_json(reply) for reply in replies)
