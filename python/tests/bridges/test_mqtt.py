# SPDX-License-Identifier: Apache-2.0
"""uwb-mqtt with real brokers: mosquitto, nats-server and amqtt.

UWB_KILLS=100 UWB_PAUSE=60 is the long form.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
from typing import Any

from uwb.bridges._house import slug
from brokers import PASSWORD, Broker, Program, Subscriber, certificates, change, place, run, wait

KILLS, PAUSE = int(os.environ.get("UWB_KILLS", "3")), float(os.environ.get("UWB_PAUSE", "3"))


class BrokerTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # mosquitto drops its privileges.
        os.chmod(self.folder, 0o777)

    def broker(self, kind: str = "mosquitto", settings: str = "") -> Broker:
        broker = Broker(self.folder, kind, settings)
        self.addCleanup(broker.close)
        return broker

    def subscriber(self, broker: Broker, **login: str) -> Subscriber:
        found = Subscriber(broker.port, **login)
        self.addCleanup(found.close)
        return found

    def program(self, broker: Broker, *arguments: object, **more: Any) -> Program:
        program = Program(*arguments, port=broker.port, **more)
        self.addCleanup(program.kill)
        return program

    def check_states(self, broker: Broker, *arguments: str) -> None:
        subscriber, program = self.subscriber(broker), self.program(broker, *arguments)
        program.send(place("cat", 1), change("cat", "entered", "kitchen"))
        self.assertTrue(wait(lambda: subscriber.newest.get("uwb/tag/cat/room") == "kitchen"), program.log)
        self.assertTrue(wait(lambda: subscriber.state("uwb/zone/kitchen")), program.log)
        self.assertEqual(subscriber.state("uwb/zone/kitchen")["tags"], ["cat"])
        self.assertTrue(wait(lambda: subscriber.newest["uwb/bridge/state"] == "online"), program.log)
        self.assertEqual(program.close(), 0)
        self.assertTrue(wait(lambda: subscriber.newest["uwb/bridge/state"] == "offline"), program.log)

    def test_states_with_three_brokers(self) -> None:
        for kind, protocols in ("mosquitto", ["5", "3.1.1"]), ("nats", ["3.1.1"]), ("amqtt", ["3.1.1"]):
            broker = self.broker(kind)
            for protocol in protocols:
                with self.subTest(kind=kind, protocol=protocol):
                    self.check_states(broker, "--protocol", protocol)

    def test_the_last_will_and_the_removal(self) -> None:
        broker = self.broker()
        subscriber, program = self.subscriber(broker), self.program(broker)
        program.send(place("cat", 1))
        self.assertTrue(wait(lambda: "uwb/tag/cat" in subscriber.newest), program.log)
        program.kill()
        self.assertTrue(wait(lambda: subscriber.newest["uwb/bridge/state"] == "offline"))
        result = run("--broker", f"mqtt://127.0.0.1:{broker.port}", "--remove")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(wait(lambda: not any(subscriber.newest[topic] for topic in subscriber.newest
                                             if not topic.startswith(("uwb/event", "uwb/bridge/probe")))))

    def test_a_password_and_permissions(self) -> None:
        (self.folder / "right").write_text(PASSWORD + "\n")
        (self.folder / "wrong").write_text("hunter2 hunter2\n")
        users = self.folder / "users"
        for user in "cat", "dog":
            new = [] if users.exists() else ["-c"]
            subprocess.run(["mosquitto_passwd", "-b", *new, users, user, PASSWORD], check=True, capture_output=True)
        (self.folder / "acl").write_text("user cat\ntopic readwrite #\nuser dog\ntopic readwrite other/#\n")
        for name in "users", "acl":
            os.chmod(self.folder / name, 0o644)
        broker = self.broker(settings=f"password_file {users}\nacl_file {self.folder}/acl")
        address = ["--broker", f"mqtt://127.0.0.1:{broker.port}", "--check", "-vv"]
        right, wrong = ["--password-file", self.folder / "right"], ["--password-file", self.folder / "wrong"]
        for protocol in "5", "3.1.1":
            for user, file, expected in ("cat", right, 0), ("cat", wrong, 1), ("dog", right, 1):
                with self.subTest(protocol=protocol, user=user, expected=expected):
                    result = run(*address, "--protocol", protocol, "--user", user, *file)
                    self.assertEqual(result.returncode, expected, result.stderr)
                    self.assertNotIn("hunter2", result.stdout + result.stderr)
                    self.assertNotIn(PASSWORD, result.stdout + result.stderr)
        refused = run("--broker", "mqtt://cat:hunter2@localhost", "--check")
        self.assertEqual(refused.returncode, 2)
        self.assertNotIn("hunter2", refused.stderr)

    def test_tls(self) -> None:
        certificates(self.folder)
        for name, problem in ("right", None), ("host", "IP address mismatch"), ("old", "expired"):
            broker = self.broker(settings=f"certfile {self.folder}/{name}.pem\nkeyfile {self.folder}/{name}.key")
            for trust, expected in (["--ca", self.folder / "ca.pem"], problem), ([], "self-signed|unable to get"):
                with self.subTest(certificate=name, is_trusted=bool(trust)):
                    result = run("--broker", f"mqtts://127.0.0.1:{broker.port}", *trust, "--check")
                    self.assertEqual(result.returncode, 0 if expected is None else 1, result.stderr)
                    if expected is not None:
                        self.assertRegex(result.stderr, expected)

    def test_states_after_the_broker_was_killed(self) -> None:
        broker = self.broker()
        subscriber, program = self.subscriber(broker), self.program(broker)
        tags, slowest = [f"t{index}" for index in range(100)], 0.0
        for number in range(KILLS):
            broker.kill()
            subscriber.newest.clear()
            room = f"room {number % 3}"
            program.send(*(change(tag, "entered", room, number) for tag in tags))
            broker.start()
            began = time.monotonic()

            def is_right() -> bool:
                zone = subscriber.state("uwb/zone/" + slug(room))
                return bool(zone) and zone["count"] == 100 and all(
                    subscriber.newest.get(f"uwb/tag/{tag}/room") == room for tag in tags)
            self.assertTrue(wait(is_right, 10), f"{number}: {program.log[-2000:]}")
            slowest = max(slowest, time.monotonic() - began)
        events = [json.loads(text)["number"] for _, topic, text, _ in subscriber.messages if topic == "uwb/event"]
        print(f"{KILLS} kills: states after {slowest:.2f} s at most, {len(events)} events, "
              f"{len(events) - len(set(events))} twice", flush=True)
        self.assertEqual(events, sorted(set(events)))

    def test_the_newest_state_after_a_pause(self) -> None:
        broker = self.broker()
        subscriber, program = self.subscriber(broker), self.program(broker)
        program.send(place("cat", 0))
        self.assertTrue(wait(lambda: subscriber.state("uwb/tag/cat")), program.log)
        broker.pause()
        memory, end, number = self.memory(program), time.monotonic() + PAUSE, 0
        tags = [f"t{index}" for index in range(100)]
        while time.monotonic() < end:
            number += 1
            program.send(*(place(tag, number, number) for tag in tags))
            program.send(*(change(tag, "entered", f"room-{number % 2}", number) for tag in tags))
            wait(lambda: False, 0.05)
        program.send(*(change(tag, "entered", "last", number) for tag in tags))
        wait(lambda: False, 1)
        grown = self.memory(program) - memory
        broker.resume()
        began = time.monotonic()
        self.assertTrue(wait(lambda: all(
            subscriber.newest.get(f"uwb/tag/{tag}/room") == "last" for tag in tags), 100), program.log)
        print(f"{PAUSE:.0f} s pause, {200 * number} values: newest states after {time.monotonic() - began:.2f} s, "
              f"{grown / 1024:.1f} MiB more", flush=True)
        self.assertLess(grown, 20 * 1024)

    @staticmethod
    def memory(program: Program) -> int:
        text = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])

    def test_limits_of_a_broker(self) -> None:
        broker = self.broker(settings="max_inflight_messages 1\nmax_keepalive 10\nmax_packet_size 4000")
        self.check_states(broker)

    def test_two_bridges_of_one_name(self) -> None:
        broker = self.broker()
        first = self.program(broker)
        self.assertTrue(wait(lambda: "connected to" in first.log))
        second = self.program(broker)
        self.assertTrue(wait(lambda: "--client-id" in first.log + second.log))

    def test_states_of_a_former_run(self) -> None:
        broker = self.broker()
        subscriber = self.subscriber(broker)
        for arguments in [], ["--lost-after", "1", "--left-after", "2"]:
            program = self.program(broker, *arguments)
            program.send(*([place("cat", 1), change("cat", "entered", "sofa")] if not arguments else []))
            is_home = not arguments
            self.assertTrue(wait(lambda: subscriber.newest.get("uwb/tag/cat/presence") ==
                                 ("home" if is_home else "not_home")), program.log)
            self.assertTrue(wait(lambda: (subscriber.state("uwb/zone/sofa") or {}).get("occupied") is is_home), program.log)
            program.close()


if __name__ == "__main__":
    unittest.main()
