# SPDX-License-Identifier: Apache-2.0
"""The client without a service: messages, values, and the fake service."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import random
import re
import signal
import socket
import sys
import tempfile
import threading
import unittest
import unittest.mock
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import FrozenInstanceError, fields
from datetime import timezone
from types import FrameType
from typing import Any

import uwb
import uwb.aio
from uwb._protocol import profile_parameters, try_to_connect
from uwb.testing import FakeService

REPLY = {
    "chip": "/dev/ttyACM0",
    "session_id": 42,
    "monotonic_us": 1_500_000,
    "utc_us": 1_800_000_000_000_001,
    "lost": 3,
    "measurement": {
        "time_s": 1,
        "session": 42,
        "sequence": 7,
        "peer": "0x0001",
        "status": "OK",
        "status_code": 0,
        "distance_cm": 301,
        "estimate_m": 3,
        "estimate_sd_m": 0.02,
        "estimate_short_sd_m": 0.01,
        "nlos": None,
        "of_later_versions": {"a": [1]},
    },
}


def recording(count: int) -> uwb.Recording:
    def reply(number: int) -> dict[str, object]:
        measurement = {**REPLY["measurement"], "sequence": number}  # type: ignore[dict-item]
        return {**REPLY, "lost": 0, "measurement": measurement}

    return uwb.Recording.from_json(reply(number) for number in range(count))


class ProtocolTests(unittest.TestCase):
    def test_a_call_is_one_message(self) -> None:
        message = uwb.Protocol().call("Monitor", more=True, peer="0x0001", chip=None)
        self.assertEqual(message.count(0), 1)
        self.assertEqual(
            json.loads(message[:-1]),
            {"method": "org.swift-uwb.Chips.Monitor", "parameters": {"peer": "0x0001"}, "more": True},
        )

    def test_replies_may_be_cut_anywhere(self) -> None:
        wire = b"".join(
            json.dumps(reply).encode() + b"\0"
            for reply in [
                {"parameters": {"a": "\N{SNOWMAN}"}, "continues": True},
                {"parameters": None},
                {},
                {"error": "org.swift-uwb.Chips.Denied", "parameters": {"reason": "No."}},
            ]
        )
        whole = uwb.Protocol().receive(wire)
        self.assertEqual(len(whole), 4)
        self.assertTrue(whole[0].continues)
        self.assertEqual(whole[1].parameters, {})
        with self.assertRaises(uwb.Denied):
            whole[3].result()
        protocol = uwb.Protocol()
        self.assertEqual([r for i in range(len(wire)) for r in protocol.receive(wire[i : i + 1])], whole)
        chance = random.Random(1)
        for _ in range(200):
            protocol, rest, found = uwb.Protocol(), wire, []
            while rest:
                count = chance.randint(1, len(rest))
                found += protocol.receive(rest[:count])
                rest = rest[count:]
            self.assertEqual(found, whole)

    def test_what_is_no_reply_is_said(self) -> None:
        for wire in [b"\0", b"[]\0", b"{\0", b'{"error":1}\0', b'{"parameters":[]}\0', b"\xff\0",
                     b"[" * 100_000 + b"\0"]:
            with self.assertRaises(uwb.ProtocolError, msg=repr(wire[:20])):
                uwb.Protocol().receive(wire)

    def test_noise_raises_nothing_else(self) -> None:
        chance = random.Random(2)
        for _ in range(2_000):
            wire = bytearray(json.dumps({"parameters": REPLY}).encode() + b"\0")
            for _ in range(chance.randint(1, 4)):
                wire[chance.randrange(len(wire))] = chance.randrange(256)
            try:
                uwb.Protocol().receive(bytes(wire))
            except uwb.ProtocolError:
                pass

    def test_errors_say_what_to_do(self) -> None:
        differences = [{"parameter": "SLOTS_PER_RR", "present": "6", "wanted": "8"}]
        parameters = {"session_id": 42, "differences": differences}
        with self.assertRaises(uwb.Conflict) as caught:
            uwb.Reply(parameters, error="org.swift-uwb.Chips.Conflict").result()
        self.assertIn("SLOTS_PER_RR is 6, not 8", str(caught.exception))
        with self.assertRaises(uwb.ServiceError) as other:
            uwb.Reply({"parameter": "queue"}, error="org.varlink.service.InvalidParameter").result()
        self.assertIn("does not accept the parameter queue: ", str(other.exception))

    def test_a_failed_connection_has_a_next_step(self) -> None:
        for error, text in [
            (PermissionError(13, "Permission denied"), "Ask to be added to its group."),
            (FileNotFoundError(2, "No such file"), "/run/uwbd: No such file. Start uwbd, or name its"),
            (OSError("AF_UNIX path too long"), "/run/uwbd: AF_UNIX path too long. Start uwbd"),
        ]:
            connection = unittest.mock.Mock(spec=socket.socket)
            connection.connect.side_effect = error
            with self.assertRaises(uwb.ConnectionLost) as caught:
                try_to_connect(connection, "/run/uwbd")
            self.assertIn(text, str(caught.exception))

    def test_a_profile_is_members_or_the_text_of_a_file(self) -> None:
        self.assertEqual(profile_parameters({"session_id": 42}), {"profile": {"session_id": 42}})
        text = "\ufeff{ session_id: 0x2A, // \N{SNOWMAN}\r\n 'parameters': {}, }\0"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile")
            with open(path, "wb") as file:
                file.write(text.encode() + b"// B\xfcro")
            self.assertEqual(profile_parameters(path), {"profile_text": text + "// B\ufffdro"})
            with self.assertRaises(FileNotFoundError):
                profile_parameters(os.path.join(folder, "missing"))


class ModelTests(unittest.TestCase):
    def test_a_measurement(self) -> None:
        m = uwb.Measurement.from_json(REPLY)
        self.assertEqual((m.distance, m.sigma, m.lost), (3.0, 0.02, 3))
        self.assertEqual(m.short_term_sigma, 0.01)
        self.assertIsInstance(m.distance, float)
        self.assertEqual(m.monotonic_ns, 1_500_000_000)
        self.assertIs(m.time.tzinfo, timezone.utc)
        self.assertEqual(m.time.microsecond, 1)
        self.assertEqual(m.extra, {"of_later_versions": {"a": [1]}})
        self.assertIsNone(m.velocity_m_s)
        with self.assertRaises(FrozenInstanceError):
            m.peer = "0x0002"  # type: ignore[misc]
        self.assertEqual(uwb.Measurement.from_json(m.to_json()), m)

    def test_old_services_say_less(self) -> None:
        self.assertIsNone(uwb.Measurement.from_json({}).distance)
        self.assertEqual(uwb.Chip.from_json({"chip": "a"}).sessions, ())

    def test_the_fields_are_those_of_the_service(self) -> None:
        place = os.environ.get("UWB_INTERFACE")
        if place is None:
            self.skipTest("UWB_INTERFACE does not name the interface's description")
        with open(place, encoding="utf-8") as file:
            text = re.sub(r"#.*", "", file.read())
        for kind in (uwb.Measurement, uwb.Info, uwb.Chip):
            body = re.search(rf"type {kind.__name__} \((.*?)\n\)", text, re.S)
            assert body is not None
            # Only the type's own members, not the members of a structure in it.
            names = re.findall(r"^  (\w+):", body[1], re.M)
            own = {entry.name for entry in fields(kind)}
            self.assertLessEqual(set(names), own)

    def test_start_has_the_parameters_of_the_service(self) -> None:
        place = os.environ.get("UWB_INTERFACE")
        if place is None:
            self.skipTest("UWB_INTERFACE does not name the interface's description")
        with open(place, encoding="utf-8") as file:
            body = re.search(r"^method Start\((.*?)\) ->", file.read(), re.S | re.M)
        assert body is not None
        kinds = dict(re.findall(r"(\w+): (\S+?),?\s", body[1]))
        self.assertEqual((kinds.get("profile"), kinds.get("profile_text")), ("?object", "?string"))
        self.assertEqual((kinds.get("session_id"), kinds.get("peer")), ("?int", "?string"))

    def test_a_start_names_one_session(self) -> None:
        self.assertEqual(profile_parameters(None, 0)["session_id"], 0)
        self.assertEqual(profile_parameters(None, peer="0x0001")["peer"], "0x0001")
        with self.assertRaises(TypeError):
            profile_parameters(None)
        with self.assertRaises(TypeError):
            profile_parameters({}, 1)

    def test_a_recording_is_kept(self) -> None:
        found = recording(3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "walk.jsonl")
            found.save(path)
            self.assertEqual(uwb.Recording.load(path), found)


class FakeServiceTests(unittest.TestCase):
    def test_a_program_can_be_tried(self) -> None:
        with FakeService(recording(20)) as fake, uwb.connect(fake.path) as service:
            self.assertEqual(service.record(count=10)[9].sequence, 9)
            self.assertEqual(len(service.record(seconds=30)), 20)
            self.assertEqual(service.chips()[0].chip, "fake")
            with service.start({"session_id": 7}) as session:
                found = []
                with self.assertRaises(uwb.SessionEnded):
                    for m in session.measurements():
                        found.append(m)
                self.assertEqual([m.session_id for m in found], [7] * 20)
            self.assertEqual(fake.started, [{"session_id": 7}])

    def test_asyncio(self) -> None:
        async def main(path: str) -> None:
            async with uwb.aio.connect(path) as service:
                chips, info = await asyncio.gather(service.chips(), service.describe())
                self.assertEqual((chips[0].chip, info.family), ("fake", "fake"))
                async with await service.start({"session_id": 7}) as session:
                    numbers = []
                    async for m in session.measurements():
                        assert isinstance(m, uwb.Measurement)
                        numbers.append(m.sequence)
                        if len(numbers) == 5:
                            break
                    self.assertEqual(numbers, [0, 1, 2, 3, 4])

        with FakeService(recording(20)) as fake:
            asyncio.run(main(fake.path))

    def test_a_profile_may_be_a_file(self) -> None:
        text = "// session_id: 1\n{ session_id: 0x2A, }"

        async def main(path: str, profile: str) -> None:
            async with uwb.aio.connect(path) as service, await service.start(profile) as session:
                self.assertEqual(session.session_id, 42)

        with FakeService([]) as fake, uwb.connect(fake.path) as service:
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                with service.start(file.name) as session:
                    self.assertEqual(session.session_id, 42)
                asyncio.run(main(fake.path, file.name))
                self.assertEqual(fake.started, [text, text])
                file.truncate(0)
                self.assertRaises(uwb.InvalidProfile, service.start, file.name)
            self.assertRaises(FileNotFoundError, service.start, file.name)

    def test_no_service(self) -> None:
        with self.assertRaises(uwb.ConnectionLost) as caught:
            uwb.connect("/nonexistent/control")
        self.assertIn("/nonexistent/control", str(caught.exception))


class LateService(FakeService):
    """Holds back what a test wants, and knows which connection holds which session."""

    def __init__(self) -> None:
        super().__init__(recording(20))
        #: The number of octets of the next reply to a method that are sent before `go`.
        self.late: dict[str, int] = {}
        #: The methods of such replies, once these octets are sent.
        self.arrived: queue.Queue[str] = queue.Queue()
        self.go = threading.Event()
        #: Whether the service reads calls.
        self.reads = threading.Event()
        self.reads.set()
        #: The open connections.
        self.connections = 0
        self._sessions: dict[int, list[int]] = {}
        self._change = threading.Condition()

    def __enter__(self) -> LateService:
        super().__enter__()
        return self

    def _serve(self, connection: socket.socket) -> None:
        mine: list[int] = []
        with self._change:
            self.connections += 1
            self._sessions[threading.get_ident()] = mine
        rest = b""
        try:
            while data := self._read(connection):
                *messages, rest = (rest + data).split(b"\0")
                for message in messages:
                    self._reply(connection, json.loads(message), mine)
        except OSError:
            pass
        with self._change:
            self.connections -= 1
            del self._sessions[threading.get_ident()]
            self._holders.pop(threading.get_ident(), None)
            self._change.notify_all()

    def _read(self, connection: socket.socket) -> bytes:
        self.reads.wait()
        return connection.recv(65_536)

    def _reply(self, connection: socket.socket, call: dict[str, Any], mine: list[int]) -> None:
        method = call["method"].rpartition(".")[2]
        parameters = call.get("parameters", {})
        sent = self.late.pop(method, None)
        for reply in self._answers(call):
            if method == "Start" and parameters["profile"]["session_id"] not in mine:
                mine.append(parameters["profile"]["session_id"])
            elif method == "Stop" and parameters["session_id"] not in mine:
                reply = {"error": "org.swift-uwb.Chips.NoSession", "parameters": {}}
            elif method == "Stop":
                mine.remove(parameters["session_id"])
            data = json.dumps(reply).encode() + b"\0"
            if sent is not None:
                connection.sendall(data[:sent])
                self.arrived.put(method)
                self.go.wait()
                data = data[sent:]
            connection.sendall(data)

    def waits_for(self, sessions: list[int]) -> bool:
        """Whether these sessions are held at some time."""
        def held() -> bool:
            return sorted(sum(self._sessions.values(), [])) == sessions

        with self._change:
            return self._change.wait_for(held, 60)


@contextmanager
def full(folder: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The path of a service that accepts no more connections, and the end of that."""
    path = os.path.join(folder, "full")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(0)
        waiting = []
        with suppress(BlockingIOError):
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                waiting[-1].connect(path)

        def serve() -> None:
            info = {"parameters": {"interfaces": ["org.swift-uwb.Chips"], "version": "late"}}
            with suppress(OSError):
                while True:
                    accepted, _ = listening.accept()
                    with accepted:
                        while accepted.recv(65_536):
                            accepted.sendall(json.dumps(info).encode() + b"\0")

        def accept() -> None:
            for one in waiting:
                one.close()
            threading.Thread(target=serve, daemon=True).start()

        try:
            yield path, accept
        finally:
            for one in waiting:
                one.close()
            listening.shutdown(socket.SHUT_RDWR)


class LateTests(unittest.TestCase):
    """Calls that are given up, and what they have begun."""

    def given_up(self, give_up: Callable[[uwb.Client, LateService], None], timeout: float | None) -> None:
        """The client works after a call that is given up before or in the middle of its reply."""
        for octets in (0, 10):
            with LateService() as fake, uwb.connect(fake.path, timeout=timeout) as service:
                session = service.start({"session_id": 7})
                fake.late = {"Describe": octets}
                give_up(service, fake)
                fake.go.set()
                self.assertEqual([chip.chip for chip in service.chips()], ["fake"])
                self.assertEqual(service.describe().family, "fake")
                self.assertTrue(fake.waits_for([7]))
                session.stop()
                self.assertTrue(fake.waits_for([]))

    def test_a_call_that_times_out_owes_nothing(self) -> None:
        def give_up(service: uwb.Client, fake: LateService) -> None:
            with self.assertRaises(TimeoutError) as caught:
                service.describe()
            self.assertIn("Describe", str(caught.exception))

        self.given_up(give_up, 0.5)

    def test_a_call_that_is_interrupted_owes_nothing(self) -> None:
        def give_up(service: uwb.Client, fake: LateService) -> None:
            def interrupt() -> None:
                fake.arrived.get()
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            thread = threading.Thread(target=interrupt)
            thread.start()
            try:
                with self.assertRaises(KeyboardInterrupt):
                    service.describe()
            finally:
                thread.join()
                signal.signal(signal.SIGINT, before)

        self.given_up(give_up, 60)

    def test_a_start_that_times_out_starts_nothing(self) -> None:
        with LateService() as fake, uwb.connect(fake.path, timeout=0.5) as service:
            service.start({"session_id": 7})
            fake.late = {"Start": 0}
            with self.assertRaises(TimeoutError):
                service.start({"session_id": 8})
            fake.go.set()
            self.assertTrue(fake.waits_for([7]))
            self.assertEqual(service.start({"session_id": 9}).session_id, 9)
            self.assertTrue(fake.waits_for([7, 9]))

    def test_a_stop_that_times_out_stops(self) -> None:
        with LateService() as fake, uwb.connect(fake.path, timeout=0.5) as service:
            service.start({"session_id": 7})
            session = service.start({"session_id": 8})
            fake.late = {"Stop": 0}
            with self.assertRaises(TimeoutError):
                session.stop()
            fake.go.set()
            self.assertTrue(fake.waits_for([7]))
            with self.assertRaises(uwb.NoSession):
                session.stop()

    def test_a_call_that_is_sent_in_part_spoils_nothing(self) -> None:
        with LateService() as fake, uwb.connect(fake.path, timeout=0.5) as service:
            service.start({"session_id": 7})
            fake.reads.clear()
            with self.assertRaises(TimeoutError):
                service.start({"session_id": 8, "long": "x" * 10_000_000})
            fake.reads.set()
            self.assertEqual(service.chips()[0].chip, "fake")
            self.assertTrue(fake.waits_for([7]))

    def test_ctrl_c_at_every_line(self) -> None:
        """Raises KeyboardInterrupt before each line of the client in its turn."""
        file = sys.modules[uwb.Client.__module__].__file__
        raised = True
        left = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left, raised
            if frame.f_code.co_filename != file:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    raised = True
                    raise KeyboardInterrupt
            return trace

        lines = 0
        with LateService() as fake:
            while raised:
                lines += 1
                with uwb.connect(fake.path, timeout=60) as service:
                    service.start({"session_id": 6})
                    left, raised = lines, False
                    session = None
                    sys.settrace(trace)
                    try:
                        service.describe()
                        session = service.start({"session_id": 7})
                        session.stop()
                    except KeyboardInterrupt:
                        pass
                    finally:
                        sys.settrace(None)
                    self.assertEqual([chip.chip for chip in service.chips()], ["fake"], lines)
                    if session:
                        with suppress(uwb.NoSession, uwb.ConnectionLost):
                            session.stop()
                    self.assertTrue(fake.waits_for([6]), lines)
                self.assertTrue(fake.waits_for([]), lines)
        self.assertGreater(lines, 50)

    def test_a_client_that_was_closed_starts_nothing(self) -> None:
        with LateService() as fake:
            with uwb.connect(fake.path) as service:
                service.start({"session_id": 7})
            self.assertTrue(fake.waits_for([]))
            with self.assertRaises(uwb.ConnectionLost) as caught:
                service.start({"session_id": 8})
            self.assertIn("closed", str(caught.exception))

    def test_a_start_in_a_client_that_is_closed_meanwhile(self) -> None:
        with LateService() as fake, uwb.connect(fake.path) as service:
            fake.late = {"Start": 0}

            def close() -> None:
                fake.arrived.get()
                service.close()
                fake.go.set()

            thread = threading.Thread(target=close)
            thread.start()
            with self.assertRaises(uwb.ConnectionLost):
                service.start({"session_id": 7})
            thread.join()
            self.assertTrue(fake.waits_for([]))

    def test_each_start_of_a_session_has_a_stop_of_its_own(self) -> None:
        with LateService() as fake, uwb.connect(fake.path) as service:
            first, second = [service.start({"session_id": 7}) for _ in range(2)]
            self.assertTrue(fake.waits_for([7, 7]))
            second.stop()
            self.assertTrue(fake.waits_for([7]))
            with self.assertRaises(uwb.NoSession):
                second.stop()
            self.assertTrue(fake.waits_for([7]))
            first.stop()
            self.assertTrue(fake.waits_for([]))
            # By its ID, a session is stopped as often as it was started.
            for _ in range(2):
                service.start({"session_id": 7})
            for left in [7], []:
                service.stop(7)
                self.assertTrue(fake.waits_for(left))

    def test_a_new_session_replaces_the_starts_before_it(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service, uwb.aio.connect(fake.path) as other:
                await service.start({"session_id": 7})
                await other.end(7)
                async with await service.start({"session_id": 7}):
                    self.assertTrue(await asyncio.to_thread(fake.waits_for, [7]))
                    self.assertEqual(len(service._held), 1)

        with LateService() as fake, uwb.connect(fake.path) as service:
            service.start({"session_id": 7})
            with uwb.connect(fake.path) as other:
                other.end(7)
            with service.start({"session_id": 7}) as session:
                self.assertFalse(session.joined)
                self.assertTrue(fake.waits_for([7]))
                self.assertEqual(len(service._held), 1)
        with LateService() as fake:
            asyncio.run(main(fake))

    def test_each_start_of_a_session_has_a_stop_of_its_own_in_asyncio(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                async with await service.start({"session_id": 7}) as first:
                    async with await service.start({"session_id": 7}):
                        self.assertTrue(fake.waits_for([7, 7]))
                    self.assertTrue(fake.waits_for([7]))
                    await service._restore()
                self.assertTrue(fake.waits_for([]))
                with self.assertRaises(uwb.NoSession):
                    await first.stop()

        with LateService() as fake:
            asyncio.run(main(fake))

    def test_a_full_queue_is_no_missing_service(self) -> None:
        with tempfile.TemporaryDirectory() as folder, full(folder) as (path, accept):
            with self.assertRaises(TimeoutError) as caught:
                uwb.connect(path, timeout=0.2)
            self.assertIn(path, str(caught.exception))
            timer = threading.Timer(0.1, accept)
            timer.start()
            with uwb.connect(path, timeout=60) as service:
                self.assertEqual(service.version, "late")
            timer.join()

    def test_asyncio_waits_while_the_queue_is_full(self) -> None:
        async def main(path: str, accept: Callable[[], None]) -> None:
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(uwb.aio.connect(path).__aenter__(), 0.2)
            asyncio.get_running_loop().call_later(0.1, accept)
            async with uwb.aio.connect(path) as service:
                self.assertEqual(service.version, "late")

        with tempfile.TemporaryDirectory() as folder, full(folder) as (path, accept):
            asyncio.run(main(path, accept))

    def test_a_cancelled_call_ends_no_session(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                session = await service.start({"session_id": 7})
                for octets in (0, 10):
                    fake.late = {"Describe": octets}
                    call = asyncio.create_task(service.describe())
                    # Waits for its turn.
                    other = asyncio.create_task(service.describe())
                    await asyncio.to_thread(fake.arrived.get)
                    other.cancel()
                    call.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await call
                    fake.go.set()
                    self.assertEqual([chip.chip for chip in await service.chips()], ["fake"])
                    fake.go.clear()
                self.assertTrue(await asyncio.to_thread(fake.waits_for, [7]))
                await session.stop()
                self.assertTrue(await asyncio.to_thread(fake.waits_for, []))

        with LateService() as fake:
            asyncio.run(main(fake))

    def test_a_cancelled_start_starts_nothing(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                await service.start({"session_id": 7})
                fake.late = {"Start": 0}
                call = asyncio.create_task(service.start({"session_id": 8}))
                await asyncio.to_thread(fake.arrived.get)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                fake.go.set()
                self.assertTrue(await asyncio.to_thread(fake.waits_for, [7]))
                async with await service.start({"session_id": 9}):
                    self.assertTrue(await asyncio.to_thread(fake.waits_for, [7, 9]))
                self.assertTrue(await asyncio.to_thread(fake.waits_for, [7]))

        with LateService() as fake:
            asyncio.run(main(fake))

    def test_a_cancelled_stop_stops(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                await service.start({"session_id": 7})
                session = await service.start({"session_id": 8})
                fake.late = {"Stop": 0}
                call = asyncio.create_task(session.stop())
                await asyncio.to_thread(fake.arrived.get)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                fake.go.set()
                self.assertTrue(await asyncio.to_thread(fake.waits_for, [7]))

        with LateService() as fake:
            asyncio.run(main(fake))

    def test_many_calls_at_once_have_one_connection(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                found = await asyncio.gather(*(service.chips() for _ in range(300)))
                self.assertTrue(all(chips[0].chip == "fake" for chips in found))
                self.assertEqual(fake.connections, 1)

        with LateService() as fake:
            asyncio.run(main(fake))


if __name__ == "__main__":
    unittest.main()
