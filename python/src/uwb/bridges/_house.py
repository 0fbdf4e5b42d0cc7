# SPDX-License-Identifier: Apache-2.0
"""The state of tags and zones as topics and payloads, without any input or output."""

from __future__ import annotations

import json
import logging
import math
import re
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import uwb

from . import _homeassistant
from ._input import Place, SiteChange, since_epoch, squared

log = logging.getLogger("uwb.bridges.mqtt")

#: Tags that are published. Rotating addresses would be a new tag each.
MOST_TAGS = 1_000
MOST_ZONES = 200


def slug(text: str) -> str:
    """Returns a level of a topic: the name itself, or a changed one with its checksum."""
    changed = re.sub(r"[^A-Za-z0-9_-]+", "_", text)[:40].strip("_")
    return text if changed == text and text else f"{changed}_{zlib.crc32(text.encode(errors='backslashreplace')):08x}".lstrip("_")


@dataclass(frozen=True, slots=True)
class Message:
    topic: str
    payload: str
    qos: int = 1
    is_retained: bool = True


class Outbox:
    """Messages that wait: of each retained topic the newest, and the newest 1,000 events."""

    def __init__(self) -> None:
        self.states: dict[str, Message] = {}
        self._waiting: dict[str, Message] = {}
        self._events: deque[Message] = deque(maxlen=1_000)

    def state(self, topic: str, payload: object, qos: int = 1) -> None:
        """Publishes a state, unless it is the same as before."""
        text = payload if isinstance(payload, str) else json.dumps(payload, allow_nan=False)
        message = Message(topic, text, qos)
        if self.states.get(topic) != message:
            self.states[topic] = message
            # At the end: a new list of rooms precedes the room.
            self._waiting.pop(topic, None)
            self._waiting[topic] = message

    def forget(self, topic: str) -> None:
        """Removes a retained state from the broker."""
        self.states.pop(topic, None)
        self._waiting[topic] = Message(topic, "")

    def stream(self, topic: str, payload: object) -> None:
        """Publishes a value that is not retained; a newer one replaces it while it waits."""
        self._waiting[topic] = Message(topic, json.dumps(payload, allow_nan=False), 0, False)

    def event(self, topic: str, payload: object) -> None:
        """Publishes an event that is not replaced."""
        self._events.append(Message(topic, json.dumps(payload, allow_nan=False), 1, False))

    def repeat(self) -> None:
        """Publishes all states again: after a connection, or for a client that has none."""
        self._waiting = {**self.states, **{k: v for k, v in self._waiting.items() if k not in self.states}}

    def take(self) -> Message | None:
        """Returns the next message, events first."""
        if self._events:
            return self._events.popleft()
        if self._waiting:
            return self._waiting.pop(next(iter(self._waiting)))
        return None


class Smooth:
    """Means of a value over about one and ten seconds, and the value that was published.

    A fast change has to exceed four standard deviations, a slow one only the dead band.
    """

    def __init__(self, value: tuple[float, ...], now: float) -> None:
        self.fast = self.slow = self.published = value
        self.time, self.sigma = now, 0.0

    def add(self, value: tuple[float, ...], sigma: float, now: float) -> None:
        passed, self.time, self.sigma = now - self.time, now, sigma
        if passed > 10:
            self.fast = self.slow = value
            return
        self.fast, self.slow = (
            tuple(m + (v - m) * -math.expm1(-max(passed, 0.001) / tau) for m, v in zip(mean, value))
            for mean, tau in ((self.fast, 0.5), (self.slow, 5.0))
        )

    def settle(self, band: float) -> bool:
        """Returns whether there is another value to publish, and makes it the published one."""
        fast_band = max(band, 4 * self.sigma) if math.isfinite(self.sigma) else band
        if math.dist(self.fast, self.published) > fast_band:
            self.slow = self.published = self.fast
            return True
        if math.dist(self.slow, self.published) > band and math.dist(self.fast, self.slow) < fast_band:
            self.published = self.slow
            return True
        return False


@dataclass
class Settings:
    """The choices of the user."""

    base: str = "uwb"
    version: str = ""
    #: The dead band of distances and places, metres.
    band: float = 0.1
    #: Seconds between two states of a tag, at least and at most.
    pause: float = 1.0
    heartbeat: float = 60.0
    #: Seconds of silence after which a tag is lost, and after which it has left.
    lost_after: float = 30.0
    left_after: float = 300.0
    raw: bool = False
    #: Names for people by address, and rooms by the name of a chip.
    names: dict[str, str] = field(default_factory=dict)
    rooms: dict[str, str] = field(default_factory=dict)
    #: The dialects `rooms` and `espresense`.
    dialects: tuple[str, ...] = ()
    #: The prefix of discovery; None: no discovery.
    discovery: str | None = "homeassistant"
    tracker: str = "both"


@dataclass
class Range:
    smooth: Smooth
    newest: uwb.Measurement
    streamed: float = -math.inf


@dataclass
class Tag:
    name: str
    slug: str
    #: The time of its last measurement, and the same less the outages of the sources.
    seen: float
    stays: float
    is_lost: bool = False
    is_home: bool = True
    room: str | None = None
    last_room: str | None = None
    #: In the order in which it entered them; None: reported by this run, else the time to confirm.
    zones: dict[str, float | None] = field(default_factory=dict)
    ranges: dict[str, Range] = field(default_factory=dict)
    near: str | None = None
    place: Smooth | None = None
    floor: str | None = None
    published: float = -math.inf
    changed: bool = True
    discovered: object = None


class House:
    """Tags and zones. The time is an input, in seconds from any origin."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.outbox = Outbox()
        self.tags: dict[str, Tag] = {}
        #: Zones by their slug, with their names.
        self.zones: dict[str, str] = {}
        self.chips: set[str] = set()
        self._events = 0
        #: Sources that are away: chips, or an empty text for a service.
        self._away: set[str] = set()
        self._away_since = 0.0
        self._site: object = None

    # Input

    def receive(self, value: uwb.Measurement | uwb.Interruption | Place | SiteChange, now: float) -> None:
        """Handles an input."""
        if isinstance(value, uwb.Interruption):
            if not self._away:
                self._away_since = now
            self._away.add(value.chip or "")
            return
        if isinstance(value, uwb.Measurement):
            self._return({"", value.chip}, now)
            self._measured(value, now)
        elif isinstance(value, Place):
            self._return({""}, now)
            self._placed(value, now)
        else:
            self._changed(value, now)

    def tick(self, now: float) -> None:
        """Handles the passing of time."""
        settings = self.settings
        for tag in self.tags.values():
            if not tag.is_lost and now - tag.seen > settings.lost_after:
                self._lose(tag, now)
            for zone in [z for z, until in tag.zones.items() if until is not None and now > until]:
                self._leave(tag, zone)
            # A tag has not left because its chip or its service is away.
            if tag.is_home and not self._away and now - tag.stays > settings.left_after:
                self._left(tag, now)
            self._publish(tag, now)
        self._publish_site()

    def adopt(self, topic: str, payload: str, now: float) -> None:
        """Handles a retained state of an earlier run, until the tag is measured again."""
        base = self.settings.base
        if topic.startswith(f"{base}/tag/") and topic.endswith("/presence"):
            key = topic[len(base) + 5 : -len("/presence")]
            if key not in self.tags and slug(key) == key and payload == "home":
                self._tag(key, now)
        elif topic.startswith(f"{base}/zone/"):
            try:
                members = json.loads(payload)
                zone, tags = members["name"], members["tags"]
            except (ValueError, KeyError, TypeError):
                return
            if not isinstance(zone, str) or not isinstance(tags, list) or zone in self.zones.values():
                return
            until = now + self.settings.lost_after
            for name in filter(lambda name: isinstance(name, str), tags):
                if tag := self._tag(name, now):
                    tag.zones.setdefault(zone, until)
            self._publish_zone(zone)

    # Events of tags

    def _return(self, sources: set[str], now: float) -> None:
        if self._away and not (self._away - sources):
            for tag in self.tags.values():
                tag.stays += now - max(self._away_since, tag.stays)
        self._away -= sources

    def _tag(self, name: str, now: float) -> Tag | None:
        key = slug(name)
        tag = self.tags.get(key)
        if tag is None:
            if len(self.tags) >= MOST_TAGS:
                return None
            tag = self.tags[key] = Tag(self.settings.names.get(name, name), key, now, now)
            if len(self.tags) == MOST_TAGS:
                log.warning("Only the first %d tags are published.", MOST_TAGS)
        return tag

    def _see(self, tag: Tag, now: float) -> None:
        tag.seen = tag.stays = now
        if tag.is_lost or not tag.is_home:
            tag.is_lost, tag.is_home, tag.changed = False, True, True
            self._event("found", tag)
            for zone in tag.zones:
                self._publish_zone(zone)
        self._enter_room(tag)

    def _measured(self, value: uwb.Measurement, now: float) -> None:
        if value.distance is None or not math.isfinite(value.distance):
            return
        tag = self._tag(value.peer, now)
        if tag is None:
            return
        chip = value.device or value.chip
        self.chips.add(chip)
        sigma = value.short_term_sigma or value.sigma or math.nan
        found = tag.ranges.get(chip)
        if found is None:
            if len(tag.ranges) >= 64:
                return
            found = tag.ranges[chip] = Range(Smooth((value.distance,), now), value)
        found.smooth.add((value.distance,), sigma, now)
        found.newest = value
        self._see(tag, now)
        if self.settings.raw:
            self.outbox.stream(f"{self._topic(tag)}/raw", value.to_json())
        self._stream(tag, chip, found, now)
        near = min(tag.ranges.items(), key=lambda entry: (now - entry[1].smooth.time > 5, entry[1].smooth.slow))[0]
        if near != tag.near:
            current = tag.ranges.get(tag.near or "")
            if current is None or now - current.smooth.time > 5 or (
                tag.ranges[near].smooth.slow[0] < current.smooth.slow[0] - 2 * self.settings.band):
                tag.near, tag.changed = near, True
        self._publish(tag, now)

    def _placed(self, value: Place, now: float) -> None:
        tag = self._tag(value.tag, now)
        if tag is None:
            return
        if tag.place is None:
            tag.place = Smooth(value.position, now)
            tag.changed = True
        tag.place.add(value.position, value.sigma, now)
        if value.floor != tag.floor:
            tag.floor, tag.changed = value.floor, True
        self._see(tag, now)
        self._publish(tag, now)

    def _changed(self, value: SiteChange, now: float) -> None:
        if value.kind in ("site", "zones"):
            self._listed(value, now)
            return
        tag = self._tag(value.tag, now) if value.tag else None
        if value.kind == "entered" and tag and value.place:
            if slug(value.place) not in self.zones and len(self.zones) >= MOST_ZONES:
                return
            tag.zones.pop(value.place, None)
            tag.zones[value.place] = None
            self._publish_zone(value.place)
        elif value.kind == "left" and tag and value.place:
            self._leave(tag, value.place)
        elif value.kind == "lost" and tag:
            if not tag.is_lost:
                self._lose(tag, now)
            return
        elif value.kind == "found":
            return
        if tag:
            self._see(tag, now)
        if value.kind not in ("source_connected", "source_interrupted", "source_ended", "bad_input"):
            self._event(value.kind, tag, place=value.place, time=value.time)
        if tag:
            self._publish(tag, now)

    def _listed(self, value: SiteChange, now: float) -> None:
        """Handles the zones of a site, or of a tag, as a site lists them at first."""
        self._return({""}, now)
        listed = value.members["zones"]
        if listed is None:
            # The zones of before have to be confirmed.
            if tag := self.tags.get(slug(value.tag or "")):
                tag.zones = dict.fromkeys(tag.zones, now + self.settings.lost_after)
            return
        zones = [name for name in listed if slug(name) in self.zones or len(self.zones) < MOST_ZONES]
        tag = self._tag(value.tag, now) if value.tag else None
        if tag:
            changed = dict.fromkeys([*tag.zones, *zones])
            tag.zones = dict.fromkeys(zones)
            self._enter_room(tag)
            zones = list(changed)
        for zone in zones:
            self._publish_zone(zone)
        if tag:
            self._publish(tag, now)

    def _lose(self, tag: Tag, now: float) -> None:
        tag.is_lost = tag.changed = True
        self._event("lost", tag)
        self._publish(tag, now)

    def _left(self, tag: Tag, now: float) -> None:
        tag.is_home, tag.changed, tag.last_room = False, True, tag.room
        self._enter_room(tag)
        for zone in tag.zones:
            self._publish_zone(zone)
        self._event("away", tag)
        self._publish(tag, now)

    def _leave(self, tag: Tag, zone: str) -> None:
        if zone in tag.zones:
            del tag.zones[zone]
            self._enter_room(tag)
            self._publish_zone(zone)

    def _enter_room(self, tag: Tag) -> None:
        inside = next(reversed(tag.zones), "elsewhere") if self.zones or tag.place else None
        room = inside if tag.is_home or inside is None else "away"
        if room != tag.room:
            tag.room, tag.changed = room, True

    # Output

    def _topic(self, tag: Tag) -> str:
        return f"{self.settings.base}/tag/{tag.slug}"

    def _event(self, kind: str, tag: Tag | None, **members: object) -> None:
        self._events += 1
        found = {"event": kind, "number": self._events, "tag": tag.slug if tag else None, **members}
        self.outbox.event(f"{self.settings.base}/event", {k: v for k, v in found.items() if v is not None})

    def _stream(self, tag: Tag, chip: str, found: Range, now: float) -> None:
        """Publishes a distance for room finders of other programs, at most once a second."""
        if not self.settings.dialects or now - found.streamed < self.settings.pause:
            return
        found.streamed = now
        room = slug(self.settings.rooms.get(chip) or self.settings.rooms.get(found.newest.chip) or chip)
        distance = round(found.smooth.fast[0], 2)
        members: dict[str, object] = {"id": tag.slug, "name": tag.name, "distance": max(0.0, distance)}
        if "rooms" in self.settings.dialects:
            self.outbox.stream(f"{self.settings.base}/rooms/{room}", members)
        if "espresense" in self.settings.dialects:
            self.outbox.state(f"espresense/rooms/{room}/status", "online")
            members.update(raw=found.newest.distance)
            variance = squared(found.smooth.sigma)
            if math.isfinite(variance):
                members["var"] = round(variance, 4)
            if found.newest.rssi_dbm is not None:
                members["rssi"] = found.newest.rssi_dbm
            self.outbox.stream(f"espresense/devices/{tag.slug}/{room}", members)

    def _publish(self, tag: Tag, now: float) -> None:
        """Publishes the state of a tag where it has changed or is old, at most once a second."""
        settings = self.settings
        if not tag.changed and (tag.is_lost or now - tag.published < settings.pause):
            return
        smooth = tag.place or (tag.ranges[tag.near].smooth if tag.near else None)
        moved = smooth is not None and smooth.settle(settings.band)
        if not (tag.changed or moved or now - tag.published >= settings.heartbeat):
            return
        tag.published, tag.changed = now, False
        topic, outbox = self._topic(tag), self.outbox
        if settings.discovery is not None:
            self._publish_site()
            known = bool(tag.ranges), tag.place is not None, tag.room is not None, len(self.zones)
            if known != tag.discovered:
                tag.discovered = known
                _homeassistant.discover_tag(self, tag)
        if tag.ranges or tag.place:
            outbox.state(topic, self._members(tag), 0)
        outbox.state(f"{topic}/availability", "offline" if tag.is_lost else "online")
        outbox.state(f"{topic}/presence", "home" if tag.is_home else "not_home")
        attributes: dict[str, object] = {"in_zones": ["zone.home"] if tag.is_home else []}
        if not tag.is_home and tag.last_room:
            attributes["last_room"] = tag.last_room
        outbox.state(f"{topic}/presence/attributes", attributes)
        if tag.room is not None:
            outbox.state(f"{topic}/room", tag.room)

    def _members(self, tag: Tag) -> dict[str, Any]:
        members: dict[str, Any] = {"name": tag.name, "room": tag.room, "floor": tag.floor}
        if tag.near:
            found = tag.ranges[tag.near]
            value = found.newest
            members.update(
                near=self.settings.rooms.get(tag.near, tag.near), distance=round(found.smooth.published[0], 3),
                sigma=value.sigma, azimuth=value.computed_azimuth_deg or value.azimuth_deg,
                rssi=value.rssi_dbm, blocked=value.nlos_probability)
            if since_epoch(value.time.timestamp()):
                members["time"] = value.time.isoformat()
        if tag.place:
            x, y, z = (round(entry, 3) for entry in tag.place.published)
            members.update(x=x, y=y, z=z, sigma=round(tag.place.sigma, 3))
        return {key: value for key, value in members.items()
                if value is not None and not (isinstance(value, float) and not math.isfinite(value))}

    def _publish_zone(self, zone: str) -> None:
        key = slug(zone)
        if key not in self.zones:
            if len(self.zones) >= MOST_ZONES:
                return
            self.zones[key] = zone
            for tag in self.tags.values():
                tag.changed = True
            self._publish_site()
        inside = sorted(tag.slug for tag in self.tags.values() if zone in tag.zones and tag.is_home)
        state = {"name": zone, "occupied": bool(inside), "count": len(inside), "tags": inside}
        self.outbox.state(f"{self.settings.base}/zone/{key}", state)

    def _publish_site(self) -> None:
        if self._site == (known := (len(self.zones), len(self.chips))):
            return
        self._site = known
        if self.settings.discovery is not None:
            _homeassistant.discover_site(self)
        info = {"version": self.settings.version, "chips": sorted(self.chips), "zones": sorted(self.zones.values())}
        self.outbox.state(f"{self.settings.base}/bridge/info", info)
