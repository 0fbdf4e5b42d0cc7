# SPDX-License-Identifier: Apache-2.0
"""The input of the bridges: measurements of chips, and places and changes of a site."""

from __future__ import annotations

import json
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Union

import uwb
import uwb.site

log = logging.getLogger("uwb.bridges")

#: Characters of a name or a text of an input.
LONGEST_NAME = 200
#: Bytes of a line.
LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a tag in the frame of its site."""

    tag: str
    #: Seconds since 1970 in live data.
    time: float
    #: x, y and z in metres.
    position: tuple[float, float, float]
    #: xx, xy, xz, yy, yz and zz in square metres; NaN if they are not known.
    covariance: tuple[float, float, float, float, float, float]
    velocity: tuple[float, float, float] | None = None
    #: The radius of the circle that contains the tag with a probability of 95 %, metres.
    r95: float | None = None
    floor: str | None = None

    @property
    def sigma(self) -> float:
        """The standard deviation in the plane along the longer axis of the ellipse, metres."""
        xx, xy, _, yy, _, _ = self.covariance
        square = (xx + yy) / 2 + math.hypot((xx - yy) / 2, xy)
        return math.sqrt(square) if square > 0 else math.nan


@dataclass(frozen=True, slots=True)
class SiteChange:
    """A change of a site, such as `entered`, `left`, `lost`, `found`, `floor` or `unlocks`."""

    kind: str
    time: float
    tag: str | None = None
    #: The zone, or the door.
    place: str | None = None
    members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a source."""

    source: str
    reason: str = ""


Input = Union[uwb.Measurement, uwb.Interruption, Place, SiteChange, Ended]


def number(value: object) -> float | None:
    """Returns a finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def squared(value: float) -> float:
    """Returns the square of a value; infinity where a power would be too large for a number."""
    return value * value


def name(value: object) -> str | None:
    """Returns a text that is not empty, without unpaired surrogates and of a limited length."""
    if not isinstance(value, str) or not value:
        return None
    return value[:LONGEST_NAME].encode("utf-8", "replace").decode()


def numbers(value: object, count: int) -> tuple[float, ...] | None:
    """Returns a list of finite numbers of this length, or None for anything else."""
    if not isinstance(value, list) or len(value) != count:
        return None
    found = [number(entry) for entry in value]
    return tuple(entry for entry in found if entry is not None) if None not in found else None


def site_event(members: object) -> Place | SiteChange | None:
    """Returns the value of an object that `uwbsite run --format json` prints, or None."""
    if not isinstance(members, dict):
        return None
    moment, tag = number(members.get("t")), name(members.get("tag"))
    if kind := name(members.get("event")):
        where = name(members.get("zone")) or name(members.get("door"))
        return SiteChange(kind, moment or 0.0, tag, where, members)
    position = numbers(members.get("position_m"), 3)
    if tag is None or moment is None or position is None:
        return None
    unknown = (math.nan,) * 6
    velocity = numbers(members.get("velocity_m_s"), 3)
    made: Any = Place
    place: Place = made(
        tag, moment, position, numbers(members.get("covariance_m2"), 6) or unknown, velocity,
        number(members.get("r95_m")), name(members.get("floor")),
    )
    return place


def measurement(members: object) -> uwb.Measurement | None:
    """Returns the measurement of an object, or None.

    The service and `Recording.save` write it with its chip and time, `uwbctl range` without them:
    its time counts from the first measurement.
    """
    if not isinstance(members, dict):
        return None
    if "measurement" not in members and "peer" in members and "status" in members:
        seconds = number(members.get("time_s")) or 0.0
        members = {"chip": "board", "session_id": members.get("session"), "utc_us": round(seconds * 1e6),
                   "monotonic_us": round(seconds * 1e6), "measurement": members}
    if not isinstance(members.get("measurement"), dict):
        return None
    try:
        made = uwb.Measurement.from_json(members)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    # The values that bridges compute with; other members are passed on.
    values = (getattr(made, entry) for entry in _NUMBERS)
    texts = (made.chip, made.peer, made.device or "", made.status)
    is_valid = all(value is None or number(value) is not None for value in values)
    return made if is_valid and made.peer and all(isinstance(text, str) for text in texts) else None


_NUMBERS = (
    "estimate_m", "estimate_sd_m", "estimate_short_sd_m", "azimuth_deg", "computed_azimuth_deg",
    "elevation_deg", "computed_elevation_deg", "rssi_dbm", "nlos_probability", "sequence", "session_id",
)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("JSON has no infinity")
    return value


def parse(line: bytes) -> Place | SiteChange | uwb.Measurement | None:
    """Returns the value of a line of JSON, or None for a line of another kind."""
    try:
        members = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None
    return site_event(members) or measurement(members)


def since_epoch(seconds: float) -> bool:
    """Returns whether a time counts from 1970; times of recordings count from their beginning."""
    return 1e9 < seconds < 9e9


Put = Callable[[Input], None]


def read_lines(file: BinaryIO, source: str, put: Put) -> None:
    """Passes the values of lines on, until the file ends, and closes it."""
    bad = 0
    with file:
        while line := file.readline(LONGEST_LINE):
            value = parse(line)
            if value is not None:
                put(value)
            elif line.strip():
                bad += 1
                if bad <= 3:
                    log.warning("%s: a line is not used: %.80r", source, line)
    put(Ended(source, f"The input has ended; {bad} lines were not used." if bad else ""))


def watch_chips(path: str | None, source: str, put: Put) -> None:
    """Passes the measurements of a service on, for ever: also after it was away for long."""
    while True:
        try:
            with uwb.connect(path) as service, service.measurements(keep="newest") as events:
                log.info("%s: connected to uwbd %s", source, service.version)
                for event in events:
                    put(event)
        except (uwb.ConnectionLost, uwb.ServiceError, uwb.ProtocolError, TimeoutError) as error:
            log.warning("%s: %s", source, error)
            put(uwb.Interruption("service", str(error)))
        time.sleep(2)


def watch_site(path: str, source: str, put: Put) -> None:
    """Passes the places and the changes of a running site on, for ever.

    Each connection begins with the zones of the site, and the zones of each tag.
    """
    while True:
        try:
            with uwb.site.connect(path) as service:
                info, state = service.info(), service.state()
                origin = info.epoch_s or 0.0
                put(SiteChange("site", origin, members={"zones": [zone.zone for zone in state.zones]}))
                for tag in state.tags:
                    # The zones of a silent tag are not known yet, after a restart of the site.
                    zones = None if tag.state == "silent" else list(tag.zones)
                    put(SiteChange("zones", origin, tag.tag, members={"zones": zones}))
                with service.watch(run=state.run, after=state.sequence) as updates:
                    for update in updates:
                        if isinstance(update, uwb.Interruption):
                            put(update)
                            break
                        if value := _site_value(update, origin):
                            put(value)
        except (uwb.ConnectionLost, uwb.ServiceError, uwb.ProtocolError, TimeoutError) as error:
            log.warning("%s: %s", source, error)
            put(uwb.Interruption("service", str(error)))
        time.sleep(2)


def _site_value(update: Any, origin: float) -> Place | SiteChange | None:
    moment = (update.t or 0.0) + origin
    if isinstance(update, uwb.site.SiteEvent):
        members = {"event": update.event, "t": moment, "tag": update.tag, "zone": update.zone, "door": update.door,
                   "floor": update.floor, "count": update.count, "reason": update.reason}
        known = {key: entry for key, entry in members.items() if entry is not None}
        return SiteChange(update.event, moment, update.tag, update.zone or update.door, known)
    if update.position is None:
        return None
    unknown = (math.nan,) * 6
    made: Any = Place
    place: Place = made(update.tag, moment, update.position, update.covariance or unknown, update.velocity,
                        update.r95_m, update.floor)
    return place


class Feed:
    """The inputs of several sources in one queue. A full queue delays the sources."""

    def __init__(self, sources: Sequence[str], *, size: int = 1_000) -> None:
        self.queue: queue.Queue[Any] = queue.Queue(size)
        self._sources = sources

    def start(self) -> None:
        """Starts a thread for each source.

        A source is `chips[:SOCKET]`, `site:SOCKET`, or a file of lines; -: standard input.
        """
        for source in self._sources:
            kind, _, path = source.partition(":")
            if kind == "chips":
                thread = threading.Thread(
                    target=watch_chips, args=(path or None, source, self.queue.put), daemon=True)
            elif kind == "site":
                thread = threading.Thread(target=watch_site, args=(path, source, self.queue.put), daemon=True)
            else:
                # A thread that reads sys.stdin would block the end of the program.
                file = open(0, "rb", closefd=False) if source == "-" else open(source, "rb")
                thread = threading.Thread(
                    target=read_lines, args=(file, source, self.queue.put), daemon=True)
            thread.start()

    def get(self, timeout: float) -> Any:
        """Returns the next input, or None after the time-out."""
        try:
            return self.queue.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return None

    def batch(self, most: int, pause: Callable[[], object]) -> list[Any]:
        """Waits for an input, pauses, and returns the inputs until then, `most` at most.

        To wake threads for each input costs more than to publish it.
        """
        found = [self.queue.get()]
        pause()
        while len(found) < most and (value := self.get(0)) is not None:
            found.append(value)
        return found


def names(pairs: Iterable[str]) -> dict[str, str]:
    """Returns the names of `ADDRESS=NAME`; `ValueError` for anything else."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise ValueError(f"{pair!r} is not of the form ADDRESS=NAME")
        found[key] = value
    return found
