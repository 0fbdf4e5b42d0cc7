# SPDX-License-Identifier: Apache-2.0
"""The node of uwb-ros2 on a stand-in for rclpy (ros2_stand_in.py). A real rclpy is not here."""

from __future__ import annotations

import importlib
import json
import pathlib
import random
import runpy
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from types import ModuleType
from typing import Any

import yaml

import ros2_stand_in as stand_in
from brokers import change, mutated, place
from test_metrics import START, measured

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "ros2" / "swift_uwb"


class NodeTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_node(self, release: str, *lines: dict[str, Any], **parameters: Any) -> Any:
        """Runs the node until its source has ended, and returns it."""
        return self.run_lines(release, [json.dumps(entry).encode() for entry in lines], **parameters)

    def run_lines(self, release: str, lines: list[bytes], **parameters: Any) -> Any:
        path = self.folder / "lines"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        stand_in.parameters = {"sources": [str(path)], **parameters}
        with unittest.mock.patch.dict(sys.modules, stand_in.modules(release)):
            sys.modules.pop("uwb.bridges.ros2", None)
            module = importlib.import_module("uwb.bridges.ros2")
            self.assertEqual(module.main([]), 0)
        node = stand_in.nodes.pop()
        self.assertTrue(node.is_destroyed)
        return node

    def test_ranges(self) -> None:
        for release in "humble", "jazzy":
            node = self.run_node(release, measured(0, estimate_m=3), measured(1, peer="9/ä", estimate_m=None, status="RX_TIMEOUT"))
            self.assertEqual(sorted(node.publishers), ["/tf", "uwb/range/_0x0001"])
            publisher = node.publishers["uwb/range/_0x0001"]
            message = publisher.messages[0]
            self.assertEqual((message.range, message.header.frame_id, publisher.quality), (3.0, "hall", "sensor"))
            moment = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            self.assertEqual(moment, round(START.timestamp() * 1e6) * 1_000)
            self.assertEqual(getattr(message, "variance", None), 0.31**2 if release == "jazzy" else None)

    def test_poses_and_frames(self) -> None:
        site = self.folder / "site.json"
        site.write_text(json.dumps({"anchors": [{"id": "A1", "position_m": [1, 2, 2.5]}]}))
        node = self.run_node(
            "jazzy", {**place("cat-1", 3, 1.8e9), "covariance_m2": [0.04, 0.01, 0, 0.02, 0, 0.09]}, place("dog", 5),
            change("cat-1", "entered", "sofa"), site=str(site), frame="house")
        pose = node.publishers["uwb/pose/cat_1"].messages[0]
        self.assertEqual((pose.header.frame_id, pose.header.stamp.sec), ("house", 1_800_000_000))
        self.assertEqual(pose.pose.pose.position.x, 3.0)
        covariance = pose.pose.covariance
        self.assertEqual((len(covariance), covariance[0], covariance[1], covariance[6], covariance[14], covariance[21]),
                         (36, 0.04, 0.01, 0.01, 0.09, 1e6))
        # The time of a recording is the time of its publication.
        self.assertEqual(node.publishers["uwb/pose/dog"].messages[0].header.stamp.sec, stand_in.NOW)
        frames = [message.transforms[0] for message in node.publishers["/tf"].messages]
        self.assertEqual([(f.header.frame_id, f.child_frame_id, f.transform.translation.x) for f in frames],
                         [("house", "cat-1", 3.0), ("house", "dog", 5.0)])
        static = node.publishers["/tf_static"]
        self.assertEqual((static.quality.durability, static.messages[0].transforms[0].child_frame_id), ("lasting", "A1"))
        quiet = self.run_node("jazzy", place("cat", 1), publish_tf=False)
        self.assertEqual(quiet.publishers["/tf"].messages, [])

    def test_mutated_lines_do_no_harm(self) -> None:
        rng = random.Random(6)
        values = measured(0), place("cat", 1, 1.8e9), place("cat", 1, 8e9)
        lines = [json.dumps(entry).encode() for entry in values]
        with self.assertLogs("uwb.bridges"):
            node = self.run_lines("jazzy", [mutated(rng, lines).replace(b"\n", b"") for _ in range(2_000)])
        self.assertGreater(len(node.publishers), 20)
        for topic in node.publishers:
            self.assertRegex(topic, r"\A/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*\Z")

    def test_rotating_addresses_have_a_limit(self) -> None:
        node = self.run_node("humble", *(measured(index, peer=f"0x{index:04x}") for index in range(300)))
        self.assertEqual(len(node.publishers), 201)


class PackageTests(unittest.TestCase):
    def test_the_package_has_what_it_names(self) -> None:
        root = ElementTree.parse(PACKAGE / "package.xml").getroot()
        self.assertEqual((root.get("format"), root.findtext("name"), root.findtext("export/build_type")),
                         ("3", "swift_uwb", "ament_python"))
        for required in "version", "description", "maintainer", "license":
            self.assertTrue(root.findtext(required))
        called: dict[str, Any] = {}
        with unittest.mock.patch.dict(sys.modules, {"setuptools": ModuleType("setuptools")}):
            setattr(sys.modules["setuptools"], "setup", lambda **members: called.update(members))
            runpy.run_path(str(PACKAGE / "setup.py"))
        self.assertEqual((called["name"], called["version"]), (root.findtext("name"), root.findtext("version")))
        for _, files in called["data_files"]:
            for file in files:
                self.assertTrue((PACKAGE / file).is_file(), file)

    def test_the_launch_file_starts_the_node(self) -> None:
        names = {"launch": ["LaunchDescription"], "launch.actions": ["DeclareLaunchArgument"],
                 "launch.substitutions": ["LaunchConfiguration"], "launch_ros": [], "launch_ros.actions": ["Node"]}
        calls: dict[str, Any] = {}

        def recorder(name: str) -> Any:
            return lambda *arguments, **members: calls.setdefault(name, (arguments, members))

        modules = {name: ModuleType(name) for name in names}
        for name, members in names.items():
            for member in members:
                setattr(modules[name], member, recorder(member))
        with unittest.mock.patch.dict(sys.modules, modules):
            runpy.run_path(str(PACKAGE / "launch" / "uwb.launch.py"))["generate_launch_description"]()
        self.assertEqual((calls["Node"][1]["package"], calls["Node"][1]["executable"]), ("swift_uwb", "uwb-ros2"))
        settings = yaml.safe_load(pathlib.Path(calls["DeclareLaunchArgument"][1]["default_value"]).read_text())
        known = {"sources", "frame", "site", "publish_tf", "maximum_range"}
        self.assertEqual(set(settings["uwb"]["ros__parameters"]), known)


if __name__ == "__main__":
    unittest.main()
