# SPDX-License-Identifier: Apache-2.0
"""A lease in JetStream: one program of several has it, and renews it each second.

The lease is the last message of a subject, which the stream forgets after `AGES["lease"]` seconds.
A message is stored only if the writer expects the number of the last one, or 0 where there is none.
"""

from __future__ import annotations

import base64
import json
import time

from ._nats import Client, Message, NatsError
from ._streams import AGES, call, stream

#: Seconds between two renewals, and between two attempts to get the lease of another program.
RENEWAL, ATTEMPT = 1.0, 0.5
#: Seconds by which a lease ends here before the stream forgets it.
MARGIN = 0.5
#: The error of JetStream for another last number than the expected one.
WRONG_LAST = 10071
#: The error of JetStream for a stream that does not exist.
NO_STREAM = 10059


def stored(message: Message) -> int | None:
    """Returns the number of a stored message; None for a refusal because of its expected number.

    Raises `NatsError` for any other answer.
    """
    try:
        answer = {} if message.status == 503 else json.loads(message.data)
        error = answer.get("error")
        number = answer.get("seq", 0)
    except (ValueError, AttributeError):
        raise NatsError(f"The answer of the stream cannot be read: {message.data[:200]!r}.") from None
    if error is not None and error.get("err_code") == WRONG_LAST:
        return None
    if error is not None:
        raise NatsError(f"The stream refuses the message: {error.get('description')}.")
    if not isinstance(number, int) or number <= 0:
        raise NatsError("No stream has confirmed the message. Make it: uwb-nats --make-streams.")
    return number


class Lost(Exception):
    """The area belongs to another program now."""


class Lease:
    """The right of one program to work on an area."""

    def __init__(self, client: Client, site: str, area: str, holder: str) -> None:
        self._client, self._stream = client, stream(site, "lease")
        self._subject = f"uwb.{site}.{area}.lease.engine"
        self._holder = holder
        self._number = 0
        self._until = 0.0

    @property
    def is_held(self) -> bool:
        """Whether no other program can have the lease now."""
        return time.monotonic() < self._until

    async def renew(self) -> bool:
        """Gets the lease, or makes it longer; false where another program has it.

        Raises `NatsError` without an answer.
        """
        began = time.monotonic()
        expected = self._number if self.is_held else await self._newest()
        number = await self._write(expected)
        if number is None and expected is not None:
            # The answer to the last renewal was lost, or the stream has forgotten it.
            number = await self._write(await self._newest())
        self._number, self._until = (number, began + AGES["lease"] - MARGIN) if number else (0, 0.0)
        return self.is_held

    async def _write(self, expected: int | None) -> int | None:
        """Returns the number of a lease after the expected one; None for another program's."""
        if expected is None:
            return None
        headers = f"Nats-Expected-Last-Subject-Sequence: {expected}\r\n".encode()
        return stored(await self._client.request(self._subject, self._holder.encode(), RENEWAL, headers))

    async def _newest(self) -> int | None:
        """Returns the number of the own lease, 0 for none, and None for another program's.

        A program that waits reads only. A stream of several servers counts each refused message.
        """
        found = await call(self._client, f"STREAM.MSG.GET.{self._stream}", {"last_by_subj": self._subject}, RENEWAL)
        if message := found.get("message"):
            is_own = base64.b64decode(message.get("data", "")) == self._holder.encode()
            return int(message["seq"]) if is_own else None
        if (error := found.get("error") or {}).get("code") != 404 or error.get("err_code") == NO_STREAM:
            raise NatsError(f"{self._stream}: {error.get('description')}. See uwb-nats --check.")
        return 0

    async def release(self) -> None:
        """Gives the lease back, so that another program need not wait for its end."""
        if self.is_held:
            self._until = 0.0
            await call(self._client, f"STREAM.PURGE.{self._stream}", {"filter": self._subject})
