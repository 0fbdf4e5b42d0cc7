# SPDX-License-Identifier: Apache-2.0
"""The connection to a broker of MQTT, and its options."""

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

from ._house import Message, Outbox
from ._input import log
from ._program import secret

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
        self, options: argparse.Namespace, put: Callable[[object], None], topics: str, status: str | None = None,
        is_probe: bool = False
    ) -> None:
        #: The topic of the last will.
        self.status = status
        self._topics = topics
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
        if status:
            client.will_set(status, "offline", qos=1, retain=True)
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
            if self.status:
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
                "Another client has the name %s: give each bridge a --client-id of its own%s.",
                self._options.client_id, ", and a --base" if self.status else "")
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
            log.error("The broker refuses a message: %s. Permit %s to the user.", reason, self._topics)
        self._put(None)

    def _received(self, client: Any, data: object, message: Any) -> None:
        self._put(Received(message.topic, message.payload.decode("utf-8", "replace")))


def add_options(found: argparse.ArgumentParser) -> None:
    """Adds the options of a broker, except for its address."""
    add = found.add_argument
    add("--user", help="the user at the broker")
    add("--password-file", metavar="FILE", help="a file with the password; with systemd, the credential password")
    add("--ca", metavar="FILE", help="the certificates that sign the broker's (default: the system's)")
    add("--certificate", metavar="FILE", help="the certificate of this client")
    add("--key", metavar="FILE", help="the key of this client")
    add("--protocol", choices=["5", "3.1.1"], default="5", help="the version of MQTT (default: 5)")
    add("--client-id", default=f"{found.prog}-{socket.gethostname()}"[:60], help="the name of this client")


def validate_broker(options: argparse.Namespace) -> None:
    """Raises `ValueError` for options of a broker that cannot be used."""
    url = urlsplit(options.broker)
    if url.scheme not in ("mqtt", "mqtts", "unix") or url.scheme == "unix" and not url.path:
        raise ValueError("--broker begins with mqtt://, mqtts:// or unix:")
    if url.username is not None or url.password is not None:
        raise ValueError("--broker has no user: use --user, and --password-file for the password")
    if bool(options.password_file) and options.user is None:
        raise ValueError("--password-file needs --user")
    url.port  # Raises an error.
