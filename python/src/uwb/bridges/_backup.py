# SPDX-License-Identifier: Apache-2.0
"""Copies the streams of a site into files, and back, with the numbers and times of all messages.

The protocol is described at docs.nats.io, "JetStream wire API reference": STREAM.SNAPSHOT and
STREAM.RESTORE. The files are the ones of `nats stream backup`.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from ._nats import Client, Message, NatsError
from ._streams import call, explained, stream

#: The kinds of messages that are copied. Leases and reports of hosts are of the moment.
KINDS = ("range", "place", "event", "state")
#: Bytes of a part.
PART = 1 << 16
#: Seconds for a part, and for the end of a stream.
PATIENCE = 30.0


async def save(client: Client, site: str, folder: str, texts: list[str]) -> None:
    """Writes the streams of a site to a folder; `texts` gets one for each."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for kind in KINDS:
        name = stream(site, kind)
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        info = await _receive(client, name, f"{path}/stream.tar.s2")
        with open(f"{path}/backup.json", "w", encoding="utf-8") as file:
            json.dump({"config": info["config"], "state": info["state"]}, file)
        texts.append(f"{name}: {info['state'].get('messages', 0)} messages are in {path}")


async def _receive(client: Client, name: str, path: str) -> dict[str, Any]:
    """Writes the parts of a stream to a file, and returns its configuration and state."""
    parts: asyncio.Queue[Message] = asyncio.Queue()
    wanted = {"deliver_subject": f"{client.inbox(parts.put_nowait)}.part", "no_consumers": True, "chunk_size": PART}
    info = await call(client, f"STREAM.SNAPSHOT.{name}", wanted, PATIENCE)
    if "error" in info:
        raise NatsError(f"{name} cannot be copied: {explained(info['error'])}")
    with open(f"{path}.part", "wb") as file:
        while True:
            try:
                part = await asyncio.wait_for(parts.get(), PATIENCE)
            except asyncio.TimeoutError:
                raise NatsError(f"{name} cannot be copied: the server has stopped. Try again.") from None
            if part.status not in (0, 204):
                raise NatsError(f"{name} cannot be copied: the server has ended with {part.status}. Try again.")
            if not part.data:
                break
            file.write(part.data)
            client.publish(part.reply, b"")
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.part", path)
    return info


async def restore(client: Client, site: str, folder: str, replicas: int, texts: list[str]) -> None:
    """Makes the streams of a site from the files of a folder; `texts` gets one for each."""
    for kind in KINDS:
        name = stream(site, kind)
        path = os.path.join(folder, name)
        try:
            with open(f"{path}/backup.json", encoding="utf-8") as file:
                members = json.load(file)
            members["config"]["num_replicas"] = replicas
        except (ValueError, KeyError, TypeError):
            raise NatsError(f"{path}/backup.json is not a backup. Write another one: --backup.") from None
        with open(f"{path}/stream.tar.s2", "rb") as file:
            found = await call(client, f"STREAM.RESTORE.{name}", members, PATIENCE)
            while "error" not in found and (part := file.read(PART)):
                found = {**found, **_answer(await client.request(found["deliver_subject"], part, PATIENCE))}
            if "error" not in found:
                found = _answer(await client.request(found["deliver_subject"], b"", PATIENCE))
        if error := found.get("error"):
            raise NatsError(f"{name} cannot be restored: {explained(error)} A stream that exists is not replaced.")
        texts.append(f"{name}: {found['state'].get('messages', 0)} messages")


def _answer(message: Message) -> dict[str, Any]:
    found = json.loads(message.data) if message.data else {}
    return found if isinstance(found, dict) else {"error": {"description": "the answer cannot be read"}}
