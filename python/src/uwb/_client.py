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
    profile_parameters,
    retry_pause,
    try_to_connect,
)


def _late(what: str) -> TimeoutError:
    return TimeoutError(f"{what} in time: see what the service does, or give it a longer timeout.")


class Connection:
    """A socket to the service."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._timeout = timeout
        self._protocol = Protocol()
        self._replies: deque[Reply] = deque()
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.setblocking(False)
            end = self._end()
            while not try_to_connect(self._socket, path):
                if end is not None and time.monotonic() >= end:
                    raise _late(f"The service at {path} has not accepted a connection")
                time.sleep(retry_pause())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def _end(self) -> float | None:
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _wait(self, end: float | None, method: str) -> None:
        """Has the next operation take until then at most; None: for ever."""
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise _late(f"The service has not answered {method}")
        try:
            if left != self._socket.gettimeout():
                self._socket.settimeout(left)
        except OSError:
            raise ConnectionLost("The connection was closed.") from None

    def _send(self, end: float | None, method: str, more: bool, parameters: dict[str, Any]) -> None:
        message = self._protocol.call(method, more=more, **parameters)
        self._wait(end, method)
        try:
            self._socket.sendall(message)
        except TimeoutError:
            raise _late(f"The service has not received {method}") from None
        except BrokenPipeError:
            # The service may have refused the connection before.
            pass
        except OSError as error:
            raise ConnectionLost(f"The service has gone: {error}.") from None

    def receive(self, end: float | None = None, method: str = "Monitor") -> Reply:
        """The next reply, which comes until then; None: for ever."""
        while not self._replies:
            self._wait(end, method)
            try:
                data = self._socket.recv(65_536)
            except TimeoutError:
                continue
            except OSError as error:
                raise ConnectionLost(f"The service has gone: {error}.") from None
            if not data:
                raise ConnectionLost("The service has closed the connection.")
            self._replies.extend(self._protocol.receive(data))
        return self._replies.popleft()

    def listen(self, **parameters: Any) -> None:
        self._send(self._end(), "Monitor", True, parameters)

    def call(self, method: str, /, **parameters: Any) -> Reply:
        """Makes a call. Without its reply the connection is of no use any more: close it."""
        end = self._end()
        self._send(end, method, False, parameters)
        return self.receive(end, method)


class Session:
    """A session that this client holds: it ends with the block, the client or the program."""

    def __init__(self, client: Client, chip: str, session_id: int, joined: bool) -> None:
        self._client = client
        self.chip = chip
        self.session_id = session_id
        #: Whether another program had started the session.
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
            # The session has already ended.
            pass


class Client:
    """A user of the service, in one thread at a time.

    Each session, and each listener, has a connection of its own: a call that is given up ends no
    session, except one that it was to start or stop.
    """

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        # The connections of the sessions that the client holds, with their parameters for the next
        # service.
        self._held: dict[tuple[str, int], tuple[Connection, dict[str, Any]]] = {}
        # At most one connection without a call and without a session. None: the client is closed.
        self._idle: list[Connection] | None = []
        try:
            info = self._call("org.varlink.service.GetInfo")
            check(info)
        except BaseException:
            self.close()
            raise
        #: The name of the service.
        self.version: str = info.get("version", "")

    def _open(self) -> Connection:
        if self._idle is None:
            raise ConnectionLost("The client was closed.")
        return Connection(self._path, self._timeout)

    def _call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        connection = self._idle.pop() if self._idle else self._open()
        try:
            reply = connection.call(method, **parameters)
        except BaseException:
            # The next call would receive the late answer.
            connection.close()
            raise
        if self._idle == []:
            self._idle.append(connection)
        else:
            connection.close()
        return reply.result()

    def close(self) -> None:
        """Lets go of all sessions."""
        idle, self._idle = self._idle or [], None
        while idle:
            idle.pop().close()
        while self._held:
            self._held.popitem()[1][0].close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def chips(self) -> list[Chip]:
        return [Chip.from_json(chip) for chip in self._call("List").get("chips", [])]

    def describe(self, chip: str | None = None) -> Info:
        return Info.from_json(self._call("Describe", chip=chip).get("info", {}))

    def start(
        self,
        profile: Profile,
        *,
        chip: str | None = None,
        share: Share = "everyone",
        linger: float = 0,
    ) -> Session:
        """Starts a session by a profile, or joins the same one.

        profile -- its members, or the path of a file in any form that uwbctl accepts;
                   `InvalidProfile` names the line of an error
        share   -- who may join it and see what it measures
        linger  -- for how many seconds the session stays when this program has crashed
        """
        parameters = {
            **profile_parameters(profile),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        connection = self._open()
        try:
            result = connection.call("Start", **parameters).result()
            if self._idle is None:
                raise ConnectionLost("The client was closed.")
            key = result["chip"], result["session_id"]
            session = Session(self, *key, result["joined"])
            before = self._held.get(key)
            # The same chip, even if there are more chips later.
            self._held[key] = connection, {**parameters, "chip": result["chip"]}
            if before:
                before[0].close()
            return session
        except BaseException:
            # The service ends the session that the call starts, as after a crash of the program.
            connection.close()
            self._held = {k: held for k, held in self._held.items() if held[0] is not connection}
            raise

    def stop(self, session_id: int, *, chip: str | None = None) -> None:
        keys = [key for key in self._held if key[1] == session_id and chip in (None, key[0])]
        if not keys:
            # The session has ended, or belongs to another program. The error of the service names
            # the cause.
            self._call("Stop", session_id=session_id, chip=chip)
        for key in keys:
            connection, _ = self._held[key]
            try:
                connection.call("Stop", session_id=session_id, chip=key[0]).result()
            finally:
                connection.close()
                self._held.pop(key, None)

    def _reconnect(self, lost: ConnectionLost, seconds: float) -> None:
        """Connects to a service that was restarted, and starts the sessions that it held."""
        for pause in pauses(seconds):
            time.sleep(pause)
            if self._idle is None:
                break
            started: dict[tuple[str, int], Connection] = {}
            try:
                while self._idle:
                    self._idle.pop().close()
                self._call("org.varlink.service.GetInfo")
                for key, (_, parameters) in list(self._held.items()):
                    started[key] = self._open()
                    started[key].call("Start", **parameters).result()
                for key in list(started):
                    if held := self._held.get(key):
                        self._held[key] = started.pop(key), held[1]
                        held[0].close()
                return
            except (Busy, ChipUnavailable, ConnectionLost, NoChip, TimeoutError):
                # The service has not found or opened it yet.
                continue
            finally:
                for connection in started.values():
                    connection.close()
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
            return self._monitor(
                chip=chip, session_id=session_id, peer=peer, keep=keep, queue=queue
            )

        return self._listen(monitor, monitor(), reconnect)

    def _monitor(self, **parameters: Any) -> Connection:
        connection = self._open()
        try:
            connection.listen(**parameters)
        except BaseException:
            connection.close()
            raise
        return connection

    def _listen(
        self, monitor: Callable[[], Connection], connection: Connection, reconnect: float
    ) -> Iterator[Measurement]:
        try:
            while True:
                try:
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
        connection = self._monitor(chip=chip, session_id=session_id, peer=peer, queue=10_000)
        end = None if seconds is None else time.monotonic() + seconds
        found = Recording()
        try:
            while count is None or len(found) < count:
                try:
                    found.append(Measurement.from_json(connection.receive(end).result()))
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
