# SPDX-License-Identifier: Apache-2.0
"""Counts rounds, losses and places for Prometheus, and writes values to InfluxDB.

    uwb-metrics --listen 127.0.0.1:9464
    uwb-metrics --influx http://localhost:8086 --database uwb
    uwb-metrics --print site:/run/uwb-site/control

VictoriaMetrics reads both forms. Prometheus gets no distances and no places.
"""

from __future__ import annotations

import argparse
import base64
import math
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

import uwb

from ._input import Ended, Feed, Place, SiteChange, log, since_epoch
from ._program import parser, run, secret

#: Values of a label. Rotating addresses would be a series each: later ones are `other`.
MOST_VALUES = 500
#: Lines of a request, and lines that wait for a database that is away.
BATCH, MOST_LINES = 1_000, 100_000

Field = float | int | str | bool | None


class Labels:
    """Limits the values of a label."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def __call__(self, label: str, value: object) -> str:
        text = str(value).encode("utf-8", "replace").decode()
        known = self._known.setdefault(label, set())
        if text not in known:
            if len(known) >= MOST_VALUES:
                return "other"
            known.add(text)
        return text


class Metrics:
    """The counters and gauges of Prometheus."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._label = Labels()
        self._last: dict[tuple[str, str, str], int] = {}
        self._zones: dict[str, set[str]] = {}
        self._chips: set[str] = set()
        self.rounds = Counter(
            "uwb_rounds", "Measurements of a peer by their status.", ["chip", "session", "peer", "status"],
            registry=registry)
        self.lost = Counter(
            "uwb_lost", "Measurements that were lost in the air, or before a slow program.", ["where"],
            registry=registry)
        self.interval = Histogram(
            "uwb_interval_seconds", "Time between two measurements of a peer.", ["chip"],
            buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60), registry=registry)
        self.interruptions = Counter(
            "uwb_interruptions", "Losses of a chip or of the service.", ["cause"], registry=registry)
        self.up = Gauge("uwb_chip_up", "Whether the chip measures: 1 or 0.", ["chip"], registry=registry)
        self.places = Counter("uwb_places", "Places of a tag.", ["tag"], registry=registry)
        self.deviation = Gauge(
            "uwb_place_deviation_meters", "Standard deviation of the last place of a tag.", ["tag"],
            registry=registry)
        self.changes = Counter("uwb_changes", "Changes of a site.", ["event"], registry=registry)
        self.inside = Gauge("uwb_zone_tags", "Tags in a zone.", ["zone"], registry=registry)
        info = Gauge("uwb_build_info", "The version of this program.", ["version"], registry=registry)
        info.labels(uwb.__version__).set(1)

    def receive(self, value: object) -> None:
        """Counts an input."""
        label = self._label
        if isinstance(value, uwb.Measurement):
            chip, peer = label("chip", value.device or value.chip), label("peer", value.peer)
            session = label("session", value.session_id)
            self.rounds.labels(chip, session, peer, label("status", value.status)).inc()
            self._chips.add(chip)
            self.up.labels(chip).set(1)
            for where, count in ("air", value.lost_before), ("queue", value.lost):
                if isinstance(count, int) and count > 0:
                    self.lost.labels(where).inc(count)
            before = self._last.get(key := (chip, session, peer))
            if before is not None and value.monotonic_ns > before and peer != "other":
                self.interval.labels(chip).observe((value.monotonic_ns - before) / 1e9)
            self._last[key] = value.monotonic_ns
        elif isinstance(value, uwb.Interruption):
            self.interruptions.labels(value.cause).inc()
            for chip in self._chips if value.chip is None else {label("chip", value.chip)}:
                self.up.labels(chip).set(0)
            self._last.clear()
        elif isinstance(value, Place):
            tag = label("tag", value.tag)
            self.places.labels(tag).inc()
            if math.isfinite(value.sigma):
                self.deviation.labels(tag).set(value.sigma)
        elif isinstance(value, SiteChange) and value.kind == "zones":
            listed = value.members["zones"] or []
            for zone in {*self._zones, *(label("zone", zone) for zone in listed)}:
                self._inside(zone, str(value.tag), zone in listed)
        elif isinstance(value, SiteChange) and value.kind != "site":
            self.changes.labels(label("event", value.kind)).inc()
            if value.kind in ("entered", "left") and value.tag and value.place:
                self._inside(label("zone", value.place), value.tag, value.kind == "entered")

    def _inside(self, zone: str, tag: str, is_inside: bool) -> None:
        inside = self._zones.setdefault(zone, set())
        (inside.add if is_inside else inside.discard)(tag)
        self.inside.labels(zone).set(len(inside))


def line(name: str, tags: Mapping[str, str], fields: Mapping[str, Field], nanoseconds: int) -> str | None:
    """Returns a line for InfluxDB, or None without any field. Unknown values are left out."""

    def escaped(text: str) -> str:
        # A backslash at the end would escape the next comma.
        text = re.sub(r"[\r\n\\]", "_", text) or "none"
        return re.sub(r"([,= ])", r"\\\1", text)

    found = []
    for key, value in fields.items():
        if value is None or isinstance(value, float) and not math.isfinite(value):
            continue
        if isinstance(value, str):
            text = re.sub(r'(["\\])', r"\\\1", re.sub(r"[\r\n]", " ", value))
            found.append(f'{key}="{text}"')
        elif isinstance(value, bool):
            found.append(f"{key}={str(value).lower()}")
        else:
            found.append(f"{key}={value}i" if isinstance(value, int) else f"{key}={value!r}")
    if not found:
        return None
    # All tags, always: in InfluxDB 3, the first line determines the tags of a table.
    where = "".join(f",{key}={escaped(value)}" for key, value in sorted(tags.items()))
    return f"{name}{where} {','.join(found)} {nanoseconds}"


def influx(value: object, now: int) -> str | None:
    """Returns the line of an input, with the time of its source or of now."""
    if isinstance(value, uwb.Measurement):
        tags = {"chip": value.device or value.chip, "peer": value.peer, "session": str(value.session_id)}
        fields: dict[str, Field] = {
            "distance": value.distance, "sigma": value.sigma, "sigma_short": value.short_term_sigma,
            "azimuth": value.computed_azimuth_deg if value.computed_azimuth_deg is not None else value.azimuth_deg,
            "elevation": value.computed_elevation_deg if value.computed_elevation_deg is not None
            else value.elevation_deg,
            "rssi": value.rssi_dbm, "blocked": value.nlos_probability, "status": value.status,
        }
        return line("uwb_range", tags, fields, _time(value.time.timestamp(), now))
    if isinstance(value, Place):
        x, y, z = value.position
        return line("uwb_place", {"tag": value.tag}, {
            "x": x, "y": y, "z": z, "sigma": value.sigma, "r95": value.r95, "floor": value.floor}, _time(value.time, now))
    if isinstance(value, SiteChange) and value.kind not in ("bad_input", "site", "zones"):
        return line("uwb_change", {"event": value.kind, "tag": value.tag or "none"},
                    {"place": value.place or "", "count": 1}, _time(value.time, now))
    return None


def _time(seconds: float, now: int) -> int:
    return round(seconds * 1e6) * 1_000 if since_epoch(seconds) else now


class Writer:
    """Sends lines to a database, in batches, in a thread of its own."""

    def __init__(self, options: argparse.Namespace) -> None:
        query = urlencode({"db": options.database, "precision": "ns"})
        self._request = f"{options.influx.rstrip('/')}/write?{query}"
        text = secret(options.password_file, "password")
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if options.user is not None:
            login = base64.b64encode(f"{options.user}:{text or ''}".encode()).decode()
            self._headers["Authorization"] = f"Basic {login}"
        elif text:
            self._headers["Authorization"] = f"Token {text}"
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pause = 1.0
        while not self._is_over or self.lines:
            count = min(len(self.lines), BATCH)
            batch = [self.lines.popleft() for _ in range(count)]
            if not batch or self._send(batch):
                pause = 1.0
            else:
                self.lines.extendleft(reversed(batch[: MOST_LINES - len(self.lines)]))
                pause = min(2 * pause, 30)
                if self._is_over:
                    log.error("%d lines were not written.", len(self.lines))
                    return
            if count < BATCH or pause > 1:
                self._sleep(pause)

    def _sleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._is_over and time.monotonic() < end:
            time.sleep(0.05)

    def _send(self, batch: list[str]) -> bool:
        """Returns whether the database has the lines, or will never accept them."""
        request = urllib.request.Request(
            self._request, "".join(f"{entry}\n" for entry in batch).encode(), self._headers)
        try:
            with urllib.request.urlopen(request, timeout=10):
                return True
        except urllib.error.HTTPError as error:
            log.error("The database refuses lines (%d): %.300s", error.code, error.read().decode(errors="replace"))
            # The others may be accepted; these would be refused again.
            return error.code in (400, 413, 422)
        except OSError as error:
            log.warning("The database cannot be reached: %s", error)
            return False

    def close(self) -> None:
        """Sends the rest."""
        self._is_over = True
        self._thread.join(15)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-metrics", __doc__)
    add = found.add_argument
    add("--listen", metavar="ADDRESS:PORT", help="serve /metrics there for Prometheus")
    add("--textfile", metavar="FILE", help="write the metrics there every 15 s, for node_exporter")
    add("--influx", metavar="URL", help="write values to InfluxDB or VictoriaMetrics")
    add("--database", default="uwb", help="the database of --influx (default: uwb)")
    add("--user", help="the user of --influx; without it, the secret is a token")
    add("--password-file", metavar="FILE", help="a file with the password or the token; with systemd, the credential password")
    add("--print", action="store_true", help="print lines for InfluxDB, as Telegraf reads them")
    options = found.parse_args(arguments)
    if not (options.listen or options.textfile or options.influx or options.print):
        found.error("give --listen, --textfile, --influx or --print")
    if options.influx:
        url = urlsplit(options.influx)
        if url.scheme not in ("http", "https") or url.username is not None or url.query:
            found.error("--influx is like http://HOST:8086; use --user and --password-file, and --database")
    if options.listen and not re.fullmatch(r".+:\d{1,5}", options.listen):
        found.error("--listen is like 127.0.0.1:9464")
    return options


def serve(options: argparse.Namespace) -> int:
    """Counts and writes until the sources have ended."""
    metrics, feed = Metrics(), Feed(options.sources)
    writer = Writer(options) if options.influx else None
    if options.listen:
        host, _, port = options.listen.rpartition(":")
        prometheus_client.start_http_server(int(port), host.strip("[]"), metrics.registry)
    feed.start()
    left, written = len(options.sources), -math.inf
    try:
        while left:
            value = feed.get(1)
            left -= isinstance(value, Ended)
            metrics.receive(value)
            text = influx(value, time.time_ns()) if writer or options.print else None
            if text is not None and writer:
                writer.lines.append(text)
            if text is not None and options.print:
                print(text, flush=True)
            if options.textfile and (time.monotonic() - written > 15 or not left):
                written = time.monotonic()
                prometheus_client.write_to_textfile(options.textfile, metrics.registry)
    finally:
        if writer:
            writer.close()
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)
    return run("uwb-metrics", options.verbose, lambda: serve(options))


if __name__ == "__main__":
    sys.exit(main())
