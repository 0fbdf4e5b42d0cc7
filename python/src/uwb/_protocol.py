# SPDX-License-Identifier: Apache-2.0
"""The messages of the service, without any input or output."""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import time
import typing
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

_Value = TypeVar("_Value")

INTERFACE = "org.swift-uwb.Chips"
SITE_INTERFACE = "org.swift-uwb.Site"
DEFAULT_PATH = "/run/uwbd/control"

#: Names methods, sessions and errors; never the parameters of a call, which have the keys.
log = logging.getLogger("uwb")
log.addHandler(logging.NullHandler())

Keep = Literal["all", "newest"]
Share = Literal["user", "everyone"]
Profile = Mapping[str, Any] | str | os.PathLike[str]


def default_path() -> str:
    return os.environ.get("UWBD_SOCKET", DEFAULT_PATH)


def late(what: str) -> TimeoutError:
    return TimeoutError(f"{what} in time: check the service, or set a longer timeout.")


class ConnectionLost(ConnectionError):
    """There is no service, or it has closed the connection."""


class Attempt:
    """The time in which a service that was lost has to return."""

    def __init__(self, lost: ConnectionLost, seconds: float) -> None:
        self.lost = lost
        self._pause = 0.1
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def pause(self) -> float:
        """Returns the seconds until the next try."""
        # Random, so that programs do not retry at the same time.
        pause = self._pause * random.uniform(0.5, 1)
        self._pause = min(2 * self._pause, 2.0)
        return pause


@dataclass(frozen=True, slots=True)
class StartCall:
    """The parameters of Start for the next service. They have the keys, so no text shows them."""

    parameters: dict[str, Any] = field(repr=False)
    chip: str
    session_id: int

    def is_of(self, chip: str | None, session_id: int) -> bool:
        """Whether the session has this ID, on this chip or any."""
        return self.session_id == session_id and chip in (None, self.chip)

    def shared(self, share: Share) -> StartCall:
        """Returns the same call with another share."""
        return StartCall({**self.parameters, "share": share}, self.chip, self.session_id)


def try_to_connect(connection: socket.socket, path: str) -> bool:
    """Connects a socket that does not block; False: the service has no room yet, try again soon."""
    try:
        connection.connect(path)
    except BlockingIOError:
        # Neither select nor epoll reports room in the queue of a Unix socket.
        return False
    except PermissionError as error:
        raise ConnectionLost(
            f"This user may not connect to {path}: {error.strerror}. Ask to be added to its group."
        ) from None
    except OSError as error:
        raise ConnectionLost(
            f"No service listens at {path}: {error.strerror or error}. Start uwbd, or name its socket."
        ) from None
    return True


def retry_pause() -> float:
    """Returns the seconds until a full service may have room."""
    return random.uniform(0.01, 0.02)


class ProtocolError(Exception):
    """The message received is not varlink."""


class ServiceError(Exception):
    """The service refused a call."""

    def __init__(self, error: str, parameters: Mapping[str, Any]) -> None:
        super().__init__(error, parameters)
        self.error = error
        self.parameters = dict(parameters)

    @property
    def reason(self) -> str | None:
        """The cause, as a text for users."""
        return _text(self.parameters.get("reason"))

    @property
    def advice(self) -> str | None:
        """The next step, as a text for users."""
        return _text(self.parameters.get("advice"))

    def __str__(self) -> str:
        name = self.error.rpartition(".")[2]
        return " ".join(part for part in (self.reason or self._summary(name), self.advice) if part)

    def _summary(self, name: str) -> str:
        if name == "InvalidParameter":
            parameter = self.parameters.get("parameter")
            return (
                f"The service does not accept the parameter {parameter}: its value is out of range, "
                "or the service is older."
            )
        return f"{name}: {json.dumps(self.parameters)}"


class NoChip(ServiceError):
    """There is no such chip, or the call names none of several."""


class ChipUnavailable(ServiceError):
    """The chip cannot be used now."""


class Busy(ServiceError):
    """Another program uses the chip exclusively, or programs with sessions keep it."""


class InvalidProfile(ServiceError):
    """The profile cannot be read."""


class Conflict(ServiceError):
    """A session with this id and other parameters is there."""

    def _summary(self, name: str) -> str:
        differences = "; ".join(
            f"{d.get('parameter')} is {d.get('present')}, not {d.get('wanted')}"
            for d in self.parameters.get("differences", [])
        )
        owners = ", ".join(
            f"user {o.get('uid')} (process {o.get('pid')})" for o in self.parameters.get("owners", [])
        )
        number = self.parameters.get("session_id")
        return (
            f"The service refused session {number}, which {owners or 'no program'} holds with other "
            f"parameters: {differences}."
        )


class Denied(ServiceError):
    """This user may not do this."""


class LimitReached(ServiceError):
    """As many connections of all users, or of this user, as the service allows are open."""


class Refused(ServiceError):
    """The chip refuses the session."""


class NoSession(ServiceError):
    """There is no such session, or this connection does not hold it."""


class SessionEnded(ServiceError):
    """The session that was named has ended."""


class NoTag(ServiceError):
    """The site file has no such tag."""


def ended(error: Exception) -> tuple[str, int]:
    """Returns the chip and the session that an error reports as ended."""
    if not isinstance(error, SessionEnded):
        return "", -1
    return error.parameters.get("chip", ""), error.parameters.get("session_id", -1)


_ERRORS: dict[str, type[ServiceError]] = {
    f"{INTERFACE}.{kind.__name__}": kind
    for kind in (
        NoChip, ChipUnavailable, Busy, InvalidProfile, Conflict, Denied, LimitReached, Refused, NoSession, SessionEnded,
    )
} | {f"{SITE_INTERFACE}.{kind.__name__}": kind for kind in (LimitReached, NoTag)}


# A service that was restarted has not found or opened the chip yet, other programs have all of its
# connections, or another program has not started its session yet.
NOT_YET = (Busy, ChipUnavailable, ConnectionLost, LimitReached, NoChip, NoSession, TimeoutError)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the service."""

    parameters: dict[str, Any]
    #: Whether another reply to the same call follows.
    continues: bool = False
    error: str | None = None

    def result(self) -> dict[str, Any]:
        """The parameters, or the error as an exception."""
        if self.error is not None:
            raise _ERRORS.get(self.error, ServiceError)(self.error, self.parameters)
        return self.parameters


#: Bytes of the longest message that is accepted.
LIMIT = 16 << 20


def check_length(count: int) -> None:
    """Raises an error for a message that is too long."""
    if count > LIMIT:
        raise ProtocolError(f"a message is longer than {LIMIT} bytes")


def split(data: bytes | bytearray) -> tuple[list[Reply], bytes]:
    """Returns the replies in some bytes, and the bytes after the last one."""
    *messages, rest = data.split(b"\0")
    return [_reply(bytes(message)) for message in messages], bytes(rest)


def _reply(message: bytes) -> Reply:
    try:
        members = json.loads(message)
    except (ValueError, RecursionError) as cause:
        raise ProtocolError(f"a message is not JSON: {cause}") from None
    if not isinstance(members, dict):
        raise ProtocolError("a message is not an object")
    parameters = members.get("parameters")
    error = members.get("error")
    if not isinstance(parameters, (dict, type(None))) or not isinstance(error, (str, type(None))):
        raise ProtocolError("a member is of another kind")
    return Reply(parameters or {}, members.get("continues") is True, error)


class Protocol:
    """Makes messages, and finds them in the bytes that come, cut anywhere."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def call(self, method: str, /, *, more: bool = False, **parameters: Any) -> bytes:
        """A call; parameters that are None are left out."""
        name = method if "." in method else f"{INTERFACE}.{method}"
        message: dict[str, Any] = {"method": name}
        given = {key: value for key, value in parameters.items() if value is not None}
        if given:
            message["parameters"] = given
        if more:
            message["more"] = True
        return json.dumps(message, allow_nan=False).encode() + b"\0"

    def receive(self, data: bytes) -> list[Reply]:
        """The replies that are complete with these bytes."""
        self._rest += data
        replies: list[Reply] = []
        # Only new octets can contain an end.
        if b"\0" in data:
            replies, rest = split(self._rest)
            self._rest = bytearray(rest)
        check_length(len(self._rest))
        return replies


@dataclass(frozen=True, slots=True)
class Service:
    """The service. Times and sequence numbers are ordered within a run."""

    version: str = ""
    #: The version of the interface.
    protocol: int = 1
    #: Additions to the interface.
    features: frozenset[str] = frozenset()
    #: The random name of the run; empty for older services.
    run: str = ""
    #: The name of the machine.
    host: str = ""

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Service:
        """Makes a service of the reply to GetService."""
        return cls(
            members.get("version", ""),
            members.get("protocol", 1),
            frozenset(members.get("features", [])),
            members.get("run", ""),
            members.get("host", ""),
        )


def older_service(error: ServiceError, info: Mapping[str, Any]) -> Service:
    """Returns the service without GetService; other errors are raised."""
    if not error.error.endswith(".MethodNotFound"):
        raise error
    return Service(info.get("version", ""))


class Source(typing.Protocol[_Value]):
    """Makes the values of a stream of the replies to a call."""

    @property
    def method(self) -> str: ...

    def parameters(self, features: Container[str]) -> dict[str, Any]: ...

    @property
    def seen(self) -> frozenset[tuple[str, int]]: ...

    def lost(self, error: Exception) -> _Value: ...

    def received(
        self, parameters: Mapping[str, Any], interrupted: frozenset[tuple[str, int]]
    ) -> tuple[list[_Value], frozenset[tuple[str, int]]]: ...


def milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000)


def filters(
    peer: str | None, peers: Iterable[str] | None, rate: float | None
) -> dict[str, Any]:
    """Returns the parameters of Monitor that select measurements."""
    if peer is not None and peers is not None:
        raise ValueError("measurements take peer or peers")
    if rate is not None and not rate > 0:
        raise ValueError("rate is greater than 0")
    return {
        "peer": peer,
        "peers": None if peers is None else [peers] if isinstance(peers, str) else list(peers),
        "peer_ms": None if rate is None else milliseconds(1 / rate),
    }


def check(info: Mapping[str, Any], program: str = "uwbd", interface: str = INTERFACE) -> None:
    """Whether this is the service that was looked for."""
    if interface not in info.get("interfaces", []):
        raise ProtocolError(f"the service is not {program}: it has no {interface}")


def profile_parameters(
    profile: Profile | None, session_id: int | None = None, peer: str | None = None
) -> dict[str, Any]:
    """Returns the parameter of `Start` for a profile: its members, or the text of its file.

    Without a profile, the session ID or the peer names a session that exists. The service reads
    the text, so that each file that uwbctl accepts is accepted here.
    """
    if [profile, session_id, peer].count(None) != 2:
        raise TypeError("start takes one of profile, session_id and peer")
    if profile is None:
        return {"session_id": session_id, "peer": peer}
    if isinstance(profile, Mapping):
        return {"profile": dict(profile)}
    # As uwbctl does, accepts octets that are not UTF-8, such as a comment in Latin-1.
    with open(profile, encoding="utf-8", errors="replace", newline="") as file:
        return {"profile_text": file.read()}
