# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import AsyncIterator, Generator
from typing import Any

from ._model import Chip, Info, Measurement
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
    Share,
    check,
    default_path,
    pauses,
    profile_parameters,
    retry_pause,
    try_to_connect,
)

__all__ = ["Client", "Session", "connect"]


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = Protocol()
        self._replies: deque[Reply] = deque()

    @classmethod
    async def open(cls, path: str) -> _Connection:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.setblocking(False)
            while not try_to_connect(connection, path):
                await asyncio.sleep(retry_pause())
            return cls(*await asyncio.open_unix_connection(sock=connection))
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        # Bytes that the service has not received yet are of no use to it.
        self._writer.transport.abort()

    async def _send(self, method: str, more: bool, parameters: dict[str, Any]) -> None:
        try:
            self._writer.write(self._protocol.call(method, more=more, **parameters))
            await self._writer.drain()
        except OSError as error:
            raise ConnectionLost(f"The service has gone: {error}.") from None

    async def receive(self) -> Reply:
        while not self._replies:
            try:
                data = await self._reader.read(65_536)
            except OSError as error:
                raise ConnectionLost(f"The service has gone: {error}.") from None
            if not data:
                raise ConnectionLost("The service has closed the connection.")
            self._replies.extend(self._protocol.receive(data))
        return self._replies.popleft()

    async def listen(self, **parameters: Any) -> None:
        await self._send("Monitor", True, parameters)

    async def call(self, method: str, /, **parameters: Any) -> Reply:
        """Makes a call. Without its reply the connection is of no use any more: close it."""
        await self._send(method, False, parameters)
        return await self.receive()


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
    ) -> AsyncIterator[Measurement]:
        """What it measures from now on; `SessionEnded` when it ends."""
        return self._client.measurements(
            chip=self.chip,
            session_id=self.session_id,
            peer=peer,
            keep=keep,
            queue=queue,
            reconnect=reconnect,
        )

    async def stop(self) -> None:
        await self._client.stop(self.session_id, chip=self.chip)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exception: object) -> None:
        try:
            await self.stop()
        except (ServiceError, ConnectionLost):
            # The session has already ended.
            pass


class Client:
    """A user of the service.

    Each session, and each listener, has a connection of its own: a call that is cancelled ends no
    session, except one that it was to start or stop.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # The connections of the sessions that the client holds, with their parameters for the next
        # service.
        self._held: dict[tuple[str, int], tuple[_Connection, dict[str, Any]]] = {}
        # At most one connection without a call and without a session. None: the client is closed.
        self._idle: list[_Connection] | None = []
        # One connection is enough for calls.
        self._turn = asyncio.Lock()
        #: The name of the service.
        self.version = ""

    async def _open(self) -> _Connection:
        if self._idle is None:
            raise ConnectionLost("The client was closed.")
        connection = await _Connection.open(self._path)
        if self._idle is None:
            connection.close()
            raise ConnectionLost("The client was closed.")
        return connection

    async def _call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        async with self._turn:
            connection = self._idle.pop() if self._idle else await self._open()
            try:
                reply = await connection.call(method, **parameters)
            except BaseException:
                # The next call would receive the late answer.
                connection.close()
                raise
            if self._idle == []:
                self._idle.append(connection)
            else:
                connection.close()
            return reply.result()

    async def close(self) -> None:
        """Lets go of all sessions."""
        idle, self._idle = self._idle or [], None
        while idle:
            idle.pop().close()
        while self._held:
            self._held.popitem()[1][0].close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def chips(self) -> list[Chip]:
        return [Chip.from_json(chip) for chip in (await self._call("List")).get("chips", [])]

    async def describe(self, chip: str | None = None) -> Info:
        return Info.from_json((await self._call("Describe", chip=chip)).get("info", {}))

    async def start(
        self,
        profile: Profile,
        *,
        chip: str | None = None,
        share: Share = "everyone",
        linger: float = 0,
    ) -> Session:
        """Starts a session by a profile, or joins the same one; see `uwb.Client.start`."""
        parameters = {
            **profile_parameters(profile),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        connection = await self._open()
        try:
            result = (await connection.call("Start", **parameters)).result()
            if self._idle is None:
                raise ConnectionLost("The client was closed.")
            key = result["chip"], result["session_id"]
            session = Session(self, *key, result["joined"])
            before = self._held.get(key)
            # The same chip, even if there are more chips later.
            self._held[key] = connection, {**parameters, "chip": result["chip"]}
        except BaseException:
            # The service ends the session that the call starts, as after a crash of the program.
            connection.close()
            raise
        if before:
            before[0].close()
        return session

    async def stop(self, session_id: int, *, chip: str | None = None) -> None:
        keys = [key for key in self._held if key[1] == session_id and chip in (None, key[0])]
        if not keys:
            # The session has ended, or belongs to another program. The error of the service names
            # the cause.
            await self._call("Stop", session_id=session_id, chip=chip)
        for key in keys:
            connection, _ = self._held.pop(key)
            try:
                (await connection.call("Stop", session_id=session_id, chip=key[0])).result()
            finally:
                connection.close()

    async def _reconnect(self, lost: ConnectionLost, seconds: float) -> None:
        for pause in pauses(seconds):
            await asyncio.sleep(pause)
            if self._idle is None:
                break
            started: dict[tuple[str, int], _Connection] = {}
            try:
                while self._idle:
                    self._idle.pop().close()
                await self._call("org.varlink.service.GetInfo")
                for key, (_, parameters) in list(self._held.items()):
                    started[key] = await self._open()
                    (await started[key].call("Start", **parameters)).result()
                for key in list(started):
                    if held := self._held.get(key):
                        self._held[key] = started.pop(key), held[1]
                        held[0].close()
                return
            except (Busy, ChipUnavailable, ConnectionLost, NoChip):
                # The service has not found or opened it yet.
                continue
            finally:
                for connection in started.values():
                    connection.close()
        raise lost

    async def measurements(
        self,
        *,
        chip: str | None = None,
        session_id: int | None = None,
        peer: str | None = None,
        keep: Keep = "all",
        queue: int = 1_000,
        reconnect: float = 0,
    ) -> AsyncIterator[Measurement]:
        """What is measured from the first step of the loop on; see `uwb.Client.measurements`."""
        while True:
            connection = await self._open()
            try:
                await connection.listen(
                    chip=chip, session_id=session_id, peer=peer, keep=keep, queue=queue
                )
                while True:
                    reply = await connection.receive()
                    yield Measurement.from_json(reply.result())
                    if not reply.continues:
                        return
            except ConnectionLost as lost:
                if not reconnect:
                    raise
                await self._reconnect(lost, reconnect)
            finally:
                connection.close()


class _Connecting:
    """Both `async with connect()` and `await connect()`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._client: Client | None = None

    async def _open(self) -> Client:
        client = Client(self._path)
        try:
            info = await client._call("org.varlink.service.GetInfo")
            check(info)
        except BaseException:
            await client.close()
            raise
        client.version = info.get("version", "")
        return client

    def __await__(self) -> Generator[Any, None, Client]:
        return self._open().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._open()
        return self._client

    async def __aexit__(self, *exception: object) -> None:
        if self._client is not None:
            await self._client.close()


def connect(path: str | os.PathLike[str] | None = None) -> _Connecting:
    """Connects to the service: by default what UWBD_SOCKET names, or /run/uwbd/control."""
    return _Connecting(default_path() if path is None else os.fspath(path))
