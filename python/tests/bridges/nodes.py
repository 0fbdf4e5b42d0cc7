# SPDX-License-Identifier: Apache-2.0
"""Servers of NATS, the program uwb-nats, and a reader with nats-py for test_nats.py."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
from typing import Any

import nats

from brokers import free_port, wait

#: The program of Debian is in a folder for administrators. UWB_NATS_SERVER names another version.
SERVER = os.environ.get("UWB_NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"


class Node:
    """A server with JetStream that can be killed and started again at its port."""

    def __init__(self, folder: pathlib.Path, settings: str = "", port: int = 0, whole: bool = False) -> None:
        self.port = port or free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        config = folder / f"nats-{self.port}.conf"
        start = (f"server_name: n{self.port}\nlisten: 127.0.0.1:{self.port}\n"
                 f"jetstream {{ store_dir: '{folder}/js-{self.port}' }}\n")
        config.write_text(settings if whole else f"{start}{settings}\n")
        self._command = [SERVER, "-c", str(config)]
        self._log = open(folder / f"nats-{self.port}.log", "ab")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=self._log, stderr=subprocess.STDOUT)

        def answers() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", self.port)) == 0

        assert wait(answers), f"nats-server does not start: see {self._log.name}"

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
        self._log.close()

    def run(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        """Runs uwb-nats until it ends."""
        return run("--server", self.url, "--site", "hall", *arguments)

    def read(self, kind: str = "range") -> list[tuple[str, Any]]:
        """Returns the subjects and the contents of a stream, in its order."""
        return asyncio.run(read(self.url, f"uwb-hall-{kind}"))

    def count(self, kind: str = "range") -> int:
        """Returns the number of messages of a stream."""
        async def work() -> int:
            client = await nats.connect(self.url)
            info = await client.jetstream().stream_info(f"uwb-hall-{kind}")
            await client.close()
            return int(info.state.messages)

        return asyncio.run(work())


async def read(url: str, stream: str) -> list[tuple[str, Any]]:
    client = await nats.connect(url)
    context = client.jetstream()
    left = (await context.stream_info(stream)).state.messages
    subscription = await context.pull_subscribe("", stream=stream)
    found: list[tuple[str, Any]] = []
    while len(found) < left:
        for message in await subscription.fetch(min(500, left - len(found)), timeout=20):
            found.append((message.subject, json.loads(message.data)))
            await message.ack()
    await client.close()
    return found


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "uwb.bridges.nats", *map(str, arguments)], capture_output=True, text=True,
        timeout=60, check=False)
