# SPDX-License-Identifier: Apache-2.0
"""The client without a service: messages, values, and the fake service."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import tempfile
import unittest
from dataclasses import FrozenInstanceError, fields
from datetime import timezone

import uwb
import uwb.aio
from uwb._protocol import read_profile
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
        self.assertIn("queue", str(other.exception))

    def test_a_profile_may_have_comments(self) -> None:
        text = """// one
        { session_id: 42, /* two, */ "parameters": { "SLOT_DURATION": "2 ms // no comment", }, }"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertEqual(
                read_profile(path),
                {"session_id": 42, "parameters": {"SLOT_DURATION": "2 ms // no comment"}},
            )
            with open(path, "w", encoding="utf-8") as file:
                file.write("[")
            self.assertRaises(ValueError, read_profile, path)


class ModelTests(unittest.TestCase):
    def test_a_measurement(self) -> None:
        m = uwb.Measurement.from_json(REPLY)
        self.assertEqual((m.distance, m.sigma, m.lost), (3.0, 0.02, 3))
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
            # Only its own: not those of a structure in it.
            names = re.findall(r"^  (\w+):", body[1], re.M)
            own = {entry.name for entry in fields(kind)}
            self.assertLessEqual(set(names), own)

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
                        numbers.append(m.sequence)
                        if len(numbers) == 5:
                            break
                    self.assertEqual(numbers, [0, 1, 2, 3, 4])

        with FakeService(recording(20)) as fake:
            asyncio.run(main(fake.path))

    def test_no_service(self) -> None:
        with self.assertRaises(uwb.ConnectionLost) as caught:
            uwb.connect("/nonexistent/control")
        self.assertIn("/nonexistent/control", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
