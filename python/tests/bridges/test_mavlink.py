# SPDX-License-Identifier: Apache-2.0
"""uwb-mavlink with an autopilot of this test, which decodes by pymavlink.

UWB_MEASUREMENTS=100000 is the long form.
No flight stack is here: messages and frames are proven, their fusion is not.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import time
import unittest
from datetime import datetime, timezone
from typing import Any

import uwb
from uwb.bridges._input import Place, SiteChange, parse
# Before pymavlink: this module chooses version 2.
from uwb.bridges.mavlink import PX4, Frame, Vehicle, landing_target, parsed
from pymavlink import mavutil
from brokers import free_port, mutated, place, wait

COUNT = min(int(os.environ.get("UWB_MEASUREMENTS", "2000")), 100_000)
ARDUPILOT = 3
mavlink: Any = mavutil.mavlink


def vehicle(*arguments: str) -> Vehicle:
    return Vehicle(parsed(["--connect", "none", "--tag", "cat", "--north", "90", *arguments]))


def moved(tag: str, x: float) -> dict[str, Any]:
    return place(tag, x, time.time())


class Autopilot:
    """The other end of the connection, with everything that it has received."""

    def __init__(self, kind: int) -> None:
        self.port, self.received = free_port(), list[Any]()
        self.link: Any = mavutil.mavlink_connection(f"udpin:127.0.0.1:{self.port}", source_system=7)
        self._kind = kind

    def beat(self) -> None:
        self.link.mav.heartbeat_send(2, self._kind, 0, 0, 4)

    def all(self, kind: str) -> list[Any]:
        while (message := self.link.recv_msg()) is not None:
            self.received.append(message)
        return [message for message in self.received if message.get_type() == kind]


class ProgramTests(unittest.TestCase):
    def program(self, autopilot: Autopilot, *arguments: str) -> "subprocess.Popen[bytes]":
        program = subprocess.Popen(
            [sys.executable, "-m", "uwb.bridges.mavlink", "--connect", f"udpout:127.0.0.1:{autopilot.port}",
             *arguments, "-"], stdin=subprocess.PIPE)

        def close() -> None:
            program.kill()
            program.wait()
            assert program.stdin is not None
            program.stdin.close()
            autopilot.link.close()
        self.addCleanup(close)
        return program

    def send(self, program: "subprocess.Popen[bytes]", *lines: Any) -> None:
        assert program.stdin is not None
        program.stdin.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in lines))
        program.stdin.flush()

    def test_nothing_is_sent_before_a_heartbeat(self) -> None:
        autopilot = Autopilot(ARDUPILOT)
        program = self.program(autopilot, "--tag", "cat", "--north", "0")
        self.assertTrue(wait(lambda: autopilot.all("HEARTBEAT")))
        self.assertEqual(autopilot.received[0].get_srcComponent(), 197)
        self.send(program, moved("cat", 1))
        # The next heartbeat comes after the place was read.
        self.assertTrue(wait(lambda: len(autopilot.all("HEARTBEAT")) > 1))
        self.assertEqual(autopilot.all("VISION_POSITION_ESTIMATE"), [])
        autopilot.beat()
        # The answer to TIMESYNC comes after the heartbeat was handled.
        autopilot.link.mav.timesync_send(0, 123_456)
        self.assertTrue(wait(lambda: autopilot.all("TIMESYNC")))
        answer = autopilot.all("TIMESYNC")[0]
        self.assertEqual(answer.ts1, 123_456)
        self.assertLess(abs(answer.tc1 / 1e9 - time.time()), 60)
        self.send(program, moved("dog", 1), moved("cat", 2))
        self.assertTrue(wait(lambda: autopilot.all("VISION_POSITION_ESTIMATE")))
        found = autopilot.all("VISION_POSITION_ESTIMATE")
        self.assertEqual([(m.x, m.y, m.z, m.yaw) for m in found], [(2, 0, -1, 0)])
        self.assertEqual((found[0].get_srcSystem(), found[0].get_srcComponent()), (7, 197))


class MessageTests(unittest.TestCase):
    def setUp(self) -> None:
        self.coder = mavlink.MAVLink(None, 1, 197)

    def decoded(self, message: Any) -> Any:
        return self.coder.parse_buffer(bytearray(message.pack(self.coder)))[0]

    def test_places_are_equal_after_decoding(self) -> None:
        rng = random.Random(3)
        for index in range(COUNT):
            north = rng.uniform(-360, 360)
            made = Vehicle(parsed(["--connect", "none", "--tag", "cat", f"--north={north}"]))
            turn = math.radians(north)
            x, y, z = (rng.uniform(-100, 100) for _ in range(3))
            xx, yy, zz, xy = rng.uniform(0.01, 1), rng.uniform(0.01, 1), rng.uniform(0.01, 1), rng.uniform(-0.01, 0.01)
            found = self.decoded(made.receive(
                Place("cat", index, (x, y, z), (xx, xy, 0, yy, 0, zz)), ARDUPILOT, 1.8e9))
            # The direction of x is `north` degrees clockwise from north, y is to its left.
            along_north, along_east = x * math.cos(turn) + y * math.sin(turn), x * math.sin(turn) - y * math.cos(turn)
            for expected, value in (along_north, found.x), (along_east, found.y), (-z, found.z):
                self.assertAlmostEqual(expected, value, delta=1e-3)
            c, s = math.cos(turn), math.sin(turn)
            self.assertAlmostEqual(found.covariance[0], c * c * xx + s * s * yy + 2 * c * s * xy, delta=1e-5)
            self.assertAlmostEqual(found.covariance[6], s * s * xx + c * c * yy - 2 * c * s * xy, delta=1e-5)
            self.assertAlmostEqual(found.covariance[1], c * s * (xx - yy) + (s * s - c * c) * xy, delta=1e-5)
            self.assertAlmostEqual(found.covariance[11], zz, delta=1e-5)
            self.assertEqual(found.usec, 1_800_000_000_000_000)

    def test_each_autopilot_gets_its_frames(self) -> None:
        value = Place("cat", 1, (1, 2, 3), (math.nan,) * 6, (4, 5, 6))
        ardupilot = self.decoded(vehicle("--message", "odometry").receive(value, ARDUPILOT, 1.8e9))
        self.assertEqual((ardupilot.frame_id, ardupilot.child_frame_id, ardupilot.q), (20, 12, [1, 0, 0, 0]))
        # x points to the east and y to the north.
        names = "x", "y", "z", "vx", "vy", "vz"
        self.assertEqual([round(getattr(ardupilot, name), 4) for name in names], [2, 1, -3, 5, 4, -6])
        self.assertTrue(math.isnan(ardupilot.pose_covariance[0]) and math.isnan(ardupilot.velocity_covariance[0]))
        still = Place("cat", 1, (1, 2, 3), (math.nan,) * 6)
        made = vehicle("--message", "odometry").receive(still, PX4, 1.8e9)
        self.assertEqual(made.get_type(), "VISION_POSITION_ESTIMATE")
        px4 = self.decoded(vehicle("--message", "odometry").receive(value, PX4, 1.8e9))
        self.assertEqual((px4.frame_id, px4.child_frame_id), (1, 1))
        self.assertTrue(all(map(math.isnan, px4.q)))
        self.assertTrue(math.isnan(self.decoded(vehicle().receive(value, PX4, 1.8e9)).yaw))

    def test_jumps_are_counted_and_old_places_are_not_sent(self) -> None:
        made, start, unknown = vehicle("--rate", "10"), 1.8e9, (math.nan,) * 6

        def count(moment: float, late: float = 0.0, floor: str | None = None) -> int | None:
            value = Place("cat", start + moment, (1, 2, 3), unknown, floor=floor)
            message = made.receive(value, PX4, start + moment + late)
            return None if message is None else int(message.reset_counter)

        self.assertEqual([count(0), count(0.05), count(0.1), count(0.2, late=0.29), count(0.3, late=0.31)],
                         [0, None, 0, 0, None])
        self.assertEqual([count(1.5), count(1.6), count(1.7, floor="attic")], [1, 1, 2])
        made.receive(SiteChange("lost", start + 1.8, "cat"), PX4, start + 1.8)
        made.receive(SiteChange("lost", start + 1.8, "dog"), PX4, start + 1.8)
        self.assertEqual(count(1.9, floor="attic"), 3)
        made.receive(uwb.Interruption("service", ""), PX4, start)
        self.assertEqual([count(2, floor="attic"), count(2.1, floor="attic")], [4, 4])

    def test_the_landing_pad(self) -> None:
        now = time.time()
        value = uwb.Measurement(
            peer="pad", status="OK", estimate_m=2, computed_azimuth_deg=30, computed_elevation_deg=0,
            time=datetime.fromtimestamp(now, timezone.utc))
        found = self.decoded(landing_target(value, "pad", "down", ARDUPILOT, now))
        self.assertEqual((found.frame, found.type, found.position_valid, found.distance), (12, 1, 1, 2))
        # The pad is to the right and below.
        self.assertEqual([round(entry, 5) for entry in (found.x, found.y, found.z)], [0, 1, round(math.sqrt(3), 5)])
        self.assertAlmostEqual(found.angle_x, math.radians(30), 5)
        px4 = self.decoded(landing_target(value, "pad", "down", PX4, now))
        self.assertEqual((px4.position_valid, px4.x, px4.z), (0, 0, 0))
        self.assertAlmostEqual(px4.angle_x, math.radians(30), 5)
        for peer, mount, late in ("dog", "down", 0.0), ("pad", "down", 0.4), ("pad", "ahead", 0.0):
            self.assertIsNone(landing_target(value, peer, mount, PX4, now + late))

    def test_mutated_lines_do_no_harm(self) -> None:
        rng, sent, now = random.Random(4), 0, 1.8e9
        lines = [json.dumps(entry).encode() for entry in (place("cat", 1, now), uwb.Measurement(
            peer="0x0001", status="OK", estimate_m=2, computed_azimuth_deg=3, computed_elevation_deg=4,
            time=datetime.fromtimestamp(now, timezone.utc)).to_json())]
        made = [vehicle("--rate", "1000"), vehicle("--rate", "1000", "--message", "odometry")]
        for index in range(COUNT):
            value, autopilot = parse(mutated(rng, lines)), index % 2 * PX4
            messages = [entry.receive(value, autopilot, now) for entry in made]
            if isinstance(value, uwb.Measurement):
                messages.append(landing_target(value, "0x0001", "down", autopilot, now))
            for message in messages:
                if message is not None:
                    sent += 1
                    self.assertEqual(self.decoded(message).get_type(), message.get_type())
        self.assertGreater(sent, COUNT // 20)

    def test_the_frame_of_a_site_along_north(self) -> None:
        self.assertEqual(Frame(0).vector((1, 2, 3)), (1, -2, -3))


if __name__ == "__main__":
    unittest.main()
