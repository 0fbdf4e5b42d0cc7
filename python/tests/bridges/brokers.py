# SPDX-License-Identifier: Apache-2.0
"""Brokers, the program, and a subscriber for test_mqtt.py."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

PASSWORD = "correct horse"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait(condition: Callable[[], object], seconds: float = 20) -> bool:
    """Returns whether a condition holds before the deadline."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Broker:
    """A broker that can be killed and started again at its port."""

    def __init__(self, folder: pathlib.Path, kind: str = "mosquitto", settings: str = "") -> None:
        self.port, self.kind, self.folder = free_port(), kind, folder
        folder.mkdir(parents=True, exist_ok=True)
        self._config = folder / f"{kind}-{self.port}.conf"
        if kind == "mosquitto":
            # The program of Debian is in a folder for administrators.
            found = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
            access = "" if "password_file" in settings else "allow_anonymous true\n"
            self._config.write_text(f"listener {self.port} 127.0.0.1\n{access}{settings}\n")
            self._command = [found, "-c", str(self._config)]
        elif kind == "nats":
            self._config.write_text(
                f"server_name: test\nlisten: 127.0.0.1:{free_port()}\n"
                f"jetstream {{ store_dir: '{folder}/nats' }}\nmqtt {{ listen: 127.0.0.1:{self.port} }}\n")
            self._command = [shutil.which("nats-server") or "/usr/sbin/nats-server", "-c", str(self._config)]
        else:
            self._config.write_text(
                f"listeners:\n  default:\n    type: tcp\n    bind: 127.0.0.1:{self.port}\n"
                "plugins:\n  amqtt.plugins.authentication.AnonymousAuthPlugin:\n    allow_anonymous: true\n")
            self._command = [str(pathlib.Path(sys.executable).parent / "amqtt"), "-c", str(self._config)]
        self.log = open(folder / f"{kind}-{self.port}.log", "ab")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=self.log, stderr=subprocess.STDOUT)

        def answers() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", self.port)) == 0

        assert wait(answers), f"{self.kind} does not start: see {self.log.name}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.resume()
        self.kill()
        self.log.close()


class Subscriber:
    """Everything that a broker sends, with the newest payload of each topic."""

    def __init__(self, port: int, **login: str) -> None:
        self.messages: list[tuple[float, str, str, bool]] = []
        self.newest: dict[str, str] = {}
        self.ready = threading.Event()
        self.client = client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
        if login:
            client.username_pw_set(login["user"], login["password"])
        client.reconnect_delay_set(0.05, 0.1)  # type: ignore[arg-type]
        client.on_connect = self._connected
        client.on_subscribe = lambda *_: self.ready.set()
        client.on_message = self._received
        client.connect_async("127.0.0.1", port, keepalive=5)
        client.loop_start()
        assert self.ready.wait(20), "the subscriber does not connect"

    def _connected(self, client: Any, data: object, flags: Any, reason: Any, properties: Any = None) -> None:
        client.subscribe("#", 1)

    def _received(self, client: Any, data: object, message: Any) -> None:
        text = message.payload.decode()
        self.messages.append((time.monotonic(), message.topic, text, message.retain))
        self.newest[message.topic] = text

    def state(self, topic: str) -> Any:
        return json.loads(self.newest.get(topic, "null"))

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


class Program:
    """uwb-mqtt, whose source is its standard input unless given."""

    def __init__(self, *arguments: object, source: str = "-", port: int = 0) -> None:
        command = [sys.executable, "-m", "uwb.bridges.mqtt", "--broker", f"mqtt://127.0.0.1:{port}", "-v"]
        self.process = subprocess.Popen(
            [*command, *map(str, arguments), source], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.log = ""
        self._thread = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._thread.start()

    def _read(self, file: IO[bytes]) -> None:
        for line in file:
            self.log += line.decode()

    def send(self, *lines: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self.process.stdin.flush()

    def close(self) -> int:
        if self.process.stdin is not None and not self.process.stdin.closed:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        status = self.process.wait(10)
        self._thread.join()
        if self.process.stderr is not None:
            self.process.stderr.close()
        return status

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.close()


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Runs the program until it ends."""
    return subprocess.run(
        [sys.executable, "-m", "uwb.bridges.mqtt", *map(str, arguments)], capture_output=True, text=True,
        timeout=60, check=False)


def place(tag: str, x: float, moment: float = 0.0) -> dict[str, Any]:
    return {"t": moment, "tag": tag, "position_m": [x, 0, 1], "velocity_m_s": [0, 0, 0],
            "covariance_m2": [0.0001, 0, 0, 0.0001, 0, 0.01], "r95_m": 0.03, "motion": "still"}


def change(tag: str, event: str, zone: str, moment: float = 0.0) -> dict[str, Any]:
    return {"t": moment, "decided": moment, "tag": tag, "event": event, "zone": zone, "count": 1}


NAMES = ["+", "#", "/", "\0", "<img src=x onerror=alert(1)>", "a/b", "", "ä" * 300, "\ud800", "\U0001f408"]


def mutated(rng: random.Random, lines: list[bytes]) -> bytes:
    """Returns one of the lines, with hostile names and damaged bytes."""
    line = bytearray(rng.choice(lines))
    if rng.random() < 0.3:
        name = json.dumps(rng.choice(NAMES)).encode()
        line = bytearray(bytes(line).replace(b'"cat"', name).replace(b'"0x0001"', name))
    for _ in range(rng.randrange(4)):
        if line:
            place = rng.randrange(len(line))
            line[place : place + rng.randrange(3)] = rng.choice(
                [b"", b"1e999", b"1e300", b"null", b"-", b"{", b"[", b"]", b'"', b"9" * 30,
                 bytes([rng.randrange(256)])])
    return bytes(line)


def certificates(folder: pathlib.Path) -> None:
    """Makes a certificate authority, and certificates: right, of another host, and expired."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test", "-days", "9",
            "-addext", "keyUsage=critical,keyCertSign")
    for name, host, days in ("right", "IP:127.0.0.1", "9"), ("host", "DNS:other.test", "9"), ("old", "IP:127.0.0.1", "-1"):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / f"{name}.ext").write_text(f"subjectAltName={host}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-out", f"{name}.pem", "-days", days, "-extfile", f"{name}.ext")
    for path in folder.glob("*.key"):
        os.chmod(path, 0o644)
