# SPDX-License-Identifier: Apache-2.0
"""Computes the places of an area from the measurements in a cluster of NATS JetStream.

    uwb-nats-engine --server nats://one --server nats://two --server nats://three --site hall --area east hall.json

Several machines may run it for one area. One of them computes, and another takes over when it ends.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import math
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timezone
from typing import Any, TypeVar

import uwb

from . import _exporter, _nats
from ._checkpoint import Checkpoint, Journal, State, packed
from ._clock import Clocks
from ._house import slug
from ._input import log
from ._lease import ATTEMPT, RENEWAL, Lease, Lost, stored
from ._nats import Message, NatsError
from ._program import parser, run
from ._store import Entry, boot
from ._streams import call, stream
from .nats import Flight, until_first

#: Measurements of one request to the consumer, the seconds that it waits for them, and the seconds
#: until the next one. nats-server 2.9.10 ends some requests without a message.
BATCH, EXPIRES, NEXT = 500, 0.5, 0.4
#: Seconds without any message after which there is no consumer.
SILENT = 2.0
#: Seconds after which the server removes a consumer that nobody reads.
INACTIVE = 30
#: Seconds between two reports of the engine.
REPORT = 5.0
#: Seconds by which the delays of a clock that is behind differ, and delays that networks do not have.
STEADY, BEHIND = 0.1, 0.5
#: Seconds by which a measurement may be later than its arrival at the server.
AHEAD = 5.0
#: Seconds for the start of an engine without an answer, after which another one may try.
PATIENCE = 10.0
#: Seconds for the last places after the end of the measurements.
FLUSH = 2.0


Answer = TypeVar("Answer")


class Measurements:
    """Makes lines for `uwbsite run utc:-` of messages, and drops repeated ones."""

    def __init__(self, names: set[str], state: State | None = None) -> None:
        self._names = names
        self._sequences = dict(state.sequences) if state else {}
        #: The number of the last message in the stream.
        self.number = state.number if state else 0
        self.journal = Journal(self.number, self._sequences)
        #: Messages that wait in the stream.
        self.pending = 0
        self.repeated = self.unusable = 0
        #: The least seconds from a measurement to the stream, by hosts, and the bound of their clocks.
        self.delays: dict[str, tuple[float, float | None]] = {}
        #: The least delays of the last collections, by hosts.
        self._earlier: dict[str, deque[float]] = {}
        #: The seconds by which clocks of hosts are ahead of the ones of the servers, beyond their bounds.
        self.wrong: dict[str, float] = {}

    def line(self, message: Message) -> bytes | None:
        """Returns a line; None for a message that is not used."""
        number, moment, self.pending = delivery(message.reply)
        if number <= self.number:
            self.repeated += 1
            return None
        self.number = number
        try:
            content = json.loads(message.data)
            key = str(content["publisher"]), message.subject
            sequence, value, utc = int(content["sequence"]), content["value"], content["utc_us"] / 1e6
            measurement = dict(value["measurement"])
            device = self._device(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.unusable += 1
            return None
        if sequence <= self._sequences.get(key, -1):
            self.repeated += 1
            return None
        self._sequences[key] = sequence
        self._time(str(content.get("host")), moment - utc, content.get("utc_max_error_us"))
        if utc > moment + AHEAD:
            # Of its tag, everything before this time would be late.
            self.unusable += 1
            return None
        self.journal.add(number, key, sequence)
        return json.dumps({**measurement, "t": utc, "device": device}, separators=(",", ":")).encode() + b"\n"

    def _device(self, value: dict[str, Any]) -> str:
        """Returns the name of the chip that measured, as the site has it."""
        identity = value.get("identity") or {}
        found = [str(name) for name in (*map(identity.get, ("address", "serial", "device")), value.get("chip")) if name]
        return next((name for name in found if name in self._names), found[0])

    def _time(self, host: str, delay: float, bound: Any) -> None:
        least = min(delay, self.delays.get(host, (math.inf, None))[0])
        self.delays[host] = least, bound / 1e6 if isinstance(bound, (int, float)) else None

    def wrong_clocks(self) -> Iterator[str]:
        """Returns the hosts whose clocks differ from the ones of the servers, beyond the bound.

        The times of arrival are the ones of the server. A measurement that is later than its
        arrival reveals a clock that is ahead. Of a clock that is behind, the least delay stays the
        same; the delay of messages that have waited changes. Each call begins another collection.
        """
        self.wrong.clear()
        for host, (least, bound) in self.delays.items():
            earlier = self._earlier.setdefault(host, deque(maxlen=3))
            earlier.append(least)
            if bound is None:
                continue
            is_steady = len(earlier) == 3 and max(earlier) - min(earlier) < STEADY
            if least < -bound - 0.05 or is_steady and least > bound + BEHIND:
                self.wrong[host] = -least
                yield (f"The clock of {host} is {'ahead of' if least < 0 else 'behind'} the server's by {abs(least):.2f} s, "
                       f"and reports an error of at most {bound:.3f} s. Correct the one that is wrong.")
        self.delays.clear()


def delivery(reply: str) -> tuple[int, float, int]:
    """Returns the number of a message in its stream, its time, and the number of waiting messages.

    The subject for the acknowledgement has 9 levels, or more with a domain: see ADR-15 of NATS.
    """
    parts = reply.split(".")
    start = 2 if len(parts) == 9 else 4
    return int(parts[start + 3]), int(parts[start + 5]) / 1e9, int(parts[start + 6])


def names(path: str) -> set[str]:
    """Returns the names and addresses of the boards of a site file."""
    with open(path, encoding="utf-8") as file:
        site = json.load(file)
    if not isinstance(site, dict):
        raise ValueError(f"{path} is not a site file: see uwbsite check.")
    found: set[str] = set()
    for board in [*(site.get("anchors") or []), *(site.get("tags") or [])]:
        if isinstance(board, dict):
            found.update(map(str, [board.get("id"), board.get("label"), *(board.get("addresses") or [])]))
    return found


class Places:
    """Publishes lines of `uwbsite run`, each once, and in the order of its tag."""

    def __init__(self, options: argparse.Namespace, client: _nats.Client, lease: Lease) -> None:
        self._client, self._lease = client, lease
        self._start = f"uwb.{options.site}.{options.area}."
        self._streams = {kind: stream(options.site, kind) for kind in ("place", "event")}
        self._clocks = Clocks()
        self._fixed = {"publisher": secrets.token_hex(8), "host": options.host, "boot": boot()}
        self._inbox = client.inbox(self._answered)
        self.flight = Flight()
        self._identities: dict[int, str] = {}
        self._sequences: dict[str, int] = {}
        #: The number of the last message of each subject in its stream.
        self._numbers: dict[str, int] = {}
        #: The time of the last published line of each tag and kind, and the zones of a tag.
        self._times: dict[tuple[str, str], float] = {}
        self._zones: dict[str, list[str]] = {}
        #: The lines so far.
        self.count = 0
        self.published = self.dropped = 0
        self.is_fenced = False

    async def resume(self) -> float | None:
        """Reads the newest places and events of the area. Returns the time of the newest place."""
        newest: float | None = None
        for kind, name in self._streams.items():
            wanted = {"subjects_filter": f"{self._start}{kind}.>"}
            info = await call(self._client, f"STREAM.INFO.{name}", wanted, RENEWAL)
            if "error" in info:
                raise NatsError(f"{name}: {info['error'].get('description')}. Make it: uwb-nats --make-streams.")
            for subject in (info.get("state") or {}).get("subjects") or {}:
                self._take(kind, subject, await self._last(name, subject))
        for (kind, _), moment in self._times.items():
            if kind == "place" and moment > (newest or -math.inf):
                newest = moment
        return newest

    async def _last(self, name: str, subject: str) -> dict[str, Any]:
        found = await call(self._client, f"STREAM.MSG.GET.{name}", {"last_by_subj": subject}, RENEWAL)
        return found.get("message") or {}

    def _take(self, kind: str, subject: str, message: dict[str, Any]) -> None:
        try:
            self._numbers[subject] = int(message["seq"])
            value = json.loads(base64.b64decode(message["data"]))["value"]
            tag = str(value["tag"])
            self._times[kind, tag] = float(value["t"])
            if kind == "event":
                self._zones[tag] = [str(zone) for zone in value.get("zones") or []]
        except (KeyError, TypeError, ValueError, AttributeError):
            return

    def add(self, line: bytes) -> None:
        """Adds a line of the engine."""
        try:
            value = json.loads(line)
            tag, moment = str(value["tag"]), float(value["t"])
        except (KeyError, TypeError, ValueError):
            return
        kind = "event" if "event" in value else "place"
        if kind == "place" and "position_m" not in value:
            return
        if moment <= self._times.get((kind, tag), -math.inf) or kind == "event" and not self._enter(tag, value):
            # Another program has published it, before this one took over.
            self.dropped += 1
            return
        self._times[kind, tag] = moment
        self._queue(kind, tag, moment, value)

    def _enter(self, tag: str, value: dict[str, Any]) -> bool:
        """Adds the zones after an event to it; false for a zone that the tag is in already."""
        zones, zone, event = self._zones.setdefault(tag, []), str(value.get("zone")), value["event"]
        if event == "entered":
            if zone in zones:
                return False
            zones.append(zone)
        elif event == "left" and zone in zones:
            zones.remove(zone)
        elif event == "lost":
            zones.clear()
        if event != "lost":
            value["zones"] = list(zones)
        return True

    def _queue(self, kind: str, tag: str, moment: float, value: dict[str, Any]) -> None:
        subject = f"{self._start}{kind}.{slug(tag)}"
        self._sequences[subject] = sequence = self._sequences.get(subject, 0) + 1
        clock = self._clocks.now()
        message = {
            "sequence": sequence, **({"first": True} if sequence == 1 else {}), **self._fixed, "utc_us": clock.utc_us,
            "utc_max_error_us": clock.max_error_us, "monotonic_us": clock.monotonic_us, "value": value}
        self.count += 1
        self._identities[self.count] = f"{subject}-{moment:.6f}-{value.get('event', '')}-{value.get('zone', '')}"
        self.flight.add([Entry(self.count, sequence, subject, json.dumps(message, separators=(",", ":")).encode())])

    def has_published(self, count: int) -> bool:
        """Returns whether the streams have the first lines, up to this number."""
        return next(iter(self._identities), count + 1) > count

    def send(self, is_new_connection: bool = False) -> None:
        """Sends messages, as far as the lease and the connection permit."""
        now = time.monotonic()
        if not self._lease.is_held or not self._client.is_writable:
            return
        for entry in self.flight.late(now, is_new_connection):
            self._publish(entry)
        while entry_or_none := self.flight.take(now):
            self._publish(entry_or_none)

    def _publish(self, entry: Entry) -> None:
        headers = (f"Nats-Msg-Id: {self._identities[entry.number]}\r\n"
                   f"Nats-Expected-Last-Subject-Sequence: {self._numbers.get(entry.subject, 0)}\r\n").encode()
        self._client.publish(entry.subject, entry.payload, f"{self._inbox}.{entry.number}", headers)

    def _answered(self, message: Message) -> None:
        number = int(message.subject.rpartition(".")[2])
        try:
            place = stored(message)
        except NatsError as error:
            # It is sent again after a second.
            log.debug("%s", error)
            return
        if place is None:
            self.is_fenced = True
        elif entry := self.flight.confirm(number):
            self._numbers[entry.subject] = place
            del self._identities[number]
            self.published += 1
            self.send()


class Engine:
    """Waits for the lease of an area, and computes places while it has the lease."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._names = names(options.file)
        self._client = _nats.Client(options, f"uwb-nats-engine {options.host}")
        self._client.changed = self._changed
        self._lease = Lease(self._client, options.site, options.area, f"{options.host} {secrets.token_hex(8)}")
        self._places: Places | None = None
        self._clocks = Clocks()
        self._complaints: dict[str, float] = {}
        self._exporter = _exporter.Exporter()
        self.takeovers = 0

    async def run(self) -> int:
        """Runs until a signal."""
        self._stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        await self._exporter.start(self._options.listen)
        self._export({})
        try:
            await until_first(self._client.run(), self._work(), self._stop.wait())
        finally:
            if self._client.is_writable:
                try:
                    await asyncio.wait_for(self._lease.release(), FLUSH)
                except (NatsError, asyncio.TimeoutError):
                    pass  # Another program waits for its end.
            self._client.close()
        return 0

    def _export(self, report: dict[str, Any]) -> None:
        """Shows a report to Prometheus; an engine that waits has an empty one."""
        own = {"connected": self._client.is_connected, "active": bool(report), "takeovers": self.takeovers}
        numbers = {key: value for key, value in report.items() if key not in ("size", "most", "dropped", "unsaved")}
        self._exporter.text = _exporter.text("uwb_nats_engine", {**numbers, **own}, {"area": self._options.area})

    def _changed(self, is_up: bool) -> None:
        if self._places is None:
            self._export({})
        if is_up and self._places is not None:
            self._places.send(is_new_connection=True)

    async def _work(self) -> None:
        while True:
            pause = ATTEMPT
            try:
                if self._client.is_writable and await self._lease.renew():
                    await self._compute()
            except NatsError as error:
                self._complain(str(error))
                # After the end of a server, the program that computes gets its lease first.
                pause = 2 * RENEWAL
            except Lost as error:
                self._complain(str(error))
            await asyncio.sleep(pause)

    async def _compute(self) -> None:
        """Computes places until another program has the lease."""
        await until_first(self._renew(), self._start())

    async def _start(self) -> None:
        """Reads the state of the area, and continues it."""
        self._places = places = Places(self._options, self._client, self._lease)
        newest = await self._answer(places.resume)
        self.takeovers += 1
        digest = await self._answer(self._digest)
        checkpoint = Checkpoint(self._client, self._options.site, self._options.area, digest)
        state = await self._answer(checkpoint.load)
        # The folder of the unit is in memory, so that a full disk does not make states old.
        memory = os.environ.get("RUNTIME_DIRECTORY")
        with tempfile.TemporaryDirectory(prefix="uwb-nats-engine-", dir=memory, ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "state")
            try:
                if state:
                    with open(path, "wb") as file:
                        file.write(state.text)
            except OSError as error:
                # The last measurements are computed again, as without a state.
                self._complain(f"The state of the area cannot be used: {error}. Free the disk of {folder}.")
                state = None
                os.unlink(path)
            log.info("computes the places of %s%s", self._options.area, ", from the state of an engine" if state else "")
            await self._follow(places, newest, Measurements(self._names, state), checkpoint, path)

    async def _answer(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Repeats requests until the cluster answers, for `PATIENCE` seconds.

        After the end of a server, each of its streams gets another leader at its own time.
        """
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return await work()
            except NatsError as error:
                if time.monotonic() > until:
                    raise
                log.debug("%s", error)
            await asyncio.sleep(ATTEMPT / 2)

    async def _digest(self) -> str:
        """Returns a digest of the site file and of the stream to which a state belongs."""
        name = stream(self._options.site, "range")
        info = await call(self._client, f"STREAM.INFO.{name}", timeout=RENEWAL)
        with open(self._options.file, "rb") as site:
            return hashlib.sha256(f"{name} {info.get('created')} ".encode() + site.read()).hexdigest()

    async def _follow(
        self, places: Places, newest: float | None, measurements: Measurements, checkpoint: Checkpoint, path: str
    ) -> None:
        """Runs `uwbsite` until another program has the lease."""
        process = await asyncio.create_subprocess_exec(
            self._options.uwbsite, "run", self._options.file, "utc:-", "--format", "json", "--state", path,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        reader = Reader(self._options, self._client, measurements, self._complain)
        try:
            await until_first(
                self._send(places), reader.run(process, newest), self._read(process, places),
                self._report(reader, places, checkpoint), self._keep(measurements.journal, places, checkpoint, path))
        finally:
            self._client.delivered = lambda message: None
            if process.returncode is None:
                process.kill()
            await process.wait()
            self._places = None
            self._export({})

    async def _keep(self, journal: Journal, places: Places, checkpoint: Checkpoint, path: str) -> None:
        """Writes each state of `uwbsite` to the cluster, after the places before it."""
        written = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
        while True:
            await asyncio.sleep(0.5)
            if not os.path.exists(path) or (moment := os.stat(path).st_mtime_ns) == written:
                continue
            written = moment
            try:
                with open(path, "rb") as file:
                    state = State(file.read(), 0, {})
                if (place := journal.take(state.lines)) is None:
                    continue
                state.number, state.sequences = place
                # The next engine computes no place before its state again.
                count = places.count
                while not places.has_published(count):
                    await asyncio.sleep(0.1)
                data = await asyncio.get_running_loop().run_in_executor(None, packed, state)
                await checkpoint.save(data, self._lease)
            except (NatsError, ValueError, KeyError) as error:
                # The next state follows.
                self._complain(str(error))

    async def _renew(self) -> None:
        """Renews the lease. While no cluster answers, nothing is published, and the places wait."""
        while True:
            await asyncio.sleep(RENEWAL if self._lease.is_held else ATTEMPT / 2)
            try:
                if self._client.is_writable and not await self._lease.renew():
                    raise Lost("The lease is lost: another program has it.")
            except NatsError as error:
                log.debug("%s", error)

    async def _send(self, places: Places) -> None:
        while True:
            await asyncio.sleep(0.25)
            places.send()
            if places.is_fenced:
                raise Lost("Another program has published places of this area.")

    async def _read(self, process: asyncio.subprocess.Process, places: Places) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            places.add(line)
            places.send()
        raise OSError(f"uwbsite has ended with status {await process.wait()}: see its message.")

    async def _report(self, reader: Reader, places: Places, checkpoint: Checkpoint) -> None:
        """Publishes the state of this engine, as uwb-nats does for a host."""
        subject = f"uwb.{self._options.site}.{self._options.area}.host.engine_{slug(self._options.host)}"
        while True:
            clock, measurements = self._clocks.now(), reader.measurements
            for text in measurements.wrong_clocks():
                self._complain(text)
            report = {
                "host": f"engine {self._options.host}", "publisher": self._options.area, "boot": boot(),
                "version": uwb.__version__, "utc_us": clock.utc_us, "utc_max_error_us": clock.max_error_us,
                "monotonic_us": clock.monotonic_us, "waiting": measurements.pending, "size": 0, "most": 1, "dropped": 0,
                "unsaved": 0, "confirmed": places.published, "repeated": measurements.repeated,
                "unusable": measurements.unusable, "takeovers": self.takeovers,
                "wrong_clocks_s": measurements.wrong, "state_bytes": checkpoint.size}
            self._client.publish(subject, json.dumps(report).encode())
            self._export(report)
            log.debug("%s", report)
            await asyncio.sleep(REPORT)

    def _complain(self, text: str) -> None:
        """Logs a text at most once a minute."""
        now, kind = time.monotonic(), text[:24]
        if now - self._complaints.get(kind, -math.inf) > 60:
            self._complaints[kind] = now
            log.error("%s", text)


class Reader:
    """Passes the measurements of an area to the engine."""

    def __init__(
        self, options: argparse.Namespace, client: _nats.Client, measurements: Measurements,
        complain: Callable[[str], None]
    ) -> None:
        self._options, self._client, self.measurements = options, client, measurements
        self._complain = complain
        self._stream = stream(options.site, "range")
        self._waiting: deque[Message] = deque()
        self._wake = asyncio.Event()
        self._inbox = client.inbox(self._ended)
        #: Messages that the server still sends for the last request.
        self._open = 0
        #: Whether the consumer does not answer.
        self._is_gone = False

    async def run(self, process: asyncio.subprocess.Process, newest: float | None) -> None:
        """Reads for ever, from some seconds before the newest place on."""
        assert process.stdin is not None
        self._client.delivered = self._delivered
        consumer = await self._consumer(newest)
        due, seen = 0.0, time.monotonic()
        while True:
            if self._open <= 0 or time.monotonic() >= due:
                self._open, due = BATCH, time.monotonic() + NEXT
                request = json.dumps({"batch": BATCH, "expires": int(EXPIRES * 1e9)}).encode()
                self._client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{consumer}", request, f"{self._inbox}.0")
            try:
                await asyncio.wait_for(self._wake.wait(), max(0, due - time.monotonic()))
                seen = time.monotonic()
            except asyncio.TimeoutError:
                # Its server is gone, or the connection was lost.
                self._is_gone |= time.monotonic() > seen + SILENT
            self._wake.clear()
            if self._is_gone:
                await asyncio.sleep(ATTEMPT / 2)
                consumer, seen = await self._consumer(newest), time.monotonic()
            lines = []
            while self._waiting:
                if line := self.measurements.line(self._waiting.popleft()):
                    lines.append(line)
            process.stdin.write(b"".join(lines))
            await process.stdin.drain()

    async def _consumer(self, newest: float | None) -> str:
        """Makes a consumer, and returns its name. Tries again until there is one."""
        config: dict[str, Any] = {
            "ack_policy": "none", "filter_subject": f"uwb.{self._options.site}.{self._options.area}.range.*",
            "inactive_threshold": INACTIVE * 10**9, "num_replicas": 1, "mem_storage": True}
        if self.measurements.number:
            config.update(deliver_policy="by_start_sequence", opt_start_seq=self.measurements.number + 1)
        else:
            start = min(newest or math.inf, time.time()) - self._options.replay
            moment = datetime.fromtimestamp(start, timezone.utc).isoformat().replace("+00:00", "Z")
            config.update(deliver_policy="by_start_time", opt_start_time=moment)
        wanted = {"stream_name": self._stream, "config": config}
        while True:
            try:
                found = await call(self._client, f"CONSUMER.CREATE.{self._stream}", wanted, RENEWAL)
                if "error" not in found:
                    self._open, self._is_gone = 0, False
                    return str(found["name"])
                self._complain(f"{self._stream}: {found['error'].get('description')}. See uwb-nats --check.")
            except NatsError as error:
                self._complain(str(error))
            await asyncio.sleep(ATTEMPT)

    def _delivered(self, message: Message) -> None:
        self._waiting.append(message)
        self._open -= 1
        self._wake.set()

    def _ended(self, message: Message) -> None:
        """Handles the end of a request. After its time, 408, another one has begun."""
        # 503: there is no consumer. 409: it was removed, or its server ends.
        self._is_gone |= message.status in (409, 503)
        self._wake.set()


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-nats-engine", __doc__, sources=False)
    add = found.add_argument
    add("file", help="the site file")
    _nats.add_options(found)
    add("--replay", type=float, default=30, metavar="SECONDS",
        help="of measurements before the newest place, which a start without a state computes again (default: 30)")
    add("--uwbsite", default="uwbsite", metavar="PROGRAM", help="the engine (default: uwbsite)")
    options = found.parse_args(arguments)
    try:
        _nats.validate(options)
        if not 1 <= options.replay <= 3_600:
            raise ValueError("--replay has from 1 to 3600 seconds")
    except ValueError as error:
        found.error(str(error))
    return options


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)
    return run("uwb-nats-engine", options.verbose, lambda: asyncio.run(Engine(options).run()))


if __name__ == "__main__":
    sys.exit(main())
