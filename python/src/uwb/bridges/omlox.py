# SPDX-License-Identifier: Apache-2.0
"""Sends places to a hub of omlox, as Location objects.

    uwb-omlox --hub http://hub:8081 --site site.json site:/run/uwb-site/control
    uwb-omlox --broker mqtt://hub --zone 5a6c0a4e-… site:/run/uwb-site/control
    uwbsite run site.json --format json | uwb-omlox --print --zone hall -

--hub registers the tags by HTTP, and sends by a WebSocket.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, urlsplit

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from ._broker import Broker, Connected, add_options, validate_broker
from ._house import MOST_TAGS, Outbox, slug
from ._input import Ended, Feed, Place, log, name, names, number, since_epoch
from ._program import parser, run, secret

#: The time between two messages with all places that are new, seconds.
PAUSE = 0.1
#: The names of trackables and zones come from our own names, so that they last.
NAMESPACE = uuid.UUID("7d1f26b1-6c52-4b53-9d0c-3c1d2a0f0b54")
TOPIC = "/omlox/json/location_updates/pub"

Members = dict[str, Any]


def lasting(kind: str, text: str) -> str:
    """Returns the identifier of a trackable or of a zone."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}:{text}"))


def location(value: Place, zone: str, floors: Mapping[str, str], now: float) -> Members:
    """Returns the Location of a place, in the coordinates of its zone."""
    moment = datetime.fromtimestamp(value.time if since_epoch(value.time) else now, timezone.utc)
    identity = slug(value.tag)
    properties: Members = {"tag": value.tag}
    made: Members = {
        "position": {"type": "Point", "coordinates": [round(entry, 4) for entry in value.position]},
        "crs": "local", "source": zone, "provider_type": "uwb", "provider_id": identity,
        "trackables": [lasting("trackable", identity)], "properties": properties,
        "timestamp_generated": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    # A Location has one number for the accuracy.
    radius = value.r95 if value.r95 is not None else 2.4477 * value.sigma
    if math.isfinite(radius):
        made["accuracy"] = round(radius, 4)
    if all(map(math.isfinite, value.covariance)):
        properties["covariance_m2"] = list(value.covariance)
    if value.velocity is not None and math.isfinite(speed := math.hypot(*value.velocity[:2])):
        made["speed"] = round(speed, 3)
    if value.floor is not None:
        properties["floor"] = value.floor
        try:
            if math.isfinite(level := float(floors.get(value.floor, value.floor))):
                made["floor"] = level
        except ValueError:
            pass
    return made


def zone_of(path: str) -> Members:
    """Returns the zone of a site file; `ValueError` if its frame has no origin on the earth."""
    with open(path, encoding="utf-8") as file:
        members = json.load(file)
    origin = (members.get("gauge") or {}).get("origin_wgs84") or {}
    latitude, longitude, heading = (number(origin.get(f"{key}_deg")) for key in ("latitude", "longitude", "heading"))
    if latitude is None or longitude is None or heading is None:
        raise ValueError(f"{path} has no gauge.origin_wgs84 with latitude, longitude and heading: use --zone")
    # The radii of curvature of WGS 84 at the origin; the error at 100 m is below a millimetre.
    square = 6.69437999014e-3
    width = math.sqrt(1 - square * math.sin(math.radians(latitude)) ** 2)
    north, east = 6378137 * (1 - square) / width**3, 6378137 / width * math.cos(math.radians(latitude))
    turn, points = math.radians(heading), []
    for x, y in (0, 0), (100, 0), (0, 100), (100, 100):
        to_north, to_east = x * math.cos(turn) + y * math.sin(turn), x * math.sin(turn) - y * math.cos(turn)
        wgs84 = [longitude + math.degrees(to_east / east), latitude + math.degrees(to_north / north)]
        points.append({"local": {"type": "Point", "coordinates": [x, y]},
                       "wgs84": {"type": "Point", "coordinates": wgs84}})
    title = name(members.get("name")) or "site"
    return {"id": lasting("zone", title), "type": "uwb", "name": title, "ground_control_points": points}


class Hub:
    """Registers tags at a hub and sends their places, in a thread of its own."""

    def __init__(self, url: str, token: str | None, zone: Members | None) -> None:
        self._url, self._token, self._zone = url.rstrip("/"), token, zone
        self._lock = threading.Lock()
        self._newest: dict[str, Members] = {}
        self._waiting: dict[str, Members] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, place: Members) -> None:
        """Sends a place; a newer one replaces it while it waits."""
        with self._lock:
            self._newest[place["provider_id"]] = self._waiting[place["provider_id"]] = place

    def close(self) -> None:
        """Sends the rest."""
        self._is_over.set()
        self._thread.join(5)

    def _run(self) -> None:
        reason = ""
        while not self._is_over.is_set() or self._waiting:
            try:
                if self._zone:
                    self._register("zones", self._zone)
                with connect("ws" + self._url[4:] + "/v2/ws/socket", open_timeout=10, close_timeout=1,
                             ping_interval=15, max_size=1 << 20) as socket:
                    log.info("connected to %s", self._url)
                    # A hub that was restarted has lost the places in flight.
                    with self._lock:
                        self._waiting = dict(self._newest)
                    self._send(socket)
            except (OSError, http.client.HTTPException, WebSocketException) as error:
                (log.debug if str(error) == reason else log.warning)("The hub cannot be used: %s", error)
                reason = str(error)
            if self._is_over.wait(1):
                return

    def _send(self, socket: Connection) -> None:
        registered: set[str] = set()
        while True:
            # Read before the last places.
            is_last = self._is_over.is_set()
            with self._lock:
                batch, self._waiting = self._waiting, {}
            for identity in batch.keys() - registered:
                tag = batch[identity]["properties"]["tag"]
                self._register("providers", {"id": identity, "type": "uwb", "name": tag})
                self._register("trackables", {
                    "id": lasting("trackable", identity), "type": "virtual", "name": tag,
                    "location_providers": [identity]})
                registered.add(identity)
            if batch:
                message: Members = {"event": "message", "topic": "location_updates", "payload": list(batch.values())}
                if self._token:
                    message["params"] = {"token": self._token}
                socket.send(json.dumps(message, allow_nan=False))
            try:
                # Waits, and reads the errors of the hub.
                self._read(socket.recv(PAUSE))
            except TimeoutError:
                if is_last:
                    return

    @staticmethod
    def _read(text: str | bytes) -> None:
        try:
            members = json.loads(text)
        except ValueError:
            return
        if isinstance(members, dict) and members.get("event") == "error":
            code, reason = members.get("code"), members.get("description")
            log.error("The hub refuses places: %.20s %.200s%s", code, reason,
                      " Check --token-file." if code == 10004 else "")

    def _register(self, kind: str, members: Members) -> None:
        """Adds an object to the hub. An existing one is not changed: people edit them there."""
        if self._request("GET", f"{kind}/{quote(members['id'], safe='')}") == 404:
            self._request("POST", kind, members)

    def _request(self, method: str, path: str, members: Members | None = None) -> int:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if members is None else json.dumps(members).encode()
        request = urllib.request.Request(f"{self._url}/v2/{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                if method == "GET" and error.code == 404 or method == "POST" and error.code == 409:
                    return error.code
                raise OSError(f"{method} {path}: {error.code} {error.read(200)!r}") from None


class Mqtt:
    """Publishes places to the broker of a hub."""

    def __init__(self, options: argparse.Namespace, feed: Feed) -> None:
        self._outbox, self._newest = Outbox(), dict[str, Members]()
        self._broker = Broker(options, feed.queue.put, f"{TOPIC}/#")
        self._broker.start()

    def put(self, place: Members) -> None:
        """Publishes a place; a newer one replaces it while it waits."""
        self._newest[place["provider_id"]] = place
        self._outbox.stream(f"{TOPIC}/{place['provider_id']}", place)

    def pump(self, value: object) -> None:
        """Handles an event of the broker, and publishes places that wait."""
        if isinstance(value, Connected) and value.is_up:
            self._broker.returned()
            for place in self._newest.values():
                self.put(place)
        self._broker.pump(self._outbox)

    def close(self) -> None:
        """Publishes the rest."""
        self._broker.pump(self._outbox)
        self._broker.stop()


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-omlox", __doc__)
    add = found.add_argument
    ways = found.add_mutually_exclusive_group(required=True)
    ways.add_argument("--hub", metavar="URL", help="register tags and send places there: http://HOST:PORT, or https")
    ways.add_argument("--broker", metavar="URL", help="the hub's broker: mqtt://HOST[:PORT], mqtts://HOST or unix:PATH")
    ways.add_argument("--print", action="store_true", help="print the objects as lines")
    add("--zone", metavar="ID", help="the zone of the places at the hub")
    add("--site", metavar="FILE", help="a site file with an origin on the earth: its zone is registered by --hub")
    add("--floor", action="append", default=[], metavar="NAME=NUMBER", help="the number of a floor")
    add("--token-file", metavar="FILE", help="the token of --hub; with systemd, the credential token")
    add_options(found)
    options = found.parse_args(arguments)
    try:
        if options.broker:
            validate_broker(options)
        if options.hub and (urlsplit(options.hub).scheme not in ("http", "https") or urlsplit(options.hub).username):
            raise ValueError("--hub is like http://HOST:8081; the token is in --token-file")
        if not (options.zone or options.site):
            raise ValueError("give --zone or --site: a place needs its zone")
        for text in names(options.floor).values():
            float(text)
    except ValueError as error:
        found.error(str(error))
    return options


def serve(options: argparse.Namespace) -> int:
    """Sends places until the sources have ended."""
    feed, floors = Feed(options.sources), names(options.floor)
    zone = zone_of(options.site) if options.site else None
    source = options.zone or (zone or {}).get("id", "")
    token = secret(options.token_file, "token") or None
    hub = Hub(options.hub, token, zone if not options.zone else None) if options.hub else None
    broker = Mqtt(options, feed) if options.broker else None
    feed.start()
    left, tags = len(options.sources), set[str]()
    try:
        while left:
            value = feed.get(0.5)
            left -= isinstance(value, Ended)
            # Rotating addresses would be a provider each.
            if isinstance(value, Place) and (value.tag in tags or len(tags) < MOST_TAGS):
                tags.add(value.tag)
                place = location(value, source, floors, time.time())
                if hub:
                    hub.put(place)
                elif broker:
                    broker.put(place)
                else:
                    print(json.dumps(place, allow_nan=False), flush=True)
            if broker:
                broker.pump(value)
    finally:
        for way in (hub, broker):
            if way:
                way.close()
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)
    return run("uwb-omlox", options.verbose, lambda: serve(options))


if __name__ == "__main__":
    sys.exit(main())
