# SPDX-License-Identifier: Apache-2.0
"""The quality of the machine's UTC, as the kernel reports it."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

#: The clock is not synchronised, in the status of adjtimex(2).
_STA_UNSYNC = 0x0040
#: The return value of adjtimex(2) for the same.
_TIME_ERROR = 5


class _Timex(ctypes.Structure):
    _fields_ = [
        ("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long), ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long), ("status", ctypes.c_int), ("rest", ctypes.c_byte * 256)]


@dataclass(frozen=True, slots=True)
class Clock:
    """The two clocks of a machine at one moment."""

    utc_us: int
    monotonic_us: int
    #: The largest error of UTC in microseconds; None: the clock is not synchronised.
    max_error_us: int | None


def _max_error() -> int | None:
    found = _Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(found))
    except (OSError, AttributeError):
        return None
    if state in (-1, _TIME_ERROR) or found.status & _STA_UNSYNC:
        return None
    return int(found.maxerror)


class Clocks:
    """Reads both clocks, and the quality of UTC once a second."""

    def __init__(self) -> None:
        self._read = -1
        self._max_error: int | None = None

    def now(self) -> Clock:
        """Returns the clocks of now."""
        monotonic = time.monotonic_ns() // 1_000
        if self._read < 0 or monotonic - self._read > 1_000_000:
            self._read, self._max_error = monotonic, _max_error()
        return Clock(time.time_ns() // 1_000, monotonic, self._max_error)
