# SPDX-License-Identifier: Apache-2.0
"""The part of a stream that both clients share, without any input or output."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from ._protocol import NOT_YET, Attempt, ConnectionLost, Reply, Source, log

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class _State(Generic[_Value]):
    #: The number of the next reply on the connection.
    number: int
    ready: deque[_Value]
    #: The sessions whose next measurement follows an interruption that is reported.
    interrupted: frozenset[tuple[str, int]]
    #: Set from the loss of the connection to the first reply after it.
    attempt: Attempt | None


class Progress(Generic[_Value]):
    """The events of a stream that are ready, and its attempt to connect again."""

    def __init__(self, source: Source[_Value], reconnect: float) -> None:
        self._reconnect = reconnect
        self._source = source
        # Replaced as a whole, so that a signal loses nothing.
        self._state: _State[_Value] = _State(0, deque(), frozenset(), None)

    @property
    def number(self) -> int:
        """The number of the next reply on the connection."""
        return self._state.number

    @property
    def ready(self) -> deque[_Value]:
        return self._state.ready

    @property
    def attempt(self) -> Attempt | None:
        return self._state.attempt

    def received(self, reply: Reply) -> bool:
        """Takes the events of a reply, or raises its error; returns whether another follows."""
        state = self._state
        events, interrupted = self._source.received(reply.result(), state.interrupted)
        self._state = _State(state.number + 1, deque(events), interrupted, None)
        return reply.continues

    def goes_on(self, error: Exception) -> bool:
        """Whether the stream goes on after an error, on another connection."""
        attempt, ready = self.attempt, deque[_Value]()
        if isinstance(error, ConnectionLost) and self._reconnect:
            if attempt is None or attempt.is_over:
                log.warning("interrupted: %s", error)
                ready.append(self._source.lost(error))
                attempt = Attempt(error, self._reconnect)
            self._state = _State(0, ready, self._source.seen, attempt)
            return True
        self._state = _State(0, ready, self._state.interrupted, attempt)
        return isinstance(error, NOT_YET) and attempt is not None and not attempt.is_over
