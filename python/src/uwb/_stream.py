# SPDX-License-Identifier: Apache-2.0
"""The part of a stream that both clients share, without any input or output."""

from __future__ import annotations

from collections import deque

from ._model import Event, Events
from ._protocol import NOT_YET, Attempt, ConnectionLost, Reply, log


class Progress:
    """The events of a stream that are ready, and its attempt to connect again."""

    def __init__(self, reconnect: float) -> None:
        self._reconnect = reconnect
        self._events = Events()
        self.ready: deque[Event] = deque()
        # Set from the loss of the connection to the first measurement after it.
        self.attempt: Attempt | None = None

    def received(self, reply: Reply) -> bool:
        """Adds the events of a reply, or raises its error; returns whether another follows."""
        self.ready.extend(self._events.received(reply.result()))
        self.attempt = None
        return reply.continues

    def goes_on(self, error: Exception) -> bool:
        """Whether the stream goes on after an error, on another connection."""
        is_over = self.attempt is None or self.attempt.is_over
        if isinstance(error, ConnectionLost) and self._reconnect:
            if is_over:
                log.warning("interrupted: %s", error)
                self.ready.append(self._events.lost(error))
                self.attempt = Attempt(error, self._reconnect)
            return True
        return isinstance(error, NOT_YET) and not is_over
