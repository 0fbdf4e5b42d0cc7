# SPDX-License-Identifier: Apache-2.0
"""uwb-nats-engine with a real server and uwbsite; nats-py publishes and reads the streams."""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import urllib.request
import zlib
from collections import defaultdict, deque
from typing import Any

import nats
from prometheus_client.parser import text_string_to_metric_families

from brokers import free_port, wait
from nodes import Node, run
from test_site import ANCHORS, SITE, UWBSITE
from uwb.bridges import _exporter
from uwb.bridges._checkpoint import Journal, State, packed, unpacked
from uwb.bridges._lease import Lease
from uwb.bridges._nats import Message, NatsError
from uwb.bridges._streams import host_problems
from uwb.bridges.nats_engine import Engine, Measurements, Places, delivery

STEP = 0.1


def content(sequence: int, utc: float, tag: str, anchor: int, distance: float) -> bytes:
    """Returns a message as uwb-nats writes it: the anchor's host measures the tag."""
    return json.dumps({
        "sequence": sequence, "publisher": f"p{anchor}", "host": f"host{anchor % 2}", "boot": "b",
        "utc_us": round(utc * 1e6), "utc_max_error_us": 2_000, "monotonic_us": round(utc * 1e6) - 7 * anchor,
        "value": {"chip": f"A{anchor}", "session_id": 42, "lost": 0,
                  "measurement": {"peer": tag, "status": "ok", "distance_m": round(distance, 3), "sd_m": 0.1}}}).encode()


def walk(moment: float, index: int) -> tuple[float, float]:
    """Returns the place of a tag, which crosses the boundary of the zones each 10 s."""
    return 5 + 3 * math.sin(2 * math.pi * (moment / 20 + index / 3)), 4 + index


class Hall:
    """Publishes the rounds of tags that walk."""

    def __init__(self, url: str, tags: int = 2) -> None:
        self._url, self._tags = url, tags
        self._rng = random.Random(5)
        self._sequences: dict[tuple[str, int], int] = defaultdict(int)
        #: Near now, since the stream forgets old messages.
        self._start = math.floor(time.time()) - 100
        self.rounds = 0

    def measure(self, rounds: int) -> None:
        """Publishes the next rounds."""
        async def work() -> None:
            client = await nats.connect(self._url)
            context = client.jetstream()
            for number in range(self.rounds, self.rounds + rounds):
                for index in range(self._tags):
                    tag = f"T{index + 1}"
                    x, y = walk(number * STEP, index)
                    for anchor, (ax, ay) in enumerate(ANCHORS):
                        self._sequences[tag, anchor] += 1
                        distance = math.dist((x, y, 1), (ax, ay, 2.5)) + self._rng.gauss(0, 0.05)
                        await context.publish(f"uwb.hall.east.range.{tag}", content(
                            self._sequences[tag, anchor], self._start + number * STEP, tag, anchor, distance))
            await client.close()

        asyncio.run(work())
        self.rounds += rounds

    def error(self, value: dict[str, Any]) -> float:
        """Returns the error of a place, in metres."""
        index = int(value["tag"][1:]) - 1
        return math.dist(value["position_m"][:2], walk(value["t"] - self._start, index))


@unittest.skipUnless(UWBSITE, "needs uwbsite")
class EngineTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.site = self.folder / "site.json"
        self.site.write_text(json.dumps({**SITE, "tags": [{"id": f"T{number}", "height_m": 1} for number in (1, 2)]}))
        self.node = Node(self.folder)
        self.addCleanup(self.node.close)
        made = self.node.run("--make-streams", "--replicas", 1)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.hall = Hall(self.node.url)

    def engine(self, host: str, *more: str) -> "subprocess.Popen[bytes]":
        log = open(self.folder / f"{host}.log", "ab")
        self.addCleanup(log.close)
        program = subprocess.Popen(
            [sys.executable, "-m", "uwb.bridges.nats_engine", "--server", self.node.url, "--site", "hall", "--area",
             "east", "--host", host, "--uwbsite", UWBSITE, "-v", *more, str(self.site)],
            stderr=log)

        def close() -> None:
            program.send_signal(signal.SIGCONT)
            program.kill()
            program.wait()
        self.addCleanup(close)
        return program

    def log(self, host: str) -> str:
        return (self.folder / f"{host}.log").read_text()

    def places(self) -> list[dict[str, Any]]:
        return [message["value"] for _, message in self.node.read("place")]

    def newest(self) -> float:
        """Returns the round of the oldest tag's newest place."""
        last: dict[str, float] = {}
        for value in self.places():
            last[value["tag"]] = value["t"]
        return min(last.values(), default=0.0) if len(last) == 2 else 0.0

    def awaits(self, rounds: int) -> bool:
        """Waits for the places of the last round."""
        return wait(lambda: self.newest() > self.hall._start + (rounds - 1.5) * STEP, 30)

    def check_order(self) -> None:
        """Checks that no place is twice, that times of a tag rise, and that places are right."""
        times: dict[str, list[float]] = defaultdict(list)
        for value in self.places():
            times[value["tag"]].append(value["t"])
            self.assertLess(self.hall.error(value), 0.5)
        for tag, found in times.items():
            self.assertEqual(found, sorted(set(found)), tag)
            # The first rounds find the place.
            self.assertGreater(len(found), self.hall.rounds - 15, tag)

    def check_zones(self) -> None:
        """Checks that each tag enters and leaves the zones in turn."""
        inside: dict[str, list[str]] = defaultdict(list)
        for subject, message in self.node.read("event"):
            value = message["value"]
            if value["event"] == "entered":
                self.assertNotIn(value["zone"], inside[subject])
                inside[subject].append(value["zone"])
            elif value["event"] == "left":
                inside[subject].remove(value["zone"])
            self.assertEqual(sorted(value.get("zones", [])), sorted(inside[subject]))

    def test_places_of_several_hosts(self) -> None:
        self.engine("one")
        self.hall.measure(150)
        self.assertTrue(self.awaits(150), self.log("one"))
        self.check_order()
        self.check_zones()
        message = self.node.read("place")[0][1]
        self.assertEqual((message["host"], message["sequence"], message["first"]), ("one", 1, True))
        self.assertEqual(set(message) >= {"publisher", "boot", "utc_us", "utc_max_error_us", "monotonic_us"}, True)
        checked = self.node.run("--check", "--replicas", 1)
        self.assertIn("engine one", checked.stdout)
        self.assertNotIn("no engine computes", checked.stdout)

    def test_numbers_for_prometheus(self) -> None:
        port = free_port()
        self.engine("one", "--listen", f"127.0.0.1:{port}")
        self.hall.measure(30)
        self.assertTrue(self.awaits(30), self.log("one"))

        def numbers() -> dict[str, float]:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
                families = text_string_to_metric_families(reply.read().decode())
                return {sample.name: sample.value for family in families for sample in family.samples}

        self.assertTrue(wait(lambda: numbers().get("uwb_nats_engine_confirmed_total", 0) > 30), self.log("one"))
        found = numbers()
        self.assertEqual((found["uwb_nats_engine_active"], found["uwb_nats_engine_connected"]), (1, 1))
        self.assertEqual(found["uwb_nats_engine_takeovers_total"], 1)

    def test_an_area_without_an_engine_is_a_problem(self) -> None:
        program = self.engine("one")
        self.assertTrue(wait(lambda: self.node.count("host") == 1), self.log("one"))
        program.terminate()
        program.wait()
        self.assertIn("area east: no engine computes its places", self.node.run("--check").stdout)

    def test_another_engine_takes_over(self) -> None:
        for end in (signal.SIGKILL, signal.SIGTERM):
            first = self.engine(f"first-{end}")
            self.hall.measure(60)
            self.assertTrue(self.awaits(self.hall.rounds), self.log(f"first-{end}"))
            second = self.engine(f"second-{end}")
            began = time.monotonic()
            first.send_signal(end)
            first.wait()
            self.hall.measure(60)
            self.assertTrue(self.awaits(self.hall.rounds), self.log(f"second-{end}"))
            print(f"silence after {end.name}: {time.monotonic() - began:.1f} s", flush=True)
            second.terminate()
            self.assertEqual(second.wait(), 0)
        self.check_order()
        self.check_zones()

    def change(self, name: str, data: bytes) -> None:
        """Writes a part of the state of the area."""
        async def work() -> None:
            client = await nats.connect(self.node.url)
            await client.jetstream().publish(f"uwb.hall.east.state.{name}", data)
            await client.close()

        asyncio.run(work())

    def states(self) -> int:
        """Returns the number of messages of states so far."""
        async def work() -> int:
            client = await nats.connect(self.node.url)
            info = await client.jetstream().stream_info("uwb-hall-state")
            await client.close()
            return int(info.state.last_seq)

        return asyncio.run(work())

    def measure_until_a_state(self, host: str) -> "subprocess.Popen[bytes]":
        """Runs an engine until the cluster has a state of it."""
        program = self.engine(host)
        before = self.states()
        self.hall.measure(100)
        self.assertTrue(self.awaits(self.hall.rounds), self.log(host))
        # A state has a part and its name.
        self.assertTrue(wait(lambda: self.states() >= before + 2, 30), self.log(host))
        return program

    def test_another_engine_continues_a_state(self) -> None:
        self.measure_until_a_state("first").kill()
        self.engine("second")
        self.hall.measure(60)
        self.assertTrue(self.awaits(self.hall.rounds), self.log("second"))
        self.assertIn("from the state of an engine", self.log("second"))
        self.check_order()
        self.check_zones()

    def test_a_state_that_cannot_be_used_is_replaced(self) -> None:
        self.measure_until_a_state("first").kill()
        self.change("a0", b"another one")
        self.change("b0", b"another one")
        self.measure_until_a_state("second").kill()
        self.assertNotIn("from the state of an engine", self.log("second"))
        # Another site file.
        self.site.write_text(self.site.read_text() + "\n")
        self.engine("third")
        self.hall.measure(60)
        self.assertTrue(self.awaits(self.hall.rounds), self.log("third"))
        self.assertNotIn("from the state of an engine", self.log("third"))
        self.check_order()
        self.check_zones()

    def test_an_engine_that_was_stopped_publishes_nothing_more(self) -> None:
        first = self.engine("first")
        self.hall.measure(60)
        self.assertTrue(self.awaits(60), self.log("first"))
        first.send_signal(signal.SIGSTOP)
        self.engine("second")
        self.hall.measure(60)
        self.assertTrue(self.awaits(120), self.log("second"))
        first.send_signal(signal.SIGCONT)
        self.assertTrue(wait(lambda: "lease is lost" in self.log("first") or "has published" in self.log("first")), self.log("first"))
        self.hall.measure(60)
        self.assertTrue(self.awaits(180), self.log("second"))
        self.check_order()
        self.check_zones()
        hosts = [message["host"] for _, message in self.node.read("place")]
        self.assertEqual(hosts, sorted(hosts))

    def test_an_engine_waits_for_the_server(self) -> None:
        self.engine("one")
        self.hall.measure(60)
        self.assertTrue(self.awaits(60), self.log("one"))
        self.node.kill()
        self.node.start()
        self.hall.measure(60)
        self.assertTrue(self.awaits(120), self.log("one"))
        self.check_order()

    def test_an_engine_that_cannot_start_is_an_error(self) -> None:
        self.site.write_text("{}")
        program = self.engine("one")
        self.assertEqual(program.wait(30), 66)
        self.assertIn("uwbsite has ended", self.log("one"))
        found = run("--help")
        self.assertEqual(found.returncode, 0)


class ExporterTests(unittest.TestCase):
    def test_a_report_has_names_meanings_and_labels(self) -> None:
        report = {"waiting": 7, "confirmed": 3, "utc_max_error_us": 2_500, "host": "h", "wrong_clocks_s": {'h"1': -60.0}}
        families = {family.name: family for family in text_string_to_metric_families(
            _exporter.text("uwb_nats", report, {"area": "east"}))}
        self.assertEqual(set(families), {"uwb_nats_waiting_messages", "uwb_nats_confirmed", "uwb_nats_clock_error_bound_seconds",
                                         "uwb_nats_clock_ahead_seconds"})
        self.assertEqual(families["uwb_nats_confirmed"].type, "counter")
        [sample] = families["uwb_nats_clock_ahead_seconds"].samples
        self.assertEqual((sample.labels, sample.value), ({"area": "east", "clock": 'h"1'}, -60.0))
        [sample] = families["uwb_nats_clock_error_bound_seconds"].samples
        self.assertEqual(sample.value, 0.0025)

    def test_other_requests_get_an_answer(self) -> None:
        found = _exporter.Exporter()
        found.text = "x 1\n"
        self.assertTrue(found._reply(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").endswith(b"\r\n\r\nx 1\n"))
        for head in (b"", b"GET /\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n", b"GET /other HTTP/1.1\r\n\r\n", b"\xff\0\r\n\r\n"):
            self.assertTrue(found._reply(head).startswith(b"HTTP/1.1 404"), head)
        self.assertEqual(_exporter.address("[::1]:9465"), ("::1", 9465))
        for text in ("9465", ":", "a:99999", "a:x"):
            self.assertRaises(ValueError, _exporter.address, text)


class CheckpointTests(unittest.TestCase):
    def test_a_state_has_the_number_of_its_last_line(self) -> None:
        journal = Journal(7, {("p", "s"): 1})
        for number in (9, 10, 12):
            journal.add(number, ("p", "t"), number)
        self.assertEqual(journal.take(0), (7, {("p", "s"): 1}))
        self.assertEqual(journal.take(2), (10, {("p", "s"): 1, ("p", "t"): 10}))
        self.assertIsNone(journal.take(1))
        self.assertIsNone(journal.take(4))
        self.assertEqual(journal.take(3), (12, {("p", "s"): 1, ("p", "t"): 12}))

    def test_lines_that_nobody_asks_for_are_forgotten(self) -> None:
        journal = Journal()
        with unittest.mock.patch.object(journal, "_lines", deque(maxlen=3)):
            for number in range(1, 6):
                journal.add(number, ("p", "t"), number)
            self.assertIsNone(journal.take(5))

    def test_the_bytes_of_a_state_lead_to_it(self) -> None:
        state = State(b'{"lines": 3}\n{}\n', 12, {("p", "s"): 4})
        self.assertEqual((unpacked(packed(state)), state.lines), (state, 3))
        for data in (b"", b"x", packed(state)[:-9], zlib.compress(b"[]"), zlib.compress(b'{"number": 1}\n')):
            self.assertRaises(ValueError, unpacked, data)
        self.assertRaises(ValueError, lambda: State(b"", 0, {}).lines)


class PlacesTests(unittest.TestCase):
    def test_places_are_published_in_their_order_before_a_state(self) -> None:
        client, lease = unittest.mock.Mock(is_writable=True), unittest.mock.Mock(is_held=True)
        client.inbox.return_value = "i"
        found = Places(argparse.Namespace(site="hall", area="east", host="h"), client, lease)
        for moment in 1, 2:
            found.add(json.dumps({"tag": "T1", "t": moment, "position_m": [1, 2, 3]}).encode())
        found.send()
        self.assertEqual((found.count, found.has_published(0), found.has_published(1)), (2, True, False))
        found._answered(Message("i.1", "", b"", b'{"seq": 7}'))
        self.assertEqual((found.has_published(1), found.has_published(2)), (True, False))
        self.assertEqual(client.publish.call_count, 2)
        found._answered(Message("i.2", "", b"", b'{"seq": 8}'))
        self.assertTrue(found.has_published(found.count))


class StartTests(unittest.TestCase):
    """The start of an engine while some streams have no leader."""

    def start(self, answers: list[int | None]) -> int:
        async def work() -> int:
            if (answer := answers.pop(0)) is None:
                raise NatsError("There is no answer.")
            return answer

        with unittest.mock.patch("uwb.bridges.nats_engine.ATTEMPT", 0):
            return asyncio.run(Engine.__new__(Engine)._answer(work))

    def test_requests_without_an_answer_are_repeated(self) -> None:
        self.assertEqual(self.start([None, None, 7]), 7)

    def test_another_engine_may_try_after_some_time(self) -> None:
        with unittest.mock.patch("uwb.bridges.nats_engine.PATIENCE", -1), self.assertRaises(NatsError):
            self.start([None])



class LeaseTests(unittest.TestCase):
    """A stream with one subject, whose answers may be lost."""

    newest: dict[str, Any] | None

    def setUp(self) -> None:
        self.newest, self.writes = None, 0

    def lease(self, holder: str) -> Lease:
        async def request(subject: str, payload: bytes, timeout: float, headers: bytes = b"") -> Message:
            if "MSG.GET" in subject:
                return self.answer({"message": self.newest} if self.newest else {"error": {"code": 404, "err_code": 10037}})
            expected = int(headers.split()[-1])
            self.writes += 1
            if expected != (self.newest["seq"] if self.newest else 0):
                return self.answer({"error": {"err_code": 10071, "description": "wrong last sequence"}})
            self.newest = {"seq": self.writes, "data": base64.b64encode(payload).decode()}
            return self.answer({"seq": self.writes})

        return Lease(unittest.mock.Mock(request=request), "hall", "east", holder)

    def answer(self, members: dict[str, Any]) -> Message:
        return Message("", "", b"", json.dumps(members).encode())

    def test_a_program_that_waits_writes_nothing(self) -> None:
        first, second = self.lease("first"), self.lease("second")
        self.assertTrue(asyncio.run(first.renew()))
        for _ in range(3):
            self.assertFalse(asyncio.run(second.renew()))
        self.assertEqual(self.writes, 1)
        self.newest = None
        self.assertTrue(asyncio.run(second.renew()))
        self.assertFalse(asyncio.run(first.renew()))
        self.assertTrue(asyncio.run(second.renew()))

    def test_a_program_without_answers_continues_its_own_lease(self) -> None:
        lease = self.lease("first")
        asyncio.run(lease.renew())
        # The answer to a renewal was lost.
        assert self.newest
        self.newest["seq"] = self.writes = 9
        self.assertTrue(asyncio.run(lease.renew()))
        # It has ended here, and not yet in the stream.
        lease._until = 0
        self.assertTrue(asyncio.run(lease.renew()))
        # The stream has forgotten it.
        self.newest = None
        self.assertTrue(asyncio.run(lease.renew()))

    def test_a_stream_without_a_leader_or_a_stream_is_an_error(self) -> None:
        for error in {"code": 404, "err_code": 10059}, {"code": 503, "err_code": 10008}:
            lease = self.lease("first")
            with unittest.mock.patch.object(self, "answer", return_value=Message("", "", b"", json.dumps(
                    {"error": {**error, "description": "away"}}).encode())):
                self.assertRaises(NatsError, asyncio.run, lease.renew())


class MeasurementsTests(unittest.TestCase):
    def message(self, number: int, sequence: int = 1, stored: float = 100.0, utc: float = 100.0) -> Message:
        reply = f"$JS.ACK.uwb-hall-range.c.1.{number}.{number}.{int(stored * 1e9)}.7"
        return Message("uwb.hall.east.range.T1", reply, b"", content(sequence, utc, "T1", 1, 2.0))

    def test_the_subject_of_an_acknowledgement_has_two_forms(self) -> None:
        self.assertEqual(delivery("$JS.ACK.s.c.1.20.3.1500000000.4"), (20, 1.5, 4))
        self.assertEqual(delivery("$JS.ACK.hub.hash.s.c.1.20.3.1500000000.4.token"), (20, 1.5, 4))

    def test_repeated_messages_have_no_line(self) -> None:
        found = Measurements({"A1"})
        line = found.line(self.message(1))
        self.assertIsNotNone(line)
        value = json.loads(line or b"")
        self.assertEqual((value["t"], value["device"], value["peer"], value["distance_m"]), (100.0, "A1", "T1", 2.0))
        self.assertEqual((found.number, found.pending), (1, 7))
        for repeated in (self.message(1), self.message(2), self.message(3, 0)):
            self.assertIsNone(found.line(repeated))
        self.assertIsNotNone(found.line(self.message(4, 2)))
        self.assertEqual(found.repeated, 3)

    def test_other_content_is_counted(self) -> None:
        found = Measurements(set())
        for number, data in enumerate([b"", b"{}", b"[]", b"\xff", b'{"publisher": 1, "sequence": "x"}'], 1):
            self.assertIsNone(found.line(Message("s", f"$JS.ACK.s.c.1.{number}.1.1.0", b"", data)))
        self.assertEqual(found.unusable, 5)

    def test_a_late_engine_is_a_problem(self) -> None:
        report = {"host": "engine one", "utc_us": 10**15, "utc_max_error_us": 1, "waiting": 20_000, "size": 0, "most": 1,
                  "dropped": 0, "unsaved": 0}
        [text] = host_problems(report, [], 1e9)
        self.assertIn("20000 measurements late", text)
        self.assertEqual(list(host_problems({**report, "host": "one"}, [], 1e9)), [])

    def test_a_clock_ahead_of_its_bound_is_named(self) -> None:
        found = Measurements({"A1"})
        found.line(self.message(1, 1, stored=100.01, utc=100.0))
        self.assertEqual(list(found.wrong_clocks()), [])
        self.assertIsNone(found.line(self.message(2, 2, stored=100.0, utc=160.0)))
        self.assertEqual((found.unusable, found.journal.count), (1, 1))
        [text] = found.wrong_clocks()
        self.assertIn("The clock of host1 is ahead of the server's by 60.00 s", text)
        self.assertEqual(found.wrong, {"host1": 60.0})
        self.assertEqual(list(found.wrong_clocks()), [])
        self.assertEqual(found.wrong, {})

    def test_a_clock_behind_its_bound_is_named_and_a_backlog_is_not(self) -> None:
        for delays, is_wrong in ([0.02] * 4, False), ([60.0, 60.02, 60.01], True), ([60.0, 40.0, 20.0, 9.0], False):
            found, named = Measurements({"A1"}), []
            for index, delay in enumerate(delays, 1):
                found.line(self.message(index, index, stored=100.0 + delay, utc=100.0))
                named = list(found.wrong_clocks())
            self.assertEqual(bool(named), is_wrong, delays)
            if is_wrong:
                self.assertIn("The clock of host1 is behind the server's by 60.01 s", named[0])
                self.assertEqual(round(found.wrong["host1"], 2), -60.01)

    def test_the_check_names_a_wrong_clock(self) -> None:
        report = {"host": "engine one", "utc_us": 10**15, "utc_max_error_us": 1, "waiting": 0, "size": 0, "most": 1,
                  "dropped": 0, "unsaved": 0, "wrong_clocks_s": {"h1": -60.0, "h2": 0.3}}
        behind, ahead = host_problems(report, [], 1e9)
        self.assertIn("host h1: its clock is 60.00 s behind the servers'", behind)
        self.assertIn("host h2: its clock is 0.30 s ahead of the servers'", ahead)


if __name__ == "__main__":
    unittest.main()
