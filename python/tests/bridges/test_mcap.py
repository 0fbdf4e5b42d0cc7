# SPDX-License-Identifier: Apache-2.0
"""Files of uwb-mcap, read by mcap, mcap-ros2-support and rosbags.

UWB_MEASUREMENTS=1000000 is the long form.
"""

from __future__ import annotations

import io
import json
import math
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from datetime import timedelta
from typing import Any

import jsonschema
from mcap.exceptions import McapError
from mcap.reader import NonSeekingReader, make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

import uwb
from uwb.bridges._input import Place, parse
from uwb.bridges._foxglove import Foxglove
from uwb.bridges._ros import Ros
from uwb.bridges.mcap import Recorder, packets
from brokers import change, place, wait
from test_metrics import START

COUNT = int(os.environ.get("UWB_MEASUREMENTS", "5000"))
NANOSECONDS = round(START.timestamp() * 1e6) * 1_000


def walk(count: int) -> list[uwb.Measurement]:
    """Returns measurements of ten peers at 10 Hz each, as a chip reports them."""
    rng, found, distance = random.Random(5), [], [5.0] * 10
    for index in range(count):
        peer = index % 10
        distance[peer] = abs(distance[peer] + rng.gauss(0, 0.05))
        found.append(uwb.Measurement(
            chip="hall", session_id=42, time=START + timedelta(milliseconds=10 * index), monotonic_ns=0,
            peer=f"0x{peer:04x}", status="OK", sequence=index // 10, estimate_m=round(distance[peer], 4),
            estimate_sd_m=0.3121, rssi_dbm=-70 + rng.randrange(-4, 4) / 2, azimuth_deg=round(rng.gauss(20, 2), 2)))
    return found


class FileTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "walk.mcap"

    def test_measurements_are_equal_in_each_reader(self) -> None:
        values = walk(COUNT)
        with open(self.path, "wb") as file:
            recorder, began = Recorder(file, Ros("map")), time.process_time()
            for value in values:
                recorder.receive(value)
            recorder.finish()
            took = time.process_time() - began
        octets = self.path.stat().st_size / COUNT
        print(f"{COUNT} measurements: {octets:.1f} octets and {took / COUNT * 1e6:.1f} µs each", flush=True)
        self.assertLess(octets, 64)
        with open(self.path, "rb") as file:
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            found: dict[str, list[Any]] = {"range": [], "all": []}
            for _, channel, _, message in reader.iter_decoded_messages(log_time_order=False):
                decoded: Any = message
                found["all" if channel.topic == "/uwb/measurement" else "range"].append(decoded)
        self.assertEqual([round(m.range, 4) for m in found["all"]], [v.distance for v in values])
        self.assertEqual([m.responder for m in found["all"]], [v.peer for v in values])
        self.assertTrue(all(abs(m.range_variance - 0.3121**2) < 1e-8 for m in found["all"]))
        self.assertTrue(all(round(math.degrees(m.azimuth), 2) == v.azimuth_deg
                            for m, v in zip(found["all"], values)))
        stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in found["range"]]
        self.assertEqual(stamps, [NANOSECONDS + 10_000_000 * index for index in range(COUNT)])
        with AnyReader([self.path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as bag:
            ranges: list[Any] = [bag.deserialize(data, connection.msgtype) for connection, _, data in bag.messages(
                [c for c in bag.connections if c.topic.startswith("/uwb/range/")])]
        self.assertTrue(all(abs(m.range - (v.distance or 0)) < 1e-6 for m, v in zip(ranges, values)))
        self.assertEqual(len(ranges), COUNT)

    def test_places_and_anchors(self) -> None:
        site = self.folder / "site.json"
        site.write_text(json.dumps({"anchors": [{"id": "A1", "position_m": [1, 2, 2.5]}, {"id": "A2"}]}))
        lines = self.folder / "lines"
        first = START.timestamp()
        moved = {**place("cat-1", 3, first), "covariance_m2": [0.04, 0.01, 0, 0.02, 0, 0.09]}
        lines.write_text("".join(json.dumps(entry) + "\n" for entry in (moved, change("cat-1", "entered", "sofa", first))))
        self.run_program("--site", site, lines)
        with open(self.path, "rb") as file:
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            every: dict[str, list[Any]] = {}
            for _, channel, _, decoded in reader.iter_decoded_messages(log_time_order=False):
                every.setdefault(channel.topic, []).append(decoded)
        pose = every["/uwb/pose/cat_1"][0]
        self.assertEqual((pose.pose.pose.position.x, list(pose.pose.covariance[:3]), pose.pose.covariance[14]),
                         (3.0, [0.04, 0.01, 0.0], 0.09))
        self.assertEqual(every["/tf_static"][0].transforms[0].child_frame_id, "A1")
        self.assertEqual(every["/tf"][0].transforms[0].transform.translation.x, 3.0)
        markers = [scene.markers[0] for scene in every["/uwb/scene"]]
        self.assertEqual([marker.ns for marker in markers], ["A1", "cat-1"])
        area = 4 * 2.4477**2 * math.sqrt(0.04 * 0.02 - 0.01**2)
        self.assertAlmostEqual(markers[1].scale.x * markers[1].scale.y, area, 6)
        self.assertEqual(json.loads(every["/uwb/change"][0].data)["zone"], "sofa")
        with AnyReader([self.path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as bag:
            types = {c.topic: c.msgtype for c in bag.connections}
        self.assertEqual(types["/uwb/scene"], "visualization_msgs/msg/MarkerArray")
        self.run_program("--schemas", "foxglove", "--site", site, lines)
        with open(self.path, "rb") as file:
            for schema, channel, message in make_reader(file).iter_messages():
                assert schema is not None
                decoded, form = json.loads(message.data), json.loads(schema.data)
                jsonschema.validate(decoded, form)
                if channel.topic != "/uwb/change":
                    self.assertLessEqual(set(decoded), set(form["properties"]))
                if schema.name == "foxglove.SceneUpdate" and decoded["entities"][0]["id"] == "cat-1":
                    size = decoded["entities"][0]["spheres"][0]["size"]
        self.assertAlmostEqual(size["x"] * size["y"], area, 3)

    def run_program(self, *arguments: object) -> None:
        subprocess.run([sys.executable, "-m", "uwb.bridges.mcap", "-o", str(self.path), *map(str, arguments)],
                       check=True, timeout=60)

    def read(self, data: bytes) -> int:
        """Returns the number of measurements in a file that may be cut."""
        count = 0
        try:
            for _, channel, _ in NonSeekingReader(io.BytesIO(data)).iter_messages(log_time_order=False):
                count += channel.topic == "/uwb/measurement"
        except (McapError, EOFError, ValueError, struct.error):
            pass
        return count

    def test_a_cut_file_is_readable_to_its_last_chunk(self) -> None:
        file, ends = io.BytesIO(), []
        recorder = Recorder(file, Ros("map"))
        for index, value in enumerate(walk(1_000)):
            recorder.receive(value)
            if index % 100 == 99:
                recorder.flush()
                ends.append(file.tell())
        recorder.finish()
        rng, data = random.Random(1), file.getvalue()
        self.assertEqual(self.read(data), 1_000)
        for _ in range(200):
            length = rng.randrange(len(data))
            whole = 100 * sum(end <= length for end in ends)
            self.assertGreaterEqual(self.read(data[:length]), whole)

    def test_a_killed_recorder_loses_a_second(self) -> None:
        for number in signal.SIGKILL, signal.SIGTERM:
            with subprocess.Popen([sys.executable, "-m", "uwb.bridges.mcap", "-o", str(self.path), "-"],
                                  stdin=subprocess.PIPE) as program:
                assert program.stdin is not None
                for value in walk(50):
                    program.stdin.write(json.dumps(value.to_json()).encode() + b"\n")
                    program.stdin.flush()
                self.assertTrue(wait(lambda: self.path.exists() and self.read(self.path.read_bytes()) == 50))
                program.send_signal(number)
            self.assertEqual(self.read(self.path.read_bytes()), 50)
            if number == signal.SIGTERM:
                self.assertEqual(program.returncode, 0)
                with open(self.path, "rb") as file:
                    summary = make_reader(file).get_summary()
                self.assertIsNotNone(summary)
            self.path.unlink()

    @unittest.skipUnless("UWB_BIN" in os.environ, "needs the programs of the driver")
    def test_a_capture_with_its_measurements(self) -> None:
        uwbctl, capture = f"{os.environ['UWB_BIN']}/uwbctl", self.folder / "walk.pcapng"
        quiet: dict[str, Any] = {"check": True, "timeout": 60, "stderr": subprocess.DEVNULL}
        subprocess.run([uwbctl, "range", "-n", "20", "--capture", str(capture)], stdout=subprocess.DEVNULL, **quiet)
        replayed = subprocess.run([uwbctl, "replay", str(capture), "--speed", "max", "--format", "json"],
                                  stdout=subprocess.PIPE, **quiet).stdout
        lines = self.folder / "lines"
        lines.write_bytes(replayed)
        self.run_program(capture, lines)
        with open(capture, "rb") as file:
            recorded = list(packets(file))
        with open(self.path, "rb") as file:
            found = [(message.log_time, bytes(decoded.data)) for _, _, message, decoded in make_reader(
                file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(["/uwb/uci"])]
            file.seek(0)
            reader = make_reader(file)
            moments = [message.log_time for _, _, message in reader.iter_messages(["/uwb/measurement"])]
        self.assertEqual(found, recorded)
        notified = [moment for moment, packet in recorded if packet[:2] == b"\x62\x00"]
        self.assertEqual(len(moments), 20)
        self.assertTrue(all(abs(a - b) < 50_000_000 for a, b in zip(moments, notified)))

    def test_damaged_captures_end(self) -> None:
        rng = random.Random(2)
        for _ in range(2_000):
            data = b"\n\r\r\n" + rng.randbytes(rng.randrange(200))
            for _ in packets(io.BytesIO(data)):
                pass

    def test_strange_values_do_no_harm(self) -> None:
        for form in Ros("map"), Foxglove("map"):
            recorder = Recorder(io.BytesIO(), form)
            recorder.receive(Place("\0", -5, (1e300, 0, 0), (math.nan,) * 6))
            recorder.receive(Place("9", 1, (0, 0, 0), (1, 5, 0, 1, 0, -1)))
            recorder.receive(parse(b'{"peer": "<img>", "status": "OK", "session": -1, "sequence": 1e12}'))
            recorder.finish()


if __name__ == "__main__":
    unittest.main()
