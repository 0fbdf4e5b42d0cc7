# SPDX-License-Identifier: Apache-2.0
"""Records measurements and places in MCAP, for Foxglove, Lichtblick and ROS 2.

    uwb-mcap -o walk.mcap
    uwb-mcap -o walk.mcap --site site.json site:/run/uwb-site/control
    uwbsite history places --show places --format json | uwb-mcap -o walk.mcap -
    uwbctl replay walk.pcapng --speed max --format json | uwb-mcap -o walk.mcap walk.pcapng -

The packets of captures (.pcapng) are a channel of their own.
"""

from __future__ import annotations

import argparse
import struct
import sys
import time
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO

import uwb
from mcap.writer import Writer

from ._foxglove import Foxglove
from ._input import Ended, Feed, Place, SiteChange, log, since_epoch
from ._program import parser, run
from ._ros import Ros
from ._topics import site_anchors

class Recorder:
    """Writes inputs to a file. A file that is cut anywhere is readable to its last chunk."""

    def __init__(self, file: IO[bytes], form: Ros | Foxglove) -> None:
        self._writer: Any = Writer(file, chunk_size=1 << 20)
        self._writer.start(profile=form.profile, library=f"swift-uwb {uwb.__version__}")
        self._file, self._form = file, form
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._scenes: dict[str, int] = {}
        #: The time that is added to times that do not count from 1970, nanoseconds.
        self.origin = 0

    def receive(self, value: object) -> None:
        """Writes an input."""
        form = self._form
        if isinstance(value, uwb.Measurement):
            moment = self._time(value.time.timestamp())
            self._write(form.measurement(value, moment), moment)
        elif isinstance(value, Place):
            moment = self._time(value.time)
            self._write(form.place(value, moment), moment)
            # Five times a second is enough to look at.
            if moment - self._scenes.get(value.tag, -1 << 62) >= 200_000_000:
                self._scenes[value.tag] = moment
                self._write(form.ellipse(value, moment), moment)
        elif isinstance(value, SiteChange) and value.kind not in ("site", "zones"):
            moment = self._time(value.time)
            self._write(form.change(value.members, moment), moment)
        elif isinstance(value, uwb.Interruption):
            moment = time.time_ns()
            members = {"event": "interruption", "cause": value.cause, "reason": value.reason}
            self._write(form.change(members, moment), moment)

    def packet(self, data: bytes, moment: int) -> None:
        """Writes a packet of UCI as it is."""
        self._write(self._form.packet(data, moment), moment)

    def anchors(self, places: dict[str, tuple[float, float, float]], moment: int) -> None:
        """Writes the anchors of a site, as frames and as spheres."""
        self._write(self._form.anchors(places, moment), moment)

    def flush(self) -> None:
        """Ends a chunk, and writes it to the file."""
        self._writer.flush()
        self._file.flush()

    def finish(self) -> None:
        """Ends the file with its index."""
        self._writer.finish()
        self._file.flush()

    def _time(self, seconds: float) -> int:
        return max(0, round(seconds * 1e6) * 1_000 + (0 if since_epoch(seconds) else self.origin))

    def _write(self, records: Iterable[tuple[str, str, bytes]], moment: int) -> None:
        for topic, kind, data in records:
            if topic not in self._channels:
                if kind not in self._schemas:
                    self._schemas[kind] = self._writer.register_schema(
                        kind, self._form.schema_encoding, self._form.schema(kind))
                self._channels[topic] = self._writer.register_channel(
                    topic, self._form.encoding, self._schemas[kind])
            self._writer.add_message(self._channels[topic], moment, data, moment)


def packets(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields the packets of a capture with their times in nanoseconds, as far as it is readable."""
    order = "<"
    resolutions: list[int] = []
    while len(head := file.read(8)) == 8:
        if head[:4] == b"\n\r\r\n":
            magic = file.read(4)
            order = "<" if magic == b"\x4d\x3c\x2b\x1a" else ">"
            rest, resolutions = 12, []
        else:
            rest = 8
        kind, length = struct.unpack(f"{order}II", head)
        if length < 12 or length > 1 << 24 or len(body := file.read(length - rest)) < length - rest:
            return
        if kind == 1:
            resolutions.append(_resolution(body, order))
        elif kind == 6 and len(body) >= 20:
            interface, high, low, count = struct.unpack_from(f"{order}IIII", body)
            units = resolutions[interface] if interface < len(resolutions) else 10**6
            yield (high << 32 | low) * 10**9 // units, body[20 : 20 + count]


def _resolution(body: bytes, order: str) -> int:
    """Returns the units of time in a second of an interface."""
    place = 8
    while place + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, place)
        if code == 9 and length == 1:
            value = body[place + 4]
            return int(2 ** (value & 0x7F) if value & 0x80 else 10**value)
        place += 4 + (length + 3 & ~3)
        if code == 0:
            break
    return 10**6


def record(options: argparse.Namespace, file: IO[bytes]) -> int:
    """Records until the sources have ended."""
    recorder = Recorder(file, Ros(options.frame) if options.schemas == "ros2" else Foxglove(options.frame))
    captures = [source for source in options.sources if source.endswith(".pcapng")]
    others = [source for source in options.sources if not source.endswith(".pcapng")]
    is_live = any(source.split(":")[0] in ("chips", "site") for source in others)
    places = site_anchors(options.site) if options.site else {}
    try:
        for capture in captures:
            with open(capture, "rb") as packet_file:
                for moment, packet in packets(packet_file):
                    # Times of measurements count from the first ranging notification.
                    if recorder.origin == 0 and packet[:2] == b"\x62\x00":
                        recorder.origin = moment
                    recorder.packet(packet, moment)
        if places and (is_live or recorder.origin):
            recorder.anchors(places, recorder.origin or time.time_ns())
            places = {}
        feed = Feed(others)
        feed.start()
        left, flushed = len(others), time.monotonic()
        while left:
            value = feed.get(1)
            if places and isinstance(value, Place):
                recorder.anchors(places, round(value.time * 1e6) * 1_000)
                places = {}
            left -= isinstance(value, Ended)
            recorder.receive(value)
            if time.monotonic() - flushed >= 1:
                flushed = time.monotonic()
                recorder.flush()
    finally:
        recorder.finish()
        log.info("%s is complete", options.output)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    found = parser("uwb-mcap", __doc__)
    found.add_argument("-o", "--output", required=True, metavar="FILE", help="the file, which is replaced")
    found.add_argument("--site", metavar="FILE", help="a site file, whose anchors are recorded")
    found.add_argument("--schemas", choices=["ros2", "foxglove"], default="ros2",
                       help="messages of ROS 2, which Foxglove reads too, or JSON for Foxglove (default: ros2)")
    found.add_argument("--frame", default="map", help="the frame of places (default: map)")
    options = found.parse_args(arguments)

    def work() -> int:
        with open(options.output, "wb") as file:
            return record(options, file)

    return run("uwb-mcap", options.verbose, work)


if __name__ == "__main__":
    sys.exit(main())
