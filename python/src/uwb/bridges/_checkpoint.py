# SPDX-License-Identifier: Apache-2.0
"""The state of an area's engine in JetStream, from which another engine continues.

The stream keeps the newest message of each subject. A state has parts, on one of two sides in
turn, and the message `newest`, which names the side and a digest of all parts. So there is a whole
state while another one is written; parts of two writers do not pass as one state.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import deque
from dataclasses import dataclass
from typing import Any

from ._lease import Lease, Lost, stored
from ._nats import Client
from ._streams import call, stream

#: Bytes of a part, and of all parts.
PART, MOST = 512 << 10, 64 << 20
#: Seconds for a part to be stored, and to be read.
TIMEOUT, ANSWER = 5.0, 1.0
#: Lines whose numbers are kept until a state has them.
LONGEST = 500_000


@dataclass
class State:
    """A state of `uwbsite run --state` with its place in the stream of measurements."""

    text: bytes
    #: The number of the last measurement in the state.
    number: int
    #: The sequences of the last measurements by publisher and subject.
    sequences: dict[tuple[str, str], int]

    @property
    def lines(self) -> int:
        """The lines of input that are in the state; `ValueError` for a text that is not a state."""
        found = json.loads(self.text[: self.text.find(b"\n")])["lines"]
        if not isinstance(found, int):
            raise ValueError("a state without its lines")
        return found


class Journal:
    """The numbers of lines on their way to the engine, until a state has them."""

    def __init__(self, number: int = 0, sequences: dict[tuple[str, str], int] | None = None) -> None:
        self._number, self._sequences = number, dict(sequences or {})
        self._lines: deque[tuple[int, tuple[str, str], int]] = deque(maxlen=LONGEST)
        #: The lines so far, and the ones in the last state.
        self.count = self._taken = 0

    def add(self, number: int, key: tuple[str, str], sequence: int) -> None:
        """Adds a line."""
        self.count += 1
        self._lines.append((number, key, sequence))

    def take(self, lines: int) -> tuple[int, dict[tuple[str, str], int]] | None:
        """Returns the number and the sequences after some lines; None where they are not known."""
        if not self._taken <= lines <= self.count or self.count - len(self._lines) > self._taken:
            return None
        while self._taken < lines:
            self._number, key, sequence = self._lines.popleft()
            self._sequences[key] = sequence
            self._taken += 1
        return self._number, dict(self._sequences)


def packed(state: State) -> bytes:
    """Returns the bytes of all parts."""
    head = {"number": state.number, "sequences": [[*key, value] for key, value in state.sequences.items()]}
    return zlib.compress(json.dumps(head, separators=(",", ":")).encode() + b"\n" + state.text, 1)


def unpacked(data: bytes) -> State:
    """Returns the state of the bytes; `ValueError` for others."""
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(data, 16 * MOST)
        if not reader.eof:
            raise ValueError("the state is cut, or too long")
        first, _, rest = text.partition(b"\n")
        head = json.loads(first)
        sequences = {(str(publisher), str(subject)): int(value) for publisher, subject, value in head["sequences"]}
        return State(rest, int(head["number"]), sequences)
    except (zlib.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the state cannot be read: {error}") from None


class Checkpoint:
    """Reads and writes the states of an area."""

    def __init__(self, client: Client, site: str, area: str, digest: str) -> None:
        self._client, self._stream = client, stream(site, "state")
        self._start = f"uwb.{site}.{area}.state."
        #: A digest of the site file: a state belongs to one.
        self._digest = digest
        self._side = "a"
        self._number = 0
        self.size = 0

    async def _get(self, name: str) -> dict[str, Any] | None:
        found = await call(self._client, f"STREAM.MSG.GET.{self._stream}", {"last_by_subj": self._start + name}, ANSWER)
        message = found.get("message")
        return message if isinstance(message, dict) else None

    async def load(self) -> State | None:
        """Returns the newest state of this site file; None where there is none."""
        message = await self._get("newest")
        if message is None:
            return None
        try:
            self._number = int(message["seq"])
            newest = json.loads(base64.b64decode(message["data"]))
            self._side = "b" if newest["side"] == "a" else "a"
            if newest["site"] != self._digest or not 0 < newest["parts"] <= MOST // PART:
                return None
            parts = []
            for index in range(newest["parts"]):
                part = await self._get(f"{newest['side']}{index}")
                parts.append(base64.b64decode(part["data"]) if part else b"")
            data = b"".join(parts)
            if hashlib.sha256(data).hexdigest() != newest["sha256"]:
                return None
            return unpacked(data)
        except (KeyError, TypeError, ValueError):
            return None

    async def save(self, data: bytes, lease: Lease) -> None:
        """Writes the bytes of a state, as far as the lease is held.

        Raises `Lost` where another program has written one.
        """
        size = min(PART, self._client.longest - 1_024)
        parts = [data[start : start + size] for start in range(0, len(data), size)]
        if len(parts) > MOST // PART:
            raise ValueError(f"The state of the area has {len(data) >> 20} MB, and {MOST >> 20} MB are possible. Divide it.")
        for index, part in enumerate(parts):
            if not lease.is_held:
                return
            stored(await self._client.request(f"{self._start}{self._side}{index}", part, TIMEOUT))
        newest = {"side": self._side, "parts": len(parts), "sha256": hashlib.sha256(data).hexdigest(), "site": self._digest}
        headers = f"Nats-Expected-Last-Subject-Sequence: {self._number}\r\n".encode()
        number = stored(await self._client.request(f"{self._start}newest", json.dumps(newest).encode(), TIMEOUT, headers))
        if number is None:
            # Its answer was lost, or another program has written.
            message = await self._get("newest")
            if message is None or base64.b64decode(message.get("data", "")) != json.dumps(newest).encode():
                raise Lost("Another program writes the state of this area.")
            number = int(message["seq"])
        self._number, self._side, self.size = number, "b" if self._side == "a" else "a", len(data)
