# SPDX-License-Identifier: Apache-2.0
"""The clients of a site with a real `uwbsite run`, which gets JSON lines: see .ci/site-service.

site.py UWBSITE FOLDER
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import threading
import time

import uwb.site
import uwb.site.aio

PROGRAM, FOLDER = sys.argv[1:]
SITE, PATH = os.path.join(FOLDER, "site.json"), os.path.join(FOLDER, "site.socket")
ANCHORS = [(0.0, 0.0, 2.5), (10.0, 0.0, 3.0), (10.0, 8.0, 2.5), (0.0, 8.0, 3.0)]


def check(holds: object, what: object) -> None:
    if not holds:
        sys.exit(f"site: {what}")


class Run:
    """A run whose tag T goes to and fro between the dock and the rest of the hall."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "run", SITE, "--listen", PATH, "--format", "json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        self._thread = threading.Thread(target=self._feed)
        self._thread.start()

    def _feed(self) -> None:
        assert self._process.stdin
        start = time.monotonic()
        try:
            while True:
                t = time.monotonic() - start
                place = (5 - 3 * math.cos(t), 4.0, 1.0)
                for name, anchor in enumerate(ANCHORS):
                    line = {
                        "t": t, "tag": "T", "anchor": f"A{name}", "sd_m": 0.05,
                        "distance_m": math.dist(place, anchor),
                    }
                    self._process.stdin.write(json.dumps(line).encode() + b"\n")
                self._process.stdin.flush()
                time.sleep(0.05)
        except (BrokenPipeError, ValueError):
            pass

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()


def write_site() -> None:
    site = {
        "version": 1,
        "name": "hall",
        "gauge": {"kind": "measured"},
        "anchors": [
            {"id": f"A{n}", "position_m": place, "position_sd_m": [0, 0, 0]}
            for n, place in enumerate(ANCHORS)
        ],
        "tags": [{"id": "T", "height_m": 1}, {"id": "U", "height_m": 1}],
        "zones": [{"id": "dock", "polygon_m": [[5, 1], [9.5, 1], [9.5, 7], [5, 7]]}],
    }
    with open(SITE, "w", encoding="utf-8") as file:
        json.dump(site, file)


def connected() -> uwb.site.Client:
    """Returns a client of the run, as soon as it listens."""
    for _ in range(500):
        try:
            return uwb.site.connect(PATH)
        except uwb.ConnectionLost:
            time.sleep(0.05)
    sys.exit("site: the service does not start")


def followed(update: uwb.site.SiteUpdate, places: int, events: list[uwb.site.SiteEvent]) -> int:
    """Counts a value of the stream; returns the number of places."""
    if isinstance(update, uwb.site.SiteEvent):
        events.append(update)
    if isinstance(update, uwb.site.Place) and update.position:
        check(update.tag == "T" and update.r95_m and update.r95_m < 1, update)
        check(abs(update.position[1] - 4) < 0.5, update)
        check(update.covariance and len(update.covariance) == 6 and not update.extra, update)
        return places + 1
    return places


def blocking() -> None:
    first = Run()
    with connected() as site:
        info = site.info()
        check(info.site == "hall" and info.live and info.protocol == 1 and not info.extra, info)
        try:
            next(site.watch(tags=["X"]))
            check(False, "an unknown tag is accepted")
        except uwb.site.NoTag as error:
            check("X" in str(error), error)
        places, events = 0, list[uwb.site.SiteEvent]()
        with site.watch(after=0, run=info.run, interval=0.02) as watch:
            while places < 20 or not any(e.event == "entered" for e in events):
                places = followed(next(watch), places, events)
            check([e.sequence for e in events] == list(range(1, len(events) + 1)), events)
            check(all(e.run == info.run and not e.lost for e in events), events)
            entered = next(e for e in events if e.event == "entered")
            check((entered.tag, entered.zone, entered.count) == ("T", "dock", 1), entered)
            state = site.state()
            check([tag.state for tag in state.tags] == ["present", "silent"], state)
            check(len(state.anchors) == 4 and state.anchors[1].position == (10, 0, 3), state)
            check(state.zones[0].zone == "dock" and state.counters["places"] >= 20, state)
            first.end()
            while not isinstance(update := next(watch), uwb.site.Interruption):
                pass
            second = Run()
            while not isinstance(update := next(watch), uwb.site.SiteEvent):
                pass
            check(update.run != info.run and update.sequence == 1, update)
        second.end()
    print(f"site: information, {places} places, {len(events)} events, state, restart")


async def with_asyncio() -> None:
    run = Run()
    connected().close()
    async with uwb.site.aio.connect(PATH) as site:
        check((await site.info()).site == "hall", "another site")
        places, events = 0, list[uwb.site.SiteEvent]()
        async with site.watch(after=0) as watch:
            async for update in watch:
                places = followed(update, places, events)
                if places >= 20 and any(e.event == "entered" for e in events):
                    break
        check((await site.state()).zones[0].zone == "dock", "another zone")
    run.end()
    print(f"site: asyncio, {places} places, {len(events)} events")


def older_values() -> None:
    """Ignores members that a later service may send."""
    place = uwb.site.Place.from_json({"tag": "T", "position_m": [1, 2, 3], "new": 1, "t": 2})
    check(place.position == (1.0, 2.0, 3.0) and place.t == 2.0, place)
    check(place.extra == {"new": 1} and place.covariance is None, place)


if __name__ == "__main__":
    write_site()
    older_values()
    blocking()
    asyncio.run(with_asyncio())
