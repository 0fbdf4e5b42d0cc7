# SPDX-License-Identifier: Apache-2.0
"""Distances and angles from UWB chips, through the service `uwbd`."""

from ._client import Client, Session, connect
from ._model import Borrower, Chip, Info, Measurement, Owner, Recording, SessionState
from ._protocol import (
    Busy,
    Busy,
    ChipUnavailable,
    Conflict,
    ConnectionLost,
    Denied,
    InvalidProfile,
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
    "Busy",
    "ChipUnavailable",
    "Client",
    "Conflict",
    "ConnectionLost",
    "Denied",
    "Info",
    "InvalidProfile",
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
    "connect",
]
