# SPDX-License-Identifier: Apache-2.0
"""Distances and angles from UWB chips, through the service `uwbd`."""

from ._client import Client, Session, Stream, connect
from ._model import (
    Borrower,
    Chip,
    Event,
    Info,
    Interruption,
    Measurement,
    Owner,
    Recording,
    SessionState,
)
from ._protocol import (
    Busy,
    ChipUnavailable,
    Conflict,
    ConnectionLost,
    Denied,
    InvalidProfile,
    LimitReached,
    NoChip,
    NoSession,
    Protocol,
    ProtocolError,
    Refused,
    Reply,
    ServiceError,
    SessionEnded,
)

__version__ = "0.1.0"

__all__ = [
    "Borrower",
    "Busy",
    "Chip",
    "ChipUnavailable",
    "Client",
    "Conflict",
    "ConnectionLost",
    "Denied",
    "Event",
    "Info",
    "Interruption",
    "InvalidProfile",
    "LimitReached",
    "Measurement",
    "NoChip",
    "NoSession",
    "Owner",
    "Protocol",
    "ProtocolError",
    "Recording",
    "Refused",
    "Reply",
    "ServiceError",
    "Session",
    "SessionEnded",
    "SessionState",
    "Stream",
    "connect",
]
