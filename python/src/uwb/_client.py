# SPDX-License-Identifier: Apache-2.0
"""The client that blocks."""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ._model import Chip, Info, Measurement, Recording
from ._protocol import (
    Busy,
    ChipUnavailable,
    ConnectionLost,
    Keep,
    NoChip,
    Profile,
    Protocol,
    Reply,
    ServiceError,
    SessionEnded,
    Share,
    check,
    default_path,
    pauses,
    read_profile,
)


class Connection:
    """A socket to the service."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._protocol = Protocol()
        self._replies: deque[Reply] = deque()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
        except PermissionError as error:
            self.close()
            raise ConnectionLost(f"This user may not connect to {path}: {error.strerror}.") from None
        except OSError as error:
            self.close()
            raise ConnectionLost(f"No service listens at {path}: {error}. Start uwbd.") from None

    def close(self) -> None:
        self._socket.close()

    def wait(self, timeout: float | None) -> None:
        """For how long a reply may take; None: for ever."""
        self._socket.settimeout(timeout)

    def send(self, method: str, /, *, more: bool = False, **parameters: Any) -> None:
        try:
            self._socket.sendall(self._protocol.call(method, more=more, **parameters))
        except TimeoutError:
            raise
        except OSError as error:
            raise ConnectionLost(f"The service has gone: {error}.") from None

    def receive(self) -> Reply:
        while not self._replies:
            try:
                data = self._socket.recv(65_536)
            except TimeoutError:
                raise
            except OSError as error:
                raise ConnectionLost(f"The service has gone: {error}.") from None
            if not data:
                raise ConnectionLost("The service has closed the connection.")
            self._replies.extend(self._protocol.receive(data))
        return self._replies.popleft()

    def call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        self.send(method, **parameters)
        return self.receive().result()


class Session:
    """A session that this client holds: it ends with the block, the client or the program."""

    def __init__(self, client: Client, chip: str, session_id: int, joined: bool) -> None:
        self._client = client
        self.chip = chip
        self.session_id = session_id
        #: Whether another program had started it.
        self.joined = joined

    def measurements(
        self,
        *,
        peer: str | None = None,
        keep: Keep = "all",
        queue: int = 1_000,
        reconnect: float = 0,
    ) -> Iterator[Measurement]:
        """What it measures from now on; `SessionEnded` when it ends."""
        return self._client.measurements(
            chip=self.chip,
            session_id=self.session_id,
            peer=peer,
            keep=keep,
            queue=queue,
            reconnect=reconnect,
        )

    def stop(self) -> None:
        self._client.stop(self.session_id, chip=self.chip)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.stop()
        except (ServiceError, ConnectionLost):
            # It has ended already.
            pass


class Client:
    """A connection to the service. Of one thread at a time; measurements have connections of their own."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        # The parameters of the sessions that it holds, for a service that was restarted.
        self._held: dict[tuple[str, int], dict[str, Any]] = {}
        self._connection = Connection(path, timeout)
        try:
            info = self._connection.call("org.varlink.service.GetInfo")
            check(info)
        except BaseException:
            self._connection.close()
            raise
        #: Of the service.
        self.version: str = info.get("version", "")

    def close(self) -> None:
        """Lets go of all sessions."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def chips(self) -> list[Chip]:
        return [Chip.from_json(chip) for chip in self._connection.call("List").get("chips", [])]

    def describe(self, chip: str | None = None) -> Info:
        return Info.from_json(self._connection.call("Describe", chip=chip).get("info", {}))

    def start(
        self,
        profile: Profile,
        *,
        chip: str | None = None,
        share: Share = "everyone",
        linger: float = 0,
    ) -> Session:
        """Starts a session by a profile, or joins the same one.

        profile -- its members, or the path of a file
        share   -- who may join it and see what it measures
        linger  -- for how many seconds the session stays when this program has crashed
        """
        parameters = {
            "profile": read_profile(profile),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        result = self._connection.call("Start", **parameters)
        # The same chip, also when there are more of them later.
        self._held[result["chip"], result["session_id"]] = {**parameters, "chip": result["chip"]}
        return Session(self, result["chip"], result["session_id"], result["joined"])

    def stop(self, session_id: int, *, chip: str | None = None) -> None:
        for key in [key for key in self._held if key[1] == session_id and chip in (None, key[0])]:
            del self._held[key]
        self._connection.call("Stop", session_id=session_id, chip=chip)

    def _reconnect(self, lost: ConnectionLost, seconds: float) -> None:
        """Connects to a service that was restarted, and starts the sessions that it held."""
        for pause in pauses(seconds):
            time.sleep(pause)
            try:
                connection = Connection(self._path, self._timeout)
            except ConnectionLost:
                continue
            try:
                for parameters in self._held.values():
                    connection.call("Start", **parameters)
            except (Busy, ChipUnavailable, ConnectionLost, NoChip):
                # The service has not found or opened it yet.
                connection.close()
                continue
            except BaseException:
                connection.close()
                raise
            self._connection.close()
            self._connection = connection
            return
        raise lost

    def measurements(
        self,
        *,
        chip: str | None = None,
        session_id: int | None = None,
        peer: str | None = None,
        keep: Keep = "all",
        queue: int = 1_000,
        reconnect: float = 0,
    ) -> Iterator[Measurement]:
        """What is measured from this call on.

        keep      -- what the service drops when they are not taken in time: all but the newest of
                     each peer, or (all) the oldest when more than `queue` wait
        reconnect -- for how many seconds to wait for a service that was restarted: the sessions of
                     this client are started again, and measurements go on
        """

        def monitor() -> Connection:
            connection = Connection(self._path, self._timeout)
            connection.send(
                "Monitor",
                more=True,
                chip=chip,
                session_id=session_id,
                peer=peer,
                keep=keep,
                queue=queue,
            )
            return connection

        return self._listen(monitor, monitor(), reconnect)

    def _listen(
        self, monitor: Callable[[], Connection], connection: Connection, reconnect: float
    ) -> Iterator[Measurement]:
        try:
            while True:
                try:
                    connection.wait(None)
                    while True:
                        reply = connection.receive()
                        yield Measurement.from_json(reply.result())
                        if not reply.continues:
                            return
                except ConnectionLost as lost:
                    connection.close()
                    if not reconnect:
                        raise
                    self._reconnect(lost, reconnect)
                    connection = monitor()
        finally:
            connection.close()

    def record(
        self,
        *,
        seconds: float | None = None,
        count: int | None = None,
        chip: str | None = None,
        session_id: int | None = None,
        peer: str | None = None,
    ) -> Recording:
        """Measurements for some seconds, or so many of them; fewer when a session that is named ends."""
        if seconds is None and count is None:
            raise ValueError("record takes seconds or count")
        connection = Connection(self._path, self._timeout)
        connection.send(
            "Monitor", more=True, chip=chip, session_id=session_id, peer=peer, queue=10_000
        )
        end = None if seconds is None else time.monotonic() + seconds
        found = Recording()
        try:
            while count is None or len(found) < count:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    break
                connection.wait(left)
                try:
                    found.append(Measurement.from_json(connection.receive().result()))
                except (TimeoutError, SessionEnded):
                    break
        finally:
            connection.close()
        return found


def connect(path: str | os.PathLike[str] | None = None, *, timeout: float | None = 30) -> Client:
    """Connects to the service.

    path    -- its socket; by default what UWBD_SOCKET names, or /run/uwbd/control
    timeout -- for how many seconds an answer may take
    """
    return Client(default_path() if path is None else os.fspath(path), timeout)
