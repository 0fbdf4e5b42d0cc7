# SPDX-License-Identifier: Apache-2.0
"""Publishes distances, places, rooms and zones by MQTT, for Home Assistant and other programs.

    uwb-mqtt --broker mqtt://broker
    uwb-mqtt --broker mqtt://broker site:/run/uwb-site/control
"""

from __future__ import annotations

import argparse
import random
import socket
import ssl
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

import uwb

from ._house import House, Message, Outbox, Settings
from ._input import Ended, Feed, log, names
from ._program import parser, run, secret

#: Messages that the broker has not confirmed yet. The others wait where a newer state replaces them.
IN_FLIGHT = 50


@dataclass(frozen=True, slots=True)
class Connected:
    """The connection to the broker, or its loss."""

    is_up: bool


@dataclass(frozen=True, slots=True)
class Received:
    topic: str
    payload: str


class Broker:
    """The connection to the broker. Its events are put into a queue."""

    def __init__(
        self, options: argparse.Namespace, put: Callable[[object], None], is_probe: bool = False
    ) -> None:
        self._options, self._put, self._is_probe = options, put, is_probe
        self._in_flight: deque[tuple[mqtt.MQTTMessageInfo, int]] = deque()
        # The limits of the broker: unconfirmed messages, and bytes of one.
        self._most, self._longest = IN_FLIGHT, 1 << 28
        self._since, self._quick = 0.0, 0
        self._is_refused = False
        self.reason = "There is no answer."
        url = urlsplit(options.broker)
        self._address = url.path if url.scheme == "unix" else url.hostname or "localhost"
        self._port = url.port or (8883 if url.scheme == "mqtts" else 1883)
        protocol = mqtt.MQTTv5 if options.protocol == "5" else mqtt.MQTTv311
        client = self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2, protocol=protocol,
            client_id=options.client_id + "-probe" * is_probe,
            transport="unix" if url.scheme == "unix" else "tcp")
        if options.user is not None:
            client.username_pw_set(options.user, secret(options.password_file, "password"))
        if url.scheme == "mqtts":
            context = ssl.create_default_context(cafile=options.ca)
            if options.certificate:
                context.load_cert_chain(options.certificate, options.key)
            client.tls_set_context(context)
        self.status = f"{options.base}/bridge/state"
        if not is_probe:
            client.will_set(self.status, "offline", qos=1, retain=True)
        client.max_inflight_messages_set(IN_FLIGHT)
        client.on_connect, client.on_disconnect = self._connected, self._disconnected
        client.on_connect_fail, client.on_message = self._failed, self._received
        client.on_publish, client.on_socket_open = self._published, self._opened

    def start(self) -> None:
        """Connects, and connects again for ever."""
        self._retry_soon()
        self._client.connect_async(self._address, self._port, keepalive=30)
        self._client.loop_start()

    def subscribe(self, *topics: str) -> None:
        """Subscribes to some topics, and to their retained messages."""
        self._client.subscribe([(topic, 1) for topic in topics])

    def publish(self, message: Message) -> None:
        """Passes a message to the client."""
        if len(message.topic.encode()) + len(message.payload.encode()) + 32 > self._longest:
            log.warning("The broker accepts no message of the length of %s.", message.topic)
            return
        sent = self._client.publish(message.topic, message.payload, message.qos, message.is_retained)
        self._in_flight.append((sent, message.qos))

    def returned(self) -> None:
        """Forgets messages that the former connection has lost: the others are sent again."""
        self._in_flight = deque(entry for entry in self._in_flight if entry[1] > 0)

    def pump(self, outbox: Outbox) -> None:
        """Publishes messages that wait, as long as the broker confirms them."""
        while self._client.is_connected():
            while self._in_flight and self._is_done(self._in_flight[0][0]):
                self._in_flight.popleft()
            if len(self._in_flight) >= self._most or (message := outbox.take()) is None:
                return
            self.publish(message)

    def stop(self, seconds: float = 2) -> None:
        """Reports the end of the bridge, since a clean end does not send the last will."""
        if self._client.is_connected():
            if not self._is_probe:
                self.publish(Message(self.status, "offline"))
            end = time.monotonic() + seconds
            while self._in_flight and self._client.is_connected() and time.monotonic() < end:
                if self._is_done(self._in_flight[0][0]):
                    self._in_flight.popleft()
                else:
                    time.sleep(0.005)
        self._client.disconnect()
        self._client.loop_stop()

    @staticmethod
    def _is_done(sent: mqtt.MQTTMessageInfo) -> bool:
        try:
            return bool(sent.is_published())
        except (ValueError, RuntimeError):
            # The connection was lost meanwhile.
            return True

    def _retry_soon(self) -> None:
        # Random, so that all clients of a broker do not return at the same time.
        client: Any = self._client
        client.reconnect_delay_set(random.uniform(0.5, 1), 2)

    def _opened(self, client: Any, data: object, opened: Any) -> None:
        # Without it, a message waits until the broker has confirmed the one before, up to 40 ms.
        if opened.family in (socket.AF_INET, socket.AF_INET6):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _connected(self, client: Any, data: object, flags: Any, reason: Any, properties: Any = None) -> None:
        if reason.is_failure:
            self.reason = f"The broker refuses the connection: {reason}. Check --user and --password-file."
            log.error("%s", self.reason)
            self._is_refused = True
            # Each refused login may be a step to a ban.
            client.reconnect_delay_set(30, 60)
            self._put(Connected(False))
            return
        if self._is_refused:
            self._is_refused = False
            self._retry_soon()
        self._most = min(IN_FLIGHT, getattr(properties, "ReceiveMaximum", IN_FLIGHT))
        self._longest = getattr(properties, "MaximumPacketSize", self._longest)
        self._since = time.monotonic()
        log.info("connected to %s", self._address)
        self._put(Connected(True))

    def _disconnected(self, client: Any, data: object, flags: Any, reason: Any, properties: Any = None) -> None:
        if self._is_refused:
            return
        self._quick = self._quick + 1 if time.monotonic() - self._since < 1 else 0
        if reason.is_failure:
            log.warning("disconnected: %s", reason)
        if reason.value == 0x8E or self._quick == 2:
            log.error(
                "Another client has the name %s: give each bridge a --client-id and a --base of its own.",
                self._options.client_id)
        self._put(Connected(False))

    def _failed(self, client: Any, data: object) -> None:
        error = sys.exc_info()[1]
        reason = f"There is no connection to {self._address}: {error}."
        (log.debug if reason == self.reason else log.warning)("%s", reason)
        self.reason = reason
        if self._is_probe:
            self._put(Connected(False))

    def _published(self, client: Any, data: object, mid: int, reason: Any, properties: Any = None) -> None:
        if reason.is_failure:
            log.error("The broker refuses a message: %s. Permit %s/# to the user.", reason, self._options.base)
        self._put(None)

    def _received(self, client: Any, data: object, message: Any) -> None:
        self._put(Received(message.topic, message.payload.decode("utf-8", "replace")))


class Bridge:
    """Carries inputs to a broker."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._feed = Feed(options.sources)
        self.house = House(settings(options))
        self.broker = Broker(options, self._feed.queue.put)
        self._open = len(options.sources)
        self._greeted = f"{self.house.settings.discovery}/status"

    def run(self) -> None:
        """Runs until its sources have ended."""
        house, base = self.house, self.house.settings.base
        house.outbox.state(self.broker.status, "online")
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
    broker = Broker(options, feed.queue.put, is_probe=True)
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
    add("--user", help="the user at the broker")
    add("--password-file", metavar="FILE", help="a file with the password; with systemd, the credential password")
    add("--ca", metavar="FILE", help="the certificates that sign the broker's (default: the system's)")
    add("--certificate", metavar="FILE", help="the certificate of this client")
    add("--key", metavar="FILE", help="the key of this client")
    add("--protocol", choices=["5", "3.1.1"], default="5", help="the version of MQTT (default: 5)")
    add("--client-id", default=f"uwb-mqtt-{socket.gethostname()}"[:60], help="the name of this client")
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
    url = urlsplit(options.broker)
    if url.scheme not in ("mqtt", "mqtts", "unix") or url.scheme == "unix" and not url.path:
        raise ValueError("--broker begins with mqtt://, mqtts:// or unix:")
    if url.username is not None or url.password is not None:
        raise ValueError("--broker has no user: use --user, and --password-file for the password")
    if bool(options.password_file) and options.user is None:
        raise ValueError("--password-file needs --user")
    url.port  # Raises an error.
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
