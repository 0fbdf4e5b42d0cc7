# SPDX-License-Identifier: Apache-2.0
"""The bridges with uwbsite: the places and zones of a live site. UWB_HOURS=1 is the long form."""

from __future__ import annotations

import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from uwb.bridges._house import House, Settings
from uwb.bridges._input import Place, SiteChange, parse
from brokers import Broker, Program, Subscriber, wait

UWBSITE = os.environ.get("UWBSITE", "")
HOURS = float(os.environ.get("UWB_HOURS", "0.05"))
ANCHORS = [(0, 0), (10, 0), (10, 8), (0, 8)]
SITE = {
    "version": 1, "gauge": {"kind": "measured"},
    "anchors": [{"id": f"A{index}", "position_m": [x, y, 2.5], "position_sd_m": [0, 0, 0], "delay_m": 0,
                 "delay_sd_m": 0.01} for index, (x, y) in enumerate(ANCHORS)],
    "tags": [{"id": "T1", "height_m": 1}],
    "zones": [{"id": "left", "polygon_m": [[-1, -1], [5, -1], [5, 9], [-1, 9]]},
              {"id": "right", "polygon_m": [[5, -1], [11, -1], [11, 9], [5, 9]]}],
}


def ranges(path: Callable[[float], tuple[float, float]], seconds: float, start: float = 0.0, sigma: float = 0.1,
           step: float = 0.1) -> Iterator[str]:
    """Yields lines of rounds with four anchors. At their centre, a place is as wrong as a range."""
    rng = random.Random(11)
    for number in range(round(seconds / step)):
        x, y = path(number * step)
        for index, (ax, ay) in enumerate(ANCHORS):
            distance = math.dist((x, y, 1), (ax, ay, 2.5)) + rng.gauss(0, sigma)
            yield json.dumps({"t": round(start + number * step, 3), "tag": "T1", "anchor": f"A{index}",
                              "distance_m": round(distance, 3), "sd_m": sigma}) + "\n"


@unittest.skipUnless(UWBSITE, "needs uwbsite")
class SiteTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o777)
        self.site = self.folder / "site.json"
        self.site.write_text(json.dumps(SITE))

    def rooms(self, lines: Iterator[str]) -> list[tuple[float, str]]:
        """Returns the rooms that uwb-mqtt would publish, with the times of the site."""
        recorded = self.folder / "ranges.json"
        recorded.write_text("".join(lines))
        output = subprocess.run([UWBSITE, "run", str(self.site), str(recorded), "--format", "json"],
                                check=True, capture_output=True, timeout=500).stdout
        house, now = House(Settings()), 0.0
        found: list[tuple[float, str]] = []
        for line in output.splitlines():
            value = parse(line)
            if not isinstance(value, (Place, SiteChange)):
                continue
            now = max(now, value.time if isinstance(value, Place) else float(value.members.get("decided", now)))
            house.receive(value, now)
            room = house.outbox.states.get("uwb/tag/T1/room")
            if room and (not found or found[-1][1] != room.payload):
                found.append((now, room.payload))
        return found

    def test_a_room_does_not_flap_at_a_boundary(self) -> None:
        found = self.rooms(ranges(lambda t: (5, 4), HOURS * 3_600))
        print(f"{HOURS} h on a boundary: {found}", flush=True)
        self.assertEqual([room for _, room in found if room != "elsewhere"][1:], [])

    def test_a_walk_through_a_boundary_is_one_change(self) -> None:
        found = [entry for entry in self.rooms(ranges(lambda t: (1 + t, 4), 8)) if entry[1] != "elsewhere"]
        print(f"the boundary is passed at 4 s: {found}", flush=True)
        self.assertEqual([room for _, room in found], ["left", "right"])

    def test_a_live_site(self) -> None:
        broker = Broker(self.folder)
        self.addCleanup(broker.close)
        subscriber = Subscriber(broker.port)
        self.addCleanup(subscriber.close)
        socket = self.folder / "site"
        program = Program("--lost-after", "3", port=broker.port, source=f"site:{socket}")
        self.addCleanup(program.kill)
        for place, room in (1.0, "left"), (9.0, "right"):
            # The site is restarted, and the program connects again.
            self.follow(socket, place, lambda: subscriber.newest.get("uwb/tag/T1/room") == room
                        and abs((subscriber.state("uwb/tag/T1") or {"x": 99})["x"] - place) < 0.5)
            self.assertTrue(wait(lambda: subscriber.state("uwb/zone/left") and
                                 subscriber.state("uwb/zone/left")["count"] == (room == "left")), program.log)
        self.assertTrue(wait(lambda: subscriber.newest["uwb/tag/T1/availability"] == "offline"), program.log)
        self.assertEqual(subscriber.newest["uwb/tag/T1/presence"], "home")

    def follow(self, socket: pathlib.Path, x: float, condition: Callable[[], Any]) -> None:
        """Runs a live site whose tag is at a place, until the condition holds."""
        command = [UWBSITE, "run", str(self.site), "-", "--listen", str(socket)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              text=True) as site:
            assert site.stdin is not None
            start, rounds = time.time(), ranges(lambda t: (x, 4), 3_000)

            def next_round() -> Any:
                assert site.stdin is not None
                now = round(time.time() - start, 3)
                site.stdin.writelines(json.dumps({**json.loads(next(rounds)), "t": now}) + "\n" for _ in ANCHORS)
                site.stdin.flush()
                wait(lambda: False, 0.1)
                return condition()
            self.assertTrue(wait(next_round, 100))
            site.terminate()


if __name__ == "__main__":
    unittest.main()
