# SPDX-License-Identifier: Apache-2.0
"""Publishes measurements, places and events to a cluster of NATS JetStream.

    uwb-nats --server nats://one --server nats://two --server nats://three --site hall --make-streams
    uwb-nats --server nats://one --server nats://two --server nats://three --site hall
    uwb-nats --server nats://one --server nats://two --server nats://three --site hall --check

While the cluster is away, messages wait on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Coroutine, Sequence
from enum import Enum
from typing import Any

import uwb

from . import _backup, _exporter, _nats, _streams
from ._clock import Clocks
from ._house import slug
from ._input import Ended, Feed, Place, SiteChange, log
from ._program import parser, run
from ._store import Entry, Store, boot

#: Messages that the cluster has not confirmed, at most one for each subject.
IN_FLIGHT = 500
#: Seconds after which a message is sent again.
PATIENCE = 1.0
#: Seconds between two reports of this host.
REPORT = 5.0
#: Answers that a message is on its way, after which it gets another identity.
CONFLICTS = 3
#: Inputs that are encoded and written together, and the seconds for which they are gathered.
BATCH, GATHERED = 500, 0.01


def range_value(value: uwb.Measurement) -> dict[str, Any]:
    """Returns the object of a measurement without its unknown values."""
    members = value.to_json()
    members["measurement"] = {key: entry for key, entry in members["measurement"].items() if entry is not None}
    return members


def place_value(value: Place) -> dict[str, Any]:
    """Returns the object of a place, as `uwbsite run --format json` prints it."""
    found: dict[str, Any] = {"t": value.time, "tag": value.tag, "position_m": value.position}
    if not any(map(math.isnan, value.covariance)):
        found["covariance_m2"] = value.covariance
    for key, entry in ("velocity_m_s", value.velocity), ("r95_m", value.r95), ("floor", value.floor):
        if entry is not None:
            found[key] = entry
    return found


class Encoder:
    """Makes messages of inputs."""

    def __init__(self, options: argparse.Namespace, store: Store, clocks: Clocks) -> None:
        self._store, self._clocks = store, clocks
        self._start = f"uwb.{options.site}.{options.area}."
        self._fixed = {"publisher": store.identity, "host": options.host, "boot": boot()}

    def entry(self, value: object) -> Entry | None:
        """Returns the message of an input, or None for an input that is not published."""
        clock = self._clocks.now()
        utc, monotonic = clock.utc_us, clock.monotonic_us
        if isinstance(value, uwb.Measurement):
            kind, tag, members = "range", value.peer, range_value(value)
            utc, monotonic = members["utc_us"], members["monotonic_us"]
        elif isinstance(value, Place):
            kind, tag, members = "place", value.tag, place_value(value)
        elif isinstance(value, SiteChange) and value.kind not in ("site", "zones"):
            kind, tag, members = "event", value.tag or "site", dict(value.members)
        else:
            return None
        subject = f"{self._start}{kind}.{slug(tag)}"
        number, sequence, is_first = self._store.numbered(subject)
        message = {
            "sequence": sequence, **({"first": True} if is_first else {}), **self._fixed, "utc_us": utc,
            "utc_max_error_us": clock.max_error_us, "monotonic_us": monotonic, "value": members}
        return Entry(number, sequence, subject, json.dumps(message, separators=(",", ":")).encode())


class Flight:
    """Messages on their way. At most one of each subject is, so that their order stays."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Entry]] = {}
        self._ready: deque[str] = deque()
        #: Messages that are not confirmed, with the time to send them again.
        self._flying: dict[int, tuple[Entry, float]] = {}

    def add(self, entries: Sequence[Entry]) -> None:
        """Adds messages at the end."""
        for entry in entries:
            queue = self._queues.get(entry.subject)
            if queue is None:
                self._queues[entry.subject] = deque((entry,))
                self._ready.append(entry.subject)
            else:
                queue.append(entry)

    def take(self, now: float) -> Entry | None:
        """Returns the next message to send."""
        if len(self._flying) >= IN_FLIGHT or not self._ready:
            return None
        entry = self._queues[self._ready.popleft()][0]
        self._flying[entry.number] = entry, now + PATIENCE
        return entry

    def confirm(self, number: int) -> Entry | None:
        """Ends the flight of a message; None if it has ended before."""
        found = self._flying.pop(number, None)
        if found is None:
            return None
        subject = found[0].subject
        queue = self._queues[subject]
        queue.popleft()
        if queue:
            self._ready.append(subject)
        else:
            del self._queues[subject]
        return found[0]

    def postpone(self, number: int, until: float) -> None:
        """Sends a message again at that time."""
        if number in self._flying:
            self._flying[number] = self._flying[number][0], until

    def late(self, now: float, is_new_connection: bool = False) -> list[Entry]:
        """Returns messages that are to be sent again."""
        found = [entry for entry, until in self._flying.values() if is_new_connection or now >= until]
        for entry in found:
            self._flying[entry.number] = entry, now + PATIENCE
        return found


class Answer(Enum):
    """The answer of a stream to a message."""

    STORED = 1
    #: The leader remembers the identity of the message, but the stream may not have it: see
    #: nats-server, pull requests 6415 and 6486.
    PENDING = 2
    NO_STREAM = 3
    TOO_LONG = 4
    REFUSED = 5


def outcome(message: _nats.Message) -> Answer:
    """Returns the meaning of an answer. Only one with the number of the stream confirms."""
    if message.status == 503:
        return Answer.NO_STREAM
    found = re.search(rb'"seq":\s*(\d+)', message.data)
    if b'"error"' not in message.data and found:
        return Answer.STORED if int(found[1]) else Answer.PENDING
    try:
        error = json.loads(message.data)["error"]
        code, text = error.get("err_code"), str(error.get("description"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Answer.REFUSED
    if "duplicate" in text.lower():
        return Answer.PENDING
    return Answer.TOO_LONG if code == 10054 else Answer.REFUSED


async def until_first(*works: Coroutine[Any, Any, object]) -> None:
    """Runs all works until the first one ends, and raises its error."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Bridge:
    """Carries inputs to a cluster."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._clocks = Clocks()
        self.store = Store(options.store, options.store_size << 20)
        self._encoder = Encoder(options, self.store, self._clocks)
        self.flight = Flight()
        self._exporter = _exporter.Exporter()
        self._feed = Feed(options.sources)
        self._client = _nats.Client(options, f"uwb-nats {options.host}")
        self._client.changed = self._changed
        self.confirmed = self.repeated = self.refused = self.interruptions = 0
        self._open = len(options.sources)
        #: The times of complaints by their kinds.
        self._complaints: dict[str, float] = {}
        self._failure: BaseException | None = None
        #: Answers that a message is on its way already.
        self._conflicts: dict[int, int] = {}

    async def run(self) -> int:
        """Runs until a signal, or until the cluster has all messages of sources that ended."""
        loop = asyncio.get_running_loop()
        self._loop, self._wake, self._stop = loop, asyncio.Event(), asyncio.Event()
        loop.set_exception_handler(self._failed)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        self._inbox = self._client.inbox(self._answered)
        if self.store.waiting:
            log.warning("%d messages of an earlier run wait.", self.store.waiting)
            self.flight.add(self.store.refill())
        await self._exporter.start(self._options.listen)
        self._feed.start()
        threading.Thread(target=self._pump, daemon=True).start()
        try:
            await until_first(self._client.run(), self._send(), self._watch(), self._stop.wait())
        finally:
            self._report()
            self._client.close()
            self.store.close()
        if self._failure is not None:
            raise self._failure
        if self.store.waiting:
            log.warning("%d messages wait in %s. The next start sends them.", self.store.waiting, self._options.store)
            return 75 if self._open == 0 else 0
        return 0

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Ends the program after an unexpected error, so that systemd starts it again."""
        self._failure = context.get("exception") or RuntimeError(context["message"])
        self._stop.set()

    # Inputs

    def _pump(self) -> None:
        """Passes inputs to the loop in batches, in a thread of its own."""
        handled = threading.Event()
        # Not time.sleep(), which fails under libfaketime.
        pause = threading.Event()
        while True:
            batch = self._feed.batch(BATCH, lambda: pause.wait(GATHERED))
            handled.clear()
            try:
                self._loop.call_soon_threadsafe(self._receive, batch, handled)
            except RuntimeError:
                return
            handled.wait()

    def _receive(self, batch: list[Any], handled: threading.Event) -> None:
        entries = []
        for value in batch:
            if isinstance(value, Ended):
                log.info("%s has ended. %s", value.source, value.reason)
                self._open -= 1
            elif isinstance(value, uwb.Interruption):
                self.interruptions += 1
            elif entry := self._encoder.entry(value):
                entries.append(entry)
        dropped = self.store.dropped
        self.flight.add(self.store.add(entries))
        if self.store.dropped > dropped:
            self._complain(f"The store is full: {self.store.dropped} messages are dropped. Raise --store-size.")
        self._wake.set()
        handled.set()

    # The cluster

    def _changed(self, is_up: bool) -> None:
        if is_up:
            for entry in self.flight.late(time.monotonic(), is_new_connection=True):
                self._publish(entry)
            self._report()
            self._wake.set()

    def _publish(self, entry: Entry) -> None:
        if len(entry.payload) + 100 > self._client.longest:
            # It would end the connection, again and again.
            self._complain(f"A message is too long: {len(entry.payload)} bytes. Raise max_payload of the servers.")
            self._loop.call_soon(self._refuse, entry.number)
            return
        identity = f"{self.store.identity}-{entry.number}"
        if (conflicts := self._conflicts.get(entry.number, 0)) >= CONFLICTS:
            # A leader that was replaced has the identity, and its message is lost.
            identity += f".{conflicts // CONFLICTS}"
        headers = f"Nats-Msg-Id: {identity}\r\n".encode()
        self._client.publish(entry.subject, entry.payload, f"{self._inbox}.{entry.number}", headers)

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            now = time.monotonic()
            while self._client.is_writable and (entry := self.flight.take(now)):
                self._publish(entry)
            if entries := self.store.refill():
                self.flight.add(entries)
                self._wake.set()
            self.store.mark()
            if not self._open and not self.store.waiting:
                self._stop.set()
            # Other tasks get their turn, and acknowledgements come together.
            await asyncio.sleep(0.001)

    def _answered(self, message: _nats.Message) -> None:
        number = int(message.subject.rpartition(".")[2])
        answer = outcome(message)
        if answer is Answer.STORED:
            if self.flight.confirm(number):
                self._conflicts.pop(number, None)
                self.confirmed += 1
                self.repeated += b'"duplicate"' in message.data
                self.store.confirm(number)
                self._wake.set()
            return
        self.flight.postpone(number, time.monotonic() + PATIENCE)
        if answer is Answer.PENDING:
            self._conflicts[number] = self._conflicts.get(number, 0) + 1
        elif answer is Answer.NO_STREAM:
            self._complain("No stream accepts messages: see uwb-nats --check, or make the streams: --make-streams.")
        elif answer is Answer.TOO_LONG:
            self._complain("A message is too long for the stream: raise its max_msg_size.")
            self._refuse(number)
        else:
            self._complain(f"The cluster refuses messages: {message.data[:300]!r}. See uwb-nats --check.")

    def _refuse(self, number: int) -> None:
        """Forgets a message that the cluster will never accept."""
        if self.flight.confirm(number):
            self._conflicts.pop(number, None)
            self.refused += 1
            self.store.confirm(number)
            self._wake.set()

    def _complain(self, text: str) -> None:
        """Logs a text of a kind at most once a minute. The kind is before the colon."""
        now, kind = time.monotonic(), text.partition(":")[0]
        if now - self._complaints.get(kind, -math.inf) > 60:
            self._complaints[kind] = now
            log.error("%s", text)

    async def _watch(self) -> None:
        reported = synced = time.monotonic()
        drained = math.inf
        while True:
            await asyncio.sleep(0.25)
            now = time.monotonic()
            if self._client.is_writable:
                for entry in self.flight.late(now):
                    self._publish(entry)
            if now - synced >= 1:
                synced = now
                await self._loop.run_in_executor(None, self.store.sync)
            if now - reported >= REPORT:
                reported = now
                self._report()
            if not self._open:
                drained = min(drained, now + self._options.drain)
                self._wake.set()
                if now >= drained:
                    self._stop.set()

    def _report(self) -> None:
        """Publishes the state of this host."""
        clock, store = self._clocks.now(), self.store
        if store.size > 0.8 * store.most:
            self._complain(f"The store is nearly full: {100 * store.size // store.most} %, {store.waiting} messages. "
                           "Bring the cluster back, or raise --store-size.")
        report = {
            "host": self._options.host, "publisher": store.identity, "boot": boot(), "version": uwb.__version__,
            "utc_us": clock.utc_us, "utc_max_error_us": clock.max_error_us, "monotonic_us": clock.monotonic_us,
            "waiting": store.waiting, "size": store.size, "most": store.most, "dropped": store.dropped,
            "unsaved": store.unsaved, "damaged": store.damaged, "confirmed": self.confirmed,
            "repeated": self.repeated, "refused": self.refused, "interruptions": self.interruptions}
        subject = f"uwb.{self._options.site}.{self._options.area}.host.{slug(self._options.host)}"
        self._client.publish(subject, json.dumps(report).encode())
        self._exporter.text = _exporter.text(
            "uwb_nats", {**report, "connected": self._client.is_connected}, {"area": self._options.area})
        log.debug("%s", report)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-nats", __doc__)
    add = found.add_argument
    _nats.add_options(found)
    add("--store", metavar="FOLDER", help="the folder of messages that wait (default: in the state of the user)")
    add("--store-size", type=int, default=512, metavar="MB", help="of the store (default: 512)")
    add("--drain", type=float, default=30, metavar="SECONDS",
        help="wait for the cluster after the end of all sources (default: 30)")
    add("--make-streams", action="store_true", help="make the streams of the site, or change their limits, and end")
    add("--replicas", type=int, default=3, choices=[1, 3, 5], help="of the streams (default: 3)")
    add("--stream-size", type=int, default=1_024, metavar="MB", help="of each stream (default: 1024)")
    add("--check", action="store_true", help="list streams, consumers, hosts and their problems, and end")
    add("--backup", metavar="FOLDER", help="write the streams of the site to files, and end")
    add("--restore", metavar="FOLDER", help="make the streams of the site from these files, and end")
    options = found.parse_args(arguments)
    try:
        validate(options)
    except ValueError as error:
        found.error(str(error))
    return options


def validate(options: argparse.Namespace) -> None:
    """Completes the options; raises `ValueError` for ones that cannot be used."""
    _nats.validate(options)
    if not 16 <= options.store_size <= 1 << 20 or not 1 <= options.stream_size <= 1 << 24:
        raise ValueError("--store-size has at least 16 MB, and --stream-size 1 MB")
    if not 0 <= options.drain < 1e6:
        raise ValueError("--drain is a positive number")
    if options.store is None:
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        options.store = os.environ.get("STATE_DIRECTORY") or os.path.join(state, "uwb-nats")


async def ask(options: argparse.Namespace) -> int:
    """Makes the streams, or checks them."""
    client = _nats.Client(options, "uwb-nats check")
    reasons: list[str] = []
    texts: list[str] = []
    error: _nats.NatsError | None = None
    for server in options.server:
        try:
            await client.connect(server)
            break
        except (OSError, ValueError) as reason:
            reasons.append(f"{server}: {reason}")
    found = [] if len(reasons) == len(options.server) else reasons
    try:
        if not found and reasons:
            raise _nats.NatsError(" ".join(reasons))
        if options.make_streams:
            await _streams.make(client, options.site, options.replicas, options.stream_size << 20, texts)
        elif options.backup:
            await _backup.save(client, options.site, options.backup, texts)
        elif options.restore:
            await _backup.restore(client, options.site, options.restore, options.replicas, texts)
        else:
            await _streams.find_problems(client, options.site, options.replicas, texts, found)
    except _nats.NatsError as failure:
        error = failure
    client.close()
    for text in texts:
        print(text)
    for text in found:
        print(f"problem: {text}")
    if error:
        print(f"uwb-nats: {error}", file=sys.stderr)
    elif options.check and not found:
        print("There is no problem.")
    return 1 if error or found else 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)

    def work() -> int:
        if options.make_streams or options.check or options.backup or options.restore:
            return asyncio.run(ask(options))
        return asyncio.run(Bridge(options).run())

    return run("uwb-nats", options.verbose, work)


if __name__ == "__main__":
    sys.exit(main())
