# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
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
    read_profile,
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
        try:
            return cls(*await asyncio.open_unix_connection(path))
        except OSError as error:
            raise ConnectionLost(f"No service listens at {path}: {error}. Start uwbd.") from None

    def close(self) -> None:
        self._writer.close()

    async def send(self, method: str, /, *, more: bool = False, **parameters: Any) -> None:
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

    async def call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        await self.send(method, **parameters)
        return (await self.receive()).result()


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
            # It has ended already.
            pass


class Client:
    """A connection to the service; measurements have connections of their own."""

    def __init__(self, path: str, connection: _Connection, version: str) -> None:
        self._path = path
        self._connection = connection
        # The parameters of the sessions that it holds, for a service that was restarted.
        self._held: dict[tuple[str, int], dict[str, Any]] = {}
        # Answers come in the order of the calls.
        self._turn = asyncio.Lock()
        #: Of the service.
        self.version = version

    async def _call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        async with self._turn:
            try:
                return await self._connection.call(method, **parameters)
            except asyncio.CancelledError:
                # The answer would be taken for that of the next call.
                self._connection.close()
                raise

    async def close(self) -> None:
        """Lets go of all sessions."""
        self._connection.close()

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
            "profile": read_profile(profile),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        result = await self._call("Start", **parameters)
        # The same chip, also when there are more of them later.
        self._held[result["chip"], result["session_id"]] = {**parameters, "chip": result["chip"]}
        return Session(self, result["chip"], result["session_id"], result["joined"])

    async def stop(self, session_id: int, *, chip: str | None = None) -> None:
        for key in [key for key in self._held if key[1] == session_id and chip in (None, key[0])]:
            del self._held[key]
        await self._call("Stop", session_id=session_id, chip=chip)

    async def _reconnect(self, lost: ConnectionLost, seconds: float) -> None:
        for pause in pauses(seconds):
            await asyncio.sleep(pause)
            try:
                connection = await _Connection.open(self._path)
            except ConnectionLost:
                continue
            try:
                for parameters in self._held.values():
                    await connection.call("Start", **parameters)
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
            connection = await _Connection.open(self._path)
            try:
                await connection.send(
                    "Monitor",
                    more=True,
                    chip=chip,
                    session_id=session_id,
                    peer=peer,
                    keep=keep,
                    queue=queue,
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
        connection = await _Connection.open(self._path)
        try:
            info = await connection.call("org.varlink.service.GetInfo")
            check(info)
        except BaseException:
            connection.close()
            raise
        return Client(self._path, connection, info.get("version", ""))

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
