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
import unittest
from collections.abc import Callable, Iterator

from uwb.bridges._house import House, Settings
from uwb.bridges._input import Place, SiteChange, parse

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


if __name__ == "__main__":
    unittest.main()
