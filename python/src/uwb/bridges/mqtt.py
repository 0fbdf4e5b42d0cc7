# SPDX-License-Identifier: Apache-2.0
"""Publishes distances, places, rooms and zones by MQTT, for Home Assistant and other programs.

    uwb-mqtt --broker mqtt://broker
    uwb-mqtt --broker mqtt://broker site:/run/uwb-site/control
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import uwb

from ._broker import Broker, Connected, Received, add_options, validate_broker
from ._house import House, Message, Settings
from ._input import Ended, Feed, log, names
from ._program import parser, run

class Bridge:
    """Carries inputs to a broker."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._feed = Feed(options.sources)
        self.house = House(settings(options))
        self.broker = Broker(
            options, self._feed.queue.put, f"{options.base}/#", f"{options.base}/bridge/state")
        self._open = len(options.sources)
        self._greeted = f"{self.house.settings.discovery}/status"

    def run(self) -> None:
        """Runs until its sources have ended."""
        house, base = self.house, self.house.settings.base
        house.outbox.state(f"{base}/bridge/state", "online")
        self._feed.start()
        self.broker.start()
        ticked = time.monotonic()
        while self._open:
            value, now = self._feed.get(ticked + 1 - time.monotonic()), time.monotonic()
            if isinstance(value, Connected):
                if value.is_up:
                    self.broker.returned()
                    self.broker.subscribe(
                        f"{base}/tag/+/presence", f"{base}/zone/+", self._greeted)
                    house.outbox.repeat()
            elif isinstance(value, Received):
                if value.topic == self._greeted:
                    # Home Assistant has started, and reads what is retained and what comes.
                    if value.payload == "online":
                        house.outbox.repeat()
                else:
                    house.adopt(value.topic, value.payload, now)
            elif isinstance(value, Ended):
                log.info("%s has ended. %s", value.source, value.reason)
                self._open -= 1
            elif value is not None:
                house.receive(value, now)
            if now - ticked >= 1:
                ticked = now
                house.tick(now)
            self.broker.pump(house.outbox)


def settings(options: argparse.Namespace) -> Settings:
    """Returns the settings of the options."""
    return Settings(
        base=options.base, version=uwb.__version__, band=options.dead_band, lost_after=options.lost_after,
        left_after=options.left_after, raw=options.raw, names=names(options.name),
        rooms=names(options.room), dialects=tuple(options.dialect), tracker=options.ha_tracker,
        discovery=None if options.no_discovery else options.discovery)


def with_answers(options: argparse.Namespace, work: Callable[[Broker, Any], str | None]) -> int:
    """Connects once, and calls `work` with a function that returns the next message or None."""
    feed = Feed([])
    broker = Broker(options, feed.queue.put, f"{options.base}/#", is_probe=True)
    end = time.monotonic() + 10

    def next_message() -> Received | None:
        while (left := end - time.monotonic()) > 0:
            if isinstance(value := feed.get(left), (Received, Connected)):
                return value if isinstance(value, Received) else None
        return None

    broker.start()
    value: object = None
    while not isinstance(value, Connected) and time.monotonic() < end:
        value = feed.get(0.1)
    is_up = isinstance(value, Connected) and value.is_up
    end = time.monotonic() + 4
    problem = work(broker, next_message) if is_up else broker.reason
    broker.stop()
    if problem:
        print(f"uwb-mqtt: {problem}", file=sys.stderr)
    return 1 if problem else 0


def check(options: argparse.Namespace) -> int:
    """Publishes a probe and reads it back, since a broker may confirm what it does not permit."""
    topic, probe = f"{options.base}/bridge/probe", f"{random.getrandbits(64):x}"

    def work(broker: Broker, next_message: Callable[[], Received | None]) -> str | None:
        broker.subscribe(topic)
        broker.publish(Message(topic, probe, 1, False))
        while message := next_message():
            if message == Received(topic, probe):
                print("The broker accepts and returns messages.")
                return None
        return f"A message to {topic} does not return: permit {options.base}/# to the user."

    return with_answers(options, work)


def remove(options: argparse.Namespace) -> int:
    """Removes all retained messages of this bridge from the broker."""
    end, identity = f"{options.base}/bridge/probe", options.base.replace("/", "_")

    def work(broker: Broker, next_message: Callable[[], Received | None]) -> str | None:
        found: dict[str, None] = {}
        configs = f"{options.discovery}/device/"
        broker.subscribe(f"{options.base}/#", f"{configs}+/config")
        broker.publish(Message(end, "end", 1, False))
        while (message := next_message()) and message.topic != end:
            is_ours = message.topic.startswith((f"{options.base}/", f"{configs}{identity}_"))
            if is_ours and message.payload:
                found[message.topic] = None
        # The devices first, so that nothing is shown as unavailable.
        for topic in sorted(found, key=lambda topic: not topic.startswith(configs)):
            broker.publish(Message(topic, ""))
        print(f"{len(found)} topics are removed.")
        return None

    return with_answers(options, work)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-mqtt", __doc__)
    add = found.add_argument
    add("--broker", default="mqtt://localhost", help="mqtt://HOST[:PORT], mqtts://HOST for TLS, or unix:PATH")
    add_options(found)
    add("--base", default="uwb", help="the first level of all topics (default: uwb)")
    add("--name", action="append", default=[], metavar="TAG=NAME", help="a name for people")
    add("--room", action="append", default=[], metavar="CHIP=ROOM", help="the room of a chip")
    add("--dead-band", type=float, default=0.1, metavar="METRES", help="the smallest change (default: 0.1)")
    add("--lost-after", type=float, default=30, metavar="SECONDS", help="of silence (default: 30)")
    add("--left-after", type=float, default=300, metavar="SECONDS", help="of silence (default: 300)")
    add("--raw", action="store_true", help="also publish each measurement, in BASE/tag/TAG/raw")
    add("--dialect", action="append", default=[], choices=["rooms", "espresense"],
        help="also publish distances as room finders read them")
    add("--discovery", default="homeassistant", metavar="PREFIX", help="of Home Assistant's discovery")
    add("--no-discovery", action="store_true", help="without messages for Home Assistant")
    add("--ha-tracker", choices=["both", "in_zones", "off"], default="both",
        help="the state of trackers as text and as zones, as zones only, or no trackers")
    add("--check", action="store_true", help="publish a probe, read it back, and end")
    add("--remove", action="store_true", help="remove all retained messages of this bridge, and end")
    options = found.parse_args(arguments)
    try:
        validate(options)
    except ValueError as error:
        found.error(str(error))
    return options


def validate(options: argparse.Namespace) -> None:
    """Raises `ValueError` for options that cannot be used."""
    validate_broker(options)
    for topic in (options.base, options.discovery):
        if not topic or len(topic) > 60 or set(topic) & set("+#\0 ") or topic != topic.strip("/"):
            raise ValueError(f"{topic!r} cannot begin a topic")
    for seconds in (options.lost_after, options.left_after, options.dead_band):
        if not 0 <= seconds < 1e9:
            raise ValueError("seconds and metres are positive numbers")
    settings(options)


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)

    def work() -> int:
        if options.check or options.remove:
            return check(options) if options.check else remove(options)
        bridge = Bridge(options)
        try:
            bridge.run()
        finally:
            bridge.broker.stop()
        return 0

    return run("uwb-mqtt", options.verbose, work)


if __name__ == "__main__":
    sys.exit(main())
