# SPDX-License-Identifier: Apache-2.0
"""States of tags and zones in virtual time, and inputs of any content. Needs no extra."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

import uwb
from uwb.bridges import _input
from uwb.bridges._house import House, Message, Outbox, Settings, slug
from uwb.bridges._input import Place, SiteChange
from brokers import NAMES, mutated

START = datetime(2026, 11, 27, tzinfo=timezone.utc)
#: Mutated lines of the long form: 1,000,000.
MUTATIONS = int(os.environ.get("UWB_MUTATIONS", "5000"))


def measured(seconds: float, distance: float, **more: Any) -> uwb.Measurement:
    values: dict[str, Any] = {
        "chip": "hall", "session_id": 42, "time": START + timedelta(seconds=seconds), "monotonic_ns": 0,
        "peer": "0x0001", "status": "ok", "estimate_m": distance, "estimate_sd_m": 0.3,
        "estimate_short_sd_m": 0.05,
    }
    return uwb.Measurement(**{**values, **more})


def placed(seconds: float, x: float, y: float = 0.0, tag: str = "cat") -> Place:
    return Place(tag, seconds, (x, y, 1.0), (0.0025, 0, 0, 0.0025, 0, 0.01))


def entered(zone: str, tag: str = "cat", kind: str = "entered") -> SiteChange:
    return SiteChange(kind, 0, tag, zone, {})


def taken(house: House) -> list[Message]:
    return list(iter(house.outbox.take, None))


def state(house: House, topic: str) -> str:
    return house.outbox.states[f"uwb/{topic}"].payload


def components(house: House, device: str = "uwb_tag_cat") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(house.outbox.states[f"homeassistant/device/{device}/config"].payload)
    return dict(found["components"])


class DeadBandTests(unittest.TestCase):
    def messages_in_an_hour(self, rate: float, correlation: float) -> int:
        """Returns the messages of a tag at rest, whose errors have 5 cm and a time constant."""
        house, rng = House(Settings()), random.Random(7)
        kept = math.exp(-1 / rate / correlation) if correlation else 0.0
        error = rng.gauss(0, 0.05)
        for step in range(int(3_600 * rate)):
            error = kept * error + math.sqrt(1 - kept * kept) * rng.gauss(0, 0.05)
            house.receive(measured(step / rate, 3 + error), step / rate)
            if step % round(rate) == 0:
                house.tick(step / rate)
            if step == 10:
                taken(house)
        # Only the newest state of a topic waits, so the states are counted one by one.
        return self.count

    def setUp(self) -> None:
        self.count = 0
        publish = Outbox.state

        def counted(outbox: Outbox, topic: str, payload: object, qos: int = 1) -> None:
            before = outbox.states.get(topic)
            publish(outbox, topic, payload, qos)
            self.count += outbox.states[topic] is not before
        setattr(Outbox, "state", counted)
        self.addCleanup(lambda: setattr(Outbox, "state", publish))

    def test_a_tag_at_rest_has_few_messages(self) -> None:
        for rate, correlation in (10, 0), (10, 2), (1, 0), (5, 10):
            self.count = 0
            with self.subTest(rate=rate, correlation=correlation):
                self.assertLessEqual(self.messages_in_an_hour(rate, correlation), 70)

    def test_a_tag_that_walks_is_published_every_second(self) -> None:
        house, errors = House(Settings()), []
        for step in range(300):
            house.receive(measured(step / 10, 2 + step / 10), step / 10)
            errors.append(abs(json.loads(state(house, "tag/0x0001"))["distance"] - 2 - step / 10))
        self.assertLess(max(errors[30:]), 1.8)
        self.assertGreater(self.count, 25)


class PresenceTests(unittest.TestCase):
    def test_a_silent_tag_is_lost_and_then_away(self) -> None:
        house = House(Settings())
        house.receive(placed(0, 1), 0)
        house.receive(entered("kitchen"), 1)
        house.tick(25)
        self.assertEqual(state(house, "tag/cat/availability"), "online")
        house.tick(32)
        self.assertEqual(state(house, "tag/cat/availability"), "offline")
        self.assertEqual(state(house, "tag/cat/room"), "kitchen")
        self.assertEqual(json.loads(state(house, "zone/kitchen"))["count"], 1)
        house.tick(302)
        self.assertEqual(state(house, "tag/cat/presence"), "not_home")
        self.assertEqual(state(house, "tag/cat/room"), "away")
        self.assertEqual(
            json.loads(state(house, "tag/cat/presence/attributes")),
            {"in_zones": [], "last_room": "kitchen"})
        self.assertEqual(json.loads(state(house, "zone/kitchen"))["occupied"], False)
        # The engine reports no zone again: the tag never left it there.
        house.receive(placed(400, 1), 400)
        self.assertEqual(state(house, "tag/cat/presence"), "home")
        self.assertEqual(state(house, "tag/cat/room"), "kitchen")
        self.assertEqual(json.loads(state(house, "zone/kitchen"))["tags"], ["cat"])
        events = [json.loads(m.payload) for m in taken(house) if m.topic == "uwb/event"]
        self.assertEqual([event["event"] for event in events], ["entered", "lost", "away", "found"])
        self.assertEqual([event["number"] for event in events], [1, 2, 3, 4])

    def test_nobody_leaves_while_a_service_is_away(self) -> None:
        house = House(Settings())
        house.receive(measured(0, 2), 0)
        house.receive(uwb.Interruption("service", "It was restarted."), 10)
        house.tick(1_000)
        self.assertEqual(state(house, "tag/0x0001/availability"), "offline")
        self.assertEqual(state(house, "tag/0x0001/presence"), "home")
        house.receive(measured(1_000, 2, peer="0x0002"), 1_000)
        house.tick(1_280)
        self.assertEqual(state(house, "tag/0x0001/presence"), "home")
        house.tick(1_295)
        self.assertEqual(state(house, "tag/0x0001/presence"), "not_home")

    def test_a_round_without_a_distance_is_no_sign_of_a_tag(self) -> None:
        house = House(Settings())
        house.receive(measured(0, 2), 0)
        for second in range(1, 40):
            house.receive(measured(second, 0, estimate_m=None, status="rx_timeout"), second)
        house.tick(40)
        self.assertEqual(state(house, "tag/0x0001/availability"), "offline")

    def test_the_newest_zone_is_the_room(self) -> None:
        house = House(Settings())
        rooms = []
        for change in (entered("living room"), entered("sofa"), entered("sofa", kind="left"),
                       entered("living room", kind="left")):
            house.receive(change, 1)
            rooms.append(state(house, "tag/cat/room"))
        self.assertEqual(rooms, ["living room", "sofa", "living room", "elsewhere"])
        # The list of rooms precedes a room that is new.
        house.receive(entered("hall"), 2)
        order = [m.topic for m in taken(house)]
        self.assertLess(order.index("homeassistant/device/uwb_tag_cat/config"), order.index("uwb/tag/cat/room"))
        self.assertIn("hall", components(house)["room"]["options"])

    def test_a_site_that_was_restarted_lists_the_zones_of_its_tags(self) -> None:
        house = House(Settings())
        house.receive(SiteChange("site", 0, members={"zones": ["hall", "sofa"]}), 0)
        self.assertEqual(json.loads(state(house, "zone/sofa"))["occupied"], False)
        house.receive(entered("sofa"), 1)
        taken(house)
        house.receive(SiteChange("zones", 0, "cat", members={"zones": ["hall"]}), 2)
        self.assertEqual(state(house, "tag/cat/room"), "hall")
        self.assertEqual(json.loads(state(house, "zone/sofa"))["occupied"], False)
        self.assertEqual(json.loads(state(house, "zone/hall"))["tags"], ["cat"])
        self.assertFalse([m for m in taken(house) if m.topic == "uwb/event"])
        # A tag that is silent after a restart keeps its zones for a while.
        for tag in "cat", "dog":
            house.receive(SiteChange("zones", 0, tag, members={"zones": None}), 3)
        self.assertEqual(state(house, "tag/cat/room"), "hall")
        house.receive(entered("sofa"), 4)
        house.tick(34)
        self.assertEqual(json.loads(state(house, "zone/hall"))["count"], 0)
        self.assertEqual(state(house, "tag/cat/room"), "sofa")
        self.assertEqual(list(house.tags), ["cat"])

    def test_states_of_an_earlier_run_end(self) -> None:
        house = House(Settings())
        house.adopt("uwb/tag/dog/presence", "home", 0)
        house.adopt("uwb/zone/sofa", '{"name": "sofa", "tags": ["dog", "cat"]}', 0)
        house.adopt("uwb/zone/bed", "[]", 0)
        house.adopt("uwb/tag/+/presence", "home", 0)
        house.receive(placed(1, 0), 1)
        house.receive(entered("sofa"), 2)
        house.tick(20)
        self.assertEqual(json.loads(state(house, "zone/sofa"))["tags"], ["cat", "dog"])
        house.tick(31)
        self.assertEqual(json.loads(state(house, "zone/sofa"))["tags"], ["cat"])
        house.tick(301)
        self.assertEqual(state(house, "tag/dog/presence"), "not_home")
        self.assertEqual(sorted(house.tags), ["cat", "dog"])


class DiscoveryTests(unittest.TestCase):
    def test_only_measured_values_are_unavailable_with_the_tag(self) -> None:
        house = House(Settings(names={"0x0001": "Cat"}))
        house.receive(measured(0, 2), 0)
        house.receive(Place("0x0001", 0, (1, 2, 3), (0.01, 0, 0, 0.01, 0, 0.01)), 0)
        found = components(house, "uwb_tag_0x0001")
        with_availability = [name for name, part in found.items() if "availability" in part]
        self.assertEqual(with_availability, ["distance", "x", "y"])
        # A tracker would inherit a topic of the whole device.
        message = json.loads(house.outbox.states["homeassistant/device/uwb_tag_0x0001/config"].payload)
        self.assertNotIn("state_topic", message)
        self.assertEqual(message["device"]["name"], "Cat")
        self.assertEqual(found["tracker"]["state_topic"], "uwb/tag/0x0001/presence")
        self.assertEqual(set(found), {"presence", "distance", "x", "y", "room", "tracker"})

    def test_a_tracker_is_a_choice(self) -> None:
        for choice, expected in ("in_zones", False), ("off", None):
            house = House(Settings(tracker=choice))
            house.receive(placed(0, 1), 0)
            tracker = components(house).get("tracker")
            self.assertEqual(None if tracker is None else "state_topic" in tracker, expected)

    def test_dialects(self) -> None:
        house = House(Settings(dialects=("rooms", "espresense"), rooms={"hall": "Living room"}))
        for step in range(25):
            house.receive(measured(step / 10, 2, rssi_dbm=-70.0), step / 10)
        found = {m.topic: m for m in taken(house)}
        room = found[f"uwb/rooms/{slug('Living room')}"]
        self.assertEqual(json.loads(room.payload), {"id": "0x0001", "name": "0x0001", "distance": 2.0})
        self.assertFalse(room.is_retained)
        device = json.loads(found[f"espresense/devices/0x0001/{slug('Living room')}"].payload)
        self.assertEqual((device["distance"], device["rssi"], device["var"]), (2.0, -70.0, 0.0025))


class OutboxTests(unittest.TestCase):
    def test_a_paused_broker_costs_no_memory(self) -> None:
        outbox = Outbox()
        for number in range(100_000):
            outbox.state(f"tag/{number % 100}", {"x": number})
            outbox.event("event", number)
        left = list(iter(outbox.take, None))
        self.assertEqual(len(left), 1_100)
        self.assertEqual([json.loads(m.payload) for m in left[:1_000]], list(range(99_000, 100_000)))
        self.assertEqual({json.loads(m.payload)["x"] for m in left[1_000:]}, set(range(99_900, 100_000)))

    def test_all_states_are_repeated(self) -> None:
        outbox = Outbox()
        outbox.state("a", "1")
        outbox.state("b", "2")
        list(iter(outbox.take, None))
        outbox.state("a", "1")
        self.assertIsNone(outbox.take())
        outbox.state("b", "3")
        outbox.repeat()
        self.assertEqual([(m.topic, m.payload) for m in iter(outbox.take, None)], [("a", "1"), ("b", "3")])


class InputTests(unittest.TestCase):
    LINES = [
        b'{"t":1,"tag":"cat","position_m":[1,2,3],"velocity_m_s":[0,0,0],"covariance_m2":[0.01,0,0,0.01,0,0.04]}',
        b'{"t":2.5,"t_sd_s":0.1,"decided":2.7,"tag":"cat","event":"entered","zone":"kitchen","count":1}',
        b'{"t":3,"decided":3,"tag":"cat","event":"unlocks","door":"front","outside_probability":0.99}',
        json.dumps(measured(0, 3.5).to_json()).encode(),
    ]
    def test_topics_are_legal_for_each_name(self) -> None:
        for name in NAMES:
            found = slug(name)
            self.assertRegex(found, r"\A[A-Za-z0-9_-]{1,60}\Z")
        self.assertEqual(slug("0x00:01"), slug("0x00:01"))
        self.assertNotEqual(slug("a/b"), slug("a+b"))
        self.assertEqual(slug("0x0001"), "0x0001")

    def test_a_deviation_whose_square_is_too_large(self) -> None:
        house = House(Settings(dialects=("espresense",)))
        house.receive(measured(0, 3.5, estimate_sd_m=1e300, estimate_short_sd_m=1e300), 0)
        house.tick(0)
        devices = [message for message in taken(house) if message.topic.startswith("espresense/devices/")]
        self.assertEqual(["var" in json.loads(message.payload) for message in devices], [False])

    def test_mutated_lines_do_no_harm(self) -> None:
        rng, house, parsed = random.Random(3), House(Settings(dialects=("rooms", "espresense"), raw=True)), 0
        logging.getLogger("uwb.bridges").setLevel(logging.ERROR)
        for number in range(MUTATIONS):
            value = _input.parse(mutated(rng, self.LINES))
            if value is not None:
                parsed += 1
                house.receive(value, number / 100)
            if number % 100 == 0:
                house.tick(number / 100)
                for message in taken(house):
                    self.assertNotRegex(message.topic, "[+#\0]")
                    self.assertLessEqual(len(message.topic.encode()), 200)
                    message.payload.encode()
        self.assertGreater(parsed, MUTATIONS // 10)


if __name__ == "__main__":
    unittest.main()
