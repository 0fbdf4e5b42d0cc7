# SPDX-License-Identifier: Apache-2.0
"""uwb-nats with real servers; nats-py reads the streams."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from typing import Any
from unittest.mock import patch

import uwb
from brokers import Program, Subscriber, certificates, change, free_port, mutated, place, wait
from nodes import Node, run
from test_metrics import measured
from uwb.bridges import _store
from uwb.bridges._input import Feed
from uwb.bridges._nats import Message, Parser, signed
from uwb.bridges._store import Entry, Store
from uwb.bridges._streams import host_problems
from uwb.bridges.nats import IN_FLIGHT, PATIENCE, Answer, Flight, outcome

TAGS = 20


def lines(first: int, count: int) -> bytes:
    """Returns lines of measurements of several tags, numbered by their rounds."""
    return b"".join(
        json.dumps(measured(index, peer=f"0x{index % TAGS:04x}", sequence=index)).encode() + b"\n"
        for index in range(first, first + count))


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class StoreTests(Folder):
    def store(self, most: int = _store.LEAST) -> Store:
        return Store(str(self.folder / "store"), most)

    def entries(self, store: Store, count: int, size: int = 100, tags: int = 3) -> list[Entry]:
        found = []
        for index in range(count):
            subject = f"uwb.hall.main.range.{index % tags}"
            number, sequence, _ = store.numbered(subject)
            found.append(Entry(number, sequence, subject, b"x" * size))
        return found

    def crash(self, store: Store) -> None:
        """Ends the use of a store as kill -9 does."""
        if store._file is not None:
            store._file.close()
        os.close(store._position_file)
        store._lock.close()

    def test_everything_comes_back_in_its_order(self) -> None:
        store = self.store()
        entries = self.entries(store, 2 * _store.WINDOW + 77)
        sent = [entry for start in range(0, len(entries), 500) for entry in store.add(entries[start : start + 500])]
        self.assertEqual((len(sent), store.waiting), (_store.WINDOW, len(entries)))
        done = 0
        while done < len(sent):
            for entry in sent[done : done + 1_000]:
                store.confirm(entry.number)
            done += 1_000
            store.mark()
            sent += store.refill()
        self.assertEqual(sent, entries)
        self.assertEqual(store.waiting, 0)
        last = [entry.sequence for entry in entries if entry.subject == entries[0].subject][-1]
        self.assertEqual(store.add(self.entries(store, 1))[0].sequence, last + 1)
        store.close()

    def test_a_killed_program_goes_on_with_its_numbers(self) -> None:
        store = self.store()
        entries = self.entries(store, 900)
        store.add(entries)
        for entry in entries[:300] + entries[301:400]:
            store.confirm(entry.number)
        store.mark()
        self.crash(store)
        again = self.store()
        self.assertEqual(again.identity, store.identity)
        # Confirmed ones after the oldest that waits are sent again, with their identity.
        self.assertEqual(again.refill(), entries[300:])
        number, sequence, is_first = again.numbered(entries[-1].subject)
        self.assertEqual((number, sequence, is_first), (entries[-1].number + 1, entries[-1].sequence + 1, False))
        self.crash(again)

    def test_numbers_jump_after_a_loss_of_power(self) -> None:
        store = self.store()
        entries = self.entries(store, 9)
        store.add(entries)
        self.crash(store)
        with patch.object(_store, "boot", lambda: "another"):
            again = self.store()
        number, sequence, is_first = again.numbered(entries[-1].subject)
        self.assertGreaterEqual(number, entries[-1].number + _store.JUMP)
        self.assertEqual((sequence, is_first), (number, True))
        self.assertEqual(again.refill(), entries)
        again.close()

    def test_a_clean_end_keeps_the_numbers_over_a_start_of_the_machine(self) -> None:
        store = self.store()
        entries = self.entries(store, 9)
        store.add(entries)
        store.close()
        with patch.object(_store, "boot", lambda: "another"):
            again = self.store()
        self.assertEqual(again.numbered(entries[-1].subject), (entries[-1].number + 1, entries[-1].sequence + 1, False))
        again.close()

    def test_a_full_store_drops_the_newest_and_counts_them(self) -> None:
        store = self.store()
        size, sent = 10_000, []
        entries = self.entries(store, 2_000, size)
        for start in range(0, len(entries), 100):
            sent += store.add(entries[start : start + 100])
        self.assertLessEqual(store.size, store.most)
        self.assertGreater(store.size, 0.98 * store.most)
        self.assertEqual(sent, entries)
        # The memory is full as well.
        more = self.entries(store, _store.WINDOW)
        sent += store.add(more)
        self.assertEqual(len(sent), _store.WINDOW)
        self.assertEqual(store.waiting + store.dropped, len(entries) + len(more))
        self.assertGreater(store.dropped, 0)
        for entry in sent:
            store.confirm(entry.number)
        store.mark()
        # The gap is visible in the numbers of the subject.
        self.assertTrue(store.add(self.entries(store, 1)))
        store.close()

    def test_a_message_that_waits_for_ever_does_not_stop_the_others(self) -> None:
        store = self.store()
        first, waiting = self.entries(store, 1), list[Entry]()
        self.assertEqual(store.add(first), first)
        for _ in range(60):
            waiting += store.add(self.entries(store, 500, 2_000))
            for entry in waiting:
                store.confirm(entry.number)
            waiting = store.refill()
            store.mark()
        # Four times the size of the store.
        self.assertEqual((store.dropped, store.waiting - len(waiting)), (0, 1))
        self.assertLess(store.size, store.most / 4)
        self.crash(store)
        again = self.store()
        self.assertEqual(again.refill()[0], first[0])
        again.close()

    def test_a_full_disk_is_bridged_by_the_memory(self) -> None:
        store = self.store()
        first = store.add(self.entries(store, 10))

        class Full:
            def __init__(self, file: Any) -> None:
                self.file = file

            def write(self, data: bytes) -> int:
                self.file.write(data[:150])
                return 150

            def __getattr__(self, name: str) -> Any:
                return getattr(self.file, name)

        file = store._file
        store._file = Full(file)  # type: ignore[assignment]
        with self.assertLogs("uwb.bridges", "ERROR"):
            sent = store.add(self.entries(store, 10))
        self.assertEqual((len(sent), store.unsaved, store.dropped), (10, 10, 0))
        store._file, store._fails_until = file, 0
        last = store.add(self.entries(store, 10))
        self.crash(store)
        again = self.store()
        self.assertEqual((again.refill(), again.damaged), (first + last, 0))
        # Numbers that the disk does not have are not used again.
        self.assertGreaterEqual(again.numbered("uwb.hall.main.range.0")[0], last[-1].number + _store.JUMP)
        again.close()

    def test_damaged_files_are_read_as_far_as_they_go(self) -> None:
        store = self.store()
        entries = self.entries(store, 50)
        store.add(entries)
        self.crash(store)
        path = next((self.folder / "store").glob("*.log"))
        data = path.read_bytes()
        rng = random.Random(7)
        for _ in range(int(os.environ.get("UWB_MUTATIONS", 2_000)) // 100):
            changed = bytearray(data)
            for _ in range(rng.randrange(1, 4)):
                place = rng.randrange(len(changed))
                changed[place : place + rng.randrange(40)] = bytes(rng.randrange(256) for _ in range(rng.randrange(9)))
            path.write_bytes(changed)
            with self.subTest(changed=bytes(changed[:40])):
                again = self.store()
                read = again.refill()
                self.assertEqual(read, [entry for entry in entries if entry in read])
                self.assertGreater(len(read), 20)
                self.crash(again)
                for name in "state.json", "position":
                    (self.folder / "store" / name).unlink()

    def test_two_programs_do_not_share_a_store(self) -> None:
        store = self.store()
        with self.assertRaisesRegex(OSError, "--store of its own") as caught:
            self.store()
        self.assertEqual(caught.exception.errno, errno.EBUSY)
        store.close()


class BatchTests(unittest.TestCase):
    def test_inputs_of_a_pause_are_one_batch(self) -> None:
        feed = Feed([])
        feed.queue.put(1)

        def pause() -> None:
            for value in range(2, 6):
                feed.queue.put(value)

        self.assertEqual(feed.batch(3, pause), [1, 2, 3])
        self.assertEqual(feed.batch(3, lambda: None), [4, 5])


class FlightTests(unittest.TestCase):
    def entry(self, number: int, subject: str) -> Entry:
        return Entry(number, number, subject, b"")

    def test_one_message_of_a_subject_is_on_its_way(self) -> None:
        flight = Flight()
        flight.add([self.entry(1, "a"), self.entry(2, "a"), self.entry(3, "b")])
        taken = [flight.take(0.0), flight.take(0.0), flight.take(0.0)]
        self.assertEqual([entry and entry.number for entry in taken], [1, 3, None])
        self.assertEqual(flight.late(PATIENCE / 2), [])
        self.assertEqual([entry.number for entry in flight.late(PATIENCE)], [1, 3])
        self.assertEqual([entry.number for entry in flight.late(PATIENCE, is_new_connection=True)], [1, 3])
        self.assertIsNotNone(flight.confirm(1))
        self.assertIsNone(flight.confirm(1))
        self.assertEqual(flight.take(0.0), self.entry(2, "a"))

    def test_the_number_on_the_way_is_bounded(self) -> None:
        flight = Flight()
        flight.add([self.entry(index, str(index)) for index in range(2 * IN_FLIGHT)])
        self.assertEqual(sum(flight.take(0.0) is not None for _ in range(2 * IN_FLIGHT)), IN_FLIGHT)


class AnswerTests(unittest.TestCase):
    def test_only_a_number_of_the_stream_confirms(self) -> None:
        for data, expected in (
            (b'{"stream":"uwb-hall-range", "seq":7}', Answer.STORED),
            (b'{"stream":"uwb-hall-range","seq":7,"duplicate": true}', Answer.STORED),
            # A leader of before 2.11 answers so for a message that it has not stored.
            (b'{"stream":"uwb-hall-range","seq":0,"duplicate": true}', Answer.PENDING),
            (b'{"error":{"code":409,"err_code":10158,"description":"duplicate message id is in process"}}',
             Answer.PENDING),
            (b'{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}}',
             Answer.TOO_LONG),
            (b'{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"stream":"a","seq":0}',
             Answer.REFUSED),
            (b"[]", Answer.REFUSED), (b"", Answer.REFUSED),
        ):
            self.assertIs(outcome(Message("", "", b"", data)), expected, data)
        self.assertIs(outcome(Message("", "", b"NATS/1.0 503\r\n\r\n", b"")), Answer.NO_STREAM)


STREAM = (b'INFO {"server_name":"a","headers":true,"max_payload":1048576}\r\nPING\r\n+OK\r\n'
          b"MSG _INBOX.a.1 1 5\r\nhello\r\nMSG b 2 reply 0\r\n\r\n"
          b"HMSG c 1 16 18\r\nNATS/1.0 503\r\n\r\nok\r\n-ERR 'Stale Connection'\r\nPONG\r\n")


class ParserTests(unittest.TestCase):
    def shown(self, found: list[tuple[str, Any]]) -> list[Any]:
        return [(value.subject, value.reply, value.status, value.data) if isinstance(value, Message) else (name, value)
                for name, value in found]

    def test_pieces_of_any_length_have_the_same_operations(self) -> None:
        whole = self.shown(Parser().feed(STREAM))
        self.assertEqual(whole[2:5], [("_INBOX.a.1", "", 0, b"hello"), ("b", "reply", 0, b""), ("c", "", 503, b"ok")])
        self.assertEqual(whole[5:], [("-ERR", "Stale Connection"), ("PONG", None)])
        for size in range(1, 40):
            parser = Parser()
            found = [entry for start in range(0, len(STREAM), size) for entry in parser.feed(STREAM[start : start + size])]
            self.assertEqual(self.shown(found), whole)

    def test_damaged_bytes_are_refused_or_read(self) -> None:
        rng, refused = random.Random(3), 0
        for _ in range(int(os.environ.get("UWB_MUTATIONS", 5_000))):
            data = bytearray(STREAM)
            for _ in range(rng.randrange(1, 5)):
                place = rng.randrange(len(data))
                data[place : place + rng.randrange(4)] = rng.choice(
                    [b"", b"\r\n", b" ", b"9" * 30, b"-1", b"{", b"MSG ", bytes([rng.randrange(256)])])
            try:
                Parser().feed(bytes(data))
            except ValueError:
                refused += 1
        self.assertGreater(refused, 100)

    def test_a_size_without_bounds_is_refused(self) -> None:
        for line in b"MSG a 1 99999999999\r\n", b"HMSG a 1 9 5\r\n", b"MSG a 1 -5\r\n", b"x" * 100_000:
            with self.assertRaises(ValueError):
                Parser().feed(line)


class ClusterTests(Folder):
    def node(self, settings: str = "", streams: bool = True) -> Node:
        node = Node(self.folder, settings)
        self.addCleanup(node.close)
        if streams:
            made = node.run("--make-streams", "--replicas", 1)
            self.assertEqual(made.returncode, 0, made.stderr)
        return node

    def program(self, node: Node, *arguments: object) -> "subprocess.Popen[bytes]":
        program = subprocess.Popen(
            [sys.executable, "-m", "uwb.bridges.nats", "--server", node.url, "--site", "hall", "--area", "east",
             "--host", "here", "--store", str(self.folder / "store"), *map(str, arguments), "-"],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)

        def close() -> None:
            program.kill()
            program.communicate()
        self.addCleanup(close)
        return program

    def send(self, program: "subprocess.Popen[bytes]", data: bytes) -> None:
        assert program.stdin is not None
        program.stdin.write(data)
        program.stdin.flush()

    def check_whole(self, node: Node, count: int, repeats: int = 0) -> None:
        """Checks that each measurement is there, in the order of its tag, with few repeats."""
        found = node.read()
        numbers: dict[str, list[int]] = defaultdict(list)
        rounds: dict[str, list[int]] = defaultdict(list)
        for subject, message in found:
            if not numbers[subject] or message["sequence"] > numbers[subject][-1]:
                numbers[subject].append(message["sequence"])
                rounds[subject].append(message["value"]["measurement"]["sequence"])
        self.assertEqual(sorted(sum(rounds.values(), [])), list(range(count)))
        for subject, ordered in numbers.items():
            self.assertEqual(ordered, list(range(ordered[0], ordered[0] + len(ordered))))
            self.assertEqual(rounds[subject], sorted(rounds[subject]))
        self.assertLessEqual(len(found) - count, repeats)

    def test_messages_have_both_clocks_and_their_numbers(self) -> None:
        node = self.node()
        program = self.program(node)
        self.send(program, lines(0, 2))
        entered = json.dumps(change("cat", "entered", "lounge", 1.75e9)).encode()
        self.send(program, json.dumps(place("a/b.c", 1.5, 1.75e9)).encode() + b"\n" + entered + b"\n")
        _, errors = program.communicate()
        self.assertEqual((program.returncode, errors), (0, b""))
        (subject, message), (other, _) = node.read()
        self.assertEqual((subject, other), ("uwb.hall.east.range.0x0000", "uwb.hall.east.range.0x0001"))
        value = uwb.Measurement.from_json(message["value"])
        self.assertEqual(value, uwb.Measurement.from_json(measured(0, peer="0x0000", sequence=0)))
        self.assertEqual((message["utc_us"], message["monotonic_us"]),
                         (message["value"]["utc_us"], message["value"]["monotonic_us"]))
        self.assertEqual((message["host"], message["first"]), ("here", True))
        self.assertIn("utc_max_error_us", message)
        [(subject, message)] = node.read("place")
        self.assertRegex(subject, r"^uwb\.hall\.east\.place\.a_b_c_[0-9a-f]{8}$")
        self.assertEqual(message["value"]["position_m"], [1.5, 0, 1])
        [(subject, message)] = node.read("event")
        self.assertEqual((subject, message["value"]["zone"]), ("uwb.hall.east.event.cat", "lounge"))
        [(subject, message)] = node.read("host")
        self.assertEqual((subject, message["confirmed"]), ("uwb.hall.east.host.here", 4))

    def test_a_killed_server_loses_nothing(self) -> None:
        node = self.node()
        program = self.program(node)
        for index in range(5):
            self.send(program, lines(1_000 * index, 500))
            self.assertTrue(wait(lambda: node.count() >= 1_000 * index + 1))
            node.kill()
            self.send(program, lines(1_000 * index + 500, 500))
            node.start()
            self.assertTrue(wait(lambda: node.count() >= 1_000 * (index + 1)))
        program.communicate()
        self.assertEqual(program.returncode, 0)
        self.check_whole(node, 5_000)

    def test_a_server_that_does_not_answer_loses_nothing(self) -> None:
        node = self.node()
        program = self.program(node, "-v")
        self.send(program, lines(0, 1_000))
        self.assertTrue(wait(lambda: node.count() >= 1))
        node.pause()
        # More than the buffers of the system hold.
        self.send(program, lines(1_000, 5_000))
        errors = program.stderr
        assert errors is not None
        self.assertTrue(wait(lambda: b"does not answer" in errors.readline()))
        node.resume()
        program.communicate()
        self.assertEqual(program.returncode, 0)
        self.check_whole(node, 6_000)

    def test_a_killed_bridge_goes_on(self) -> None:
        node = self.node()
        node.kill()
        program = self.program(node)
        self.send(program, lines(0, 8_000))
        logs = self.folder / "store"
        size = len(lines(7_999, 1))
        # Each message is in the files at once.
        self.assertTrue(wait(lambda: sum(path.stat().st_size for path in logs.glob("*.log")) > 0.55 * 8_000 * size))
        self.assertTrue(wait(lambda: any(b'"sequence":7999' in path.read_bytes() for path in logs.glob("*.log"))))
        program.kill()
        program.communicate()
        node.start()
        program = self.program(node)
        self.send(program, lines(8_000, 100))
        self.assertTrue(wait(lambda: node.count() > 4_000))
        program.kill()
        program.communicate()
        last = self.program(node)
        last.communicate()
        self.assertEqual(last.returncode, 0)
        self.assertLessEqual(8_000, node.count())
        found = node.read()
        missing = set(range(8_000)) - {message["value"]["measurement"]["sequence"] for _, message in found}
        self.assertEqual(missing, set())

    def test_messages_wait_for_a_stream(self) -> None:
        node = self.node(streams=False)
        program = self.program(node)
        self.send(program, lines(0, 10))
        assert program.stderr is not None
        self.assertIn(b"--make-streams", program.stderr.readline())
        self.assertEqual(node.run("--make-streams", "--replicas", 1).returncode, 0)
        program.communicate()
        self.assertEqual(program.returncode, 0)
        self.check_whole(node, 10)

    def test_a_message_that_is_too_long_does_not_stop_the_others(self) -> None:
        node = self.node("max_payload: 8000")
        program = self.program(node)
        self.send(program, lines(0, 5))
        self.send(program, json.dumps(measured(0, peer="long", diagnostics="x" * 20_000)).encode() + b"\n")
        self.send(program, lines(5, 5))
        _, errors = program.communicate()
        self.assertEqual(program.returncode, 0, errors)
        self.check_whole(node, 10)
        self.assertEqual(node.read("host")[0][1]["refused"], 1)

    def test_hostile_names_are_levels_of_subjects(self) -> None:
        node = self.node()
        program = self.program(node)
        rng, valid = random.Random(5), [json.dumps(place("cat", 1)).encode(), json.dumps(measured(1)).encode()]
        self.send(program, b"".join(mutated(rng, valid).replace(b"\n", b"") + b"\n" for _ in range(2_000)))
        _, errors = program.communicate()
        self.assertEqual(program.returncode, 0, errors)
        subjects = {subject for subject, _ in node.read() + node.read("place")}
        self.assertGreater(len(subjects), 3)
        self.assertTrue(all(subject.count(".") == 4 for subject in subjects), subjects)

    def test_users_and_their_permissions(self) -> None:
        users = ('authorization { users: [ { user: root, password: root }, { user: uwb, password: "correct horse", '
                 'permissions: { publish: ["uwb.hall.west.>"], subscribe: ["_INBOX.>"] } } ] }')
        node = self.node(users, streams=False)
        (self.folder / "root").write_text("root\n")
        (self.folder / "password").write_text("correct horse\n")
        made = node.run("--user", "root", "--password-file", self.folder / "root", "--make-streams", "--replicas", 1)
        self.assertEqual(made.returncode, 0, made.stderr)
        wrong = node.run("--user", "uwb", "--password-file", self.folder / "root", "--check")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("--password-file", wrong.stderr)
        self.assertNotIn("horse", wrong.stderr)
        program = self.program(node, "--user", "uwb", "--password-file", self.folder / "password", "--drain", 0.5)
        self.send(program, lines(0, 1))
        _, errors = program.communicate()
        self.assertEqual(program.returncode, 75)
        self.assertIn(b"Permissions Violation for Publish to \"uwb.hall.east.range.0x0000\"", errors)
        self.assertIn(b"1 messages wait", errors)

    def test_tls_is_not_left_out(self) -> None:
        certificates(self.folder)
        plain = self.node(streams=False)
        ca = ("--ca", self.folder / "ca.pem", "--check", "--site", "hall", "--server")
        result = run(*ca, plain.url.replace("nats:", "tls:"))
        self.assertIn("has no TLS", result.stderr)
        for name, expected in ("right", "stream not found"), ("host", "mismatch"), ("old", "expired"):
            node = self.node(
                f"tls {{ cert_file: '{self.folder}/{name}.pem', key_file: '{self.folder}/{name}.key' }}", streams=False)
            result = run(*ca, node.url.replace("nats:", "tls:"))
            self.assertIn(expected, result.stderr + result.stdout)
            # A server that demands it gets it after nats://, too.
            self.assertIn(expected, (other := run(*ca, node.url)).stderr + other.stdout)

    def test_a_site_is_restored_from_a_backup(self) -> None:
        node = self.node()
        (self.folder / "lines").write_bytes(lines(0, 3_000))
        send = "--store", self.folder / "store", self.folder / "lines"
        self.assertEqual(node.run(*send).returncode, 0)
        before, copy = node.read(), self.folder / "copy"
        saved = node.run("--backup", copy)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.assertIn(f"uwb-hall-range: 3000 messages are in {copy}/uwb-hall-range", saved.stdout)
        self.assertEqual(oct(copy.stat().st_mode)[-3:], "700")
        refused = node.run("--restore", copy, "--replicas", 1)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("A stream that exists is not replaced.", refused.stderr)
        other = self.node(streams=False)
        restored = other.run("--restore", copy, "--replicas", 1)
        self.assertEqual((restored.returncode, restored.stdout.count("messages")), (0, 4), restored.stderr)
        self.assertEqual(other.run("--make-streams", "--replicas", 1).stdout.count("as it was"), 4)
        self.assertEqual(other.read(), before)
        # Numbers go on.
        self.assertEqual(other.run(*send).returncode, 0)
        self.assertEqual(other.read()[:-3_000], before)

    def test_a_damaged_backup_is_an_error(self) -> None:
        node, copy = self.node(), self.folder / "copy"
        self.assertEqual(node.run("--backup", copy).returncode, 0)
        part = copy / "uwb-hall-place" / "stream.tar.s2"
        part.write_bytes(part.read_bytes()[:-40])
        other = self.node(streams=False)
        restored = other.run("--restore", copy, "--replicas", 1)
        self.assertEqual(restored.returncode, 1)
        self.assertIn("uwb-hall-place cannot be restored", restored.stderr)
        (copy / "uwb-hall-range" / "backup.json").write_text("[]")
        self.assertIn("is not a backup", other.run("--restore", copy, "--replicas", 1).stderr)

    def test_the_check_names_the_next_step(self) -> None:
        node = self.node(streams=False)
        self.assertIn("--make-streams", node.run("--check").stdout)
        refused = node.run("--make-streams")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--replicas 1", refused.stderr)
        self.assertEqual(node.run("--make-streams", "--replicas", 1).stdout.count(": made"), 6)
        self.assertEqual(node.run("--make-streams", "--replicas", 1).stdout.count("as it was"), 6)
        self.assertEqual(node.run("--make-streams", "--replicas", 1, "--stream-size", 9).stdout.count("changed"), 6)
        checked = node.run("--check", "--replicas", 1)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        self.assertIn("There is no problem.", checked.stdout)
        self.assertIn("num_replicas is 1, not 3", node.run("--check").stdout)
        node.kill()
        self.assertEqual(node.run("--check").returncode, 1)


class MqttTests(Folder):
    """uwb-mqtt with the MQTT ports of a cluster."""

    def test_states_after_the_server_of_a_bridge_was_killed(self) -> None:
        ports = {name: (free_port(), free_port(), free_port()) for name in ("one", "two", "three")}
        routes = ", ".join(f"nats-route://127.0.0.1:{route}" for _, route, _ in ports.values())
        nodes = {}
        for name, (client, route, mqtt) in ports.items():
            nodes[name] = Node(
                self.folder, f"server_name: {name}\nlisten: 127.0.0.1:{client}\njetstream {{ store_dir: '{self.folder}/{name}' }}\n"
                f"cluster {{ name: uwb, listen: 127.0.0.1:{route}, routes: [{routes}] }}\nmqtt {{ listen: 127.0.0.1:{mqtt} }}\n",
                client, whole=True)
            self.addCleanup(nodes[name].close)
        subscriber = Subscriber(ports["two"][2])
        self.addCleanup(subscriber.close)
        program = Program("--protocol", "3.1.1", port=ports["one"][2])
        self.addCleanup(program.kill)
        program.send(place("cat", 1), change("cat", "entered", "kitchen"))
        self.assertTrue(wait(lambda: subscriber.newest.get("uwb/tag/cat/room") == "kitchen", 30), program.log)
        nodes["one"].kill()
        program.send(change("cat", "entered", "hall", 1))
        nodes["one"].start()
        self.assertTrue(wait(lambda: subscriber.newest.get("uwb/tag/cat/room") == "hall", 60), program.log)
        late = Subscriber(ports["three"][2])
        self.addCleanup(late.close)
        self.assertTrue(wait(lambda: late.newest.get("uwb/tag/cat/room") == "hall", 30), program.log)
        # A server that is killed cannot send the last wills of its clients.
        states = [text for _, topic, text, _ in subscriber.messages if topic == "uwb/bridge/state"]
        self.assertNotIn("offline", states)


class DocumentTests(Folder):
    """The page Several machines: NATS JetStream."""

    def block(self, language: str) -> str:
        page = pathlib.Path(__file__).parents[3] / "Documentation/swift-uwb.docc/NATS.md"
        return page.read_text().partition(f"```{language}\n")[2].partition("```")[0]

    def test_three_nodes_go_on_without_their_leader(self) -> None:
        names = ("one", "two", "three")
        ports = {name: (free_port(), free_port()) for name in names}
        nodes = {}
        for name in names:
            text = self.block("conf").replace("server_name: one", f"server_name: {name}")
            text = text.replace("0.0.0.0:4222", f"127.0.0.1:{ports[name][0]}")
            text = text.replace("0.0.0.0:6222", f"127.0.0.1:{ports[name][1]}")
            for other in names:
                text = text.replace(f"@{other}:6222", f"@127.0.0.1:{ports[other][1]}")
            text = text.replace("/var/lib/nats", str(self.folder / name))
            nodes[name] = Node(self.folder, text, ports[name][0], whole=True)
            self.addCleanup(nodes[name].close)
        servers = [part for node in nodes.values() for part in ("--server", node.url)]
        (self.folder / "admin").write_text("CHANGE-THIS-TOO\n")
        (self.folder / "uwb").write_text("CHANGE-THIS-AS-WELL\n")
        admin = [*servers, "--site", "hall", "--user", "admin", "--password-file", self.folder / "admin"]
        self.assertTrue(wait(lambda: run(*admin, "--make-streams").returncode == 0))
        checked = run(*admin, "--check")
        self.assertEqual((checked.returncode, "There is no problem." in checked.stdout), (0, True), checked.stdout)
        program = subprocess.Popen(
            [sys.executable, "-m", "uwb.bridges.nats", *map(str, servers), "--site", "hall", "--user", "uwb",
             "--password-file", str(self.folder / "uwb"), "--store", str(self.folder / "store"), "-v", "-"],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert program.stdin is not None and program.stderr is not None
        program.stdin.write(lines(0, 1_000))
        program.stdin.flush()
        url = program.stderr.readline().split()[-1].decode()
        victim = next(node for node in nodes.values() if node.url == url)
        victim.kill()
        program.stdin.write(lines(1_000, 1_000))
        _, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, errors)
        # The cluster may still choose another leader of its streams.
        self.assertTrue(wait(lambda: " is away. Start it" in run(*admin, "--check").stdout))
        self.assertIn("uwb-hall-range: 2000 messages", run(*admin, "--check").stdout)
        victim.start()
        self.assertTrue(wait(lambda: not re.search("is away|are? late|call failed", run(*admin, "--check").stdout)))

    def test_the_reader_prints_values(self) -> None:
        node = Node(self.folder)
        self.addCleanup(node.close)
        self.assertEqual(node.run("--make-streams", "--replicas", 1).returncode, 0)
        (self.folder / "lines").write_bytes(lines(0, 5))
        sent = node.run("--store", self.folder / "store", self.folder / "lines")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        text = self.block("python").replace("nats://one", node.url).replace("print(", "print(flush=True, *[").replace(
            '["value"])', '["value"]])')
        reader = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
        assert reader.stdout is not None
        for index in range(5):
            self.assertIn(f"'sequence': {index}", reader.stdout.readline().decode())
        reader.kill()
        reader.communicate()


class ReportTests(unittest.TestCase):
    def problems(self, **changed: object) -> str:
        report: dict[str, Any] = {
            "host": "a", "utc_us": 1_000_000_000, "utc_max_error_us": 900, "waiting": 0, "size": 1, "most": 100,
            "dropped": 0, "unsaved": 0}
        return " ".join(host_problems({**report, **changed}, [], 1_001))

    def test_each_problem_of_a_host_has_a_next_step(self) -> None:
        self.assertEqual(self.problems(), "")
        for changed, step in (
            ({"utc_us": 900_000_000}, "Start uwb-nats"), ({"utc_us": 1_060_000_000}, "59 s ahead"),
            ({"utc_max_error_us": None}, "chrony"), ({"utc_max_error_us": 500_000}, "500 ms"), ({"size": 90}, "90 % full"),
            ({"dropped": 3}, "--store-size"), ({"unsaved": 3}, "Free it"),
        ):
            self.assertIn(step, self.problems(**changed))


class CredentialTests(unittest.TestCase):
    def test_the_nonce_is_signed(self) -> None:
        import base64

        import nkeys
        seed = b"SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
        text = ("-----BEGIN NATS USER JWT-----\nabc.def.g_h\n------END NATS USER JWT------\n\n"
                f"-----BEGIN USER NKEY SEED-----\n{seed.decode()}\n------END USER NKEY SEED------\n")
        found = signed(text, "nonce")
        self.assertEqual(found["jwt"], "abc.def.g_h")
        signature = base64.urlsafe_b64decode(found["sig"] + "==")
        self.assertTrue(nkeys.from_seed(bytearray(seed)).verify(b"nonce", signature))
        with self.assertRaisesRegex(OSError, "--credentials"):
            signed("", "nonce")


if __name__ == "__main__":
    unittest.main()
