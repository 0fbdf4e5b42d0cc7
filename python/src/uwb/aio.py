# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from ._model import Change, Changes, Chip, Event, Events, Info, Interruption, Measurement, Recording
from ._protocol import (
    NOT_YET,
    Attempt,
    ConnectionLost,
    Keep,
    Profile,
    Protocol,
    Reply,
    Service,
    ServiceError,
    SessionEnded,
    Share,
    Source,
    StartCall,
    check,
    default_path,
    ended,
    filters,
    late,
    log,
    milliseconds,
    older_service,
    profile_parameters,
    retry_pause,
    try_to_connect,
)
from ._stream import Progress

__all__ = ["Client", "Session", "Stream", "Watch", "connect"]


class _Limit:
    """Is asyncio.timeout, which Python 3.10 does not have; None: no limit."""

    def __init__(self, seconds: float | None, what: str) -> None:
        self._seconds = seconds
        self._what = what
        self._timer: asyncio.TimerHandle | None = None
        self._has_passed = False
        self._cancellations = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if self._seconds is None or task is None:
            return
        if sys.version_info >= (3, 11):
            self._cancellations = task.cancelling()

        def cancel() -> None:
            self._has_passed = True
            task.cancel()

        self._timer = asyncio.get_running_loop().call_later(self._seconds, cancel)

    async def __aexit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if self._timer:
            self._timer.cancel()
        task = asyncio.current_task()
        if not self._has_passed or task is None:
            return
        # Another cancellation goes on.
        others = task.uncancel() > self._cancellations if sys.version_info >= (3, 11) else False
        if kind is asyncio.CancelledError and not others:
            raise late(self._what) from None


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

    @property
    def is_lost(self) -> bool:
        """Whether the service has closed it."""
        return self._reader.at_eof() or self._reader.exception() is not None

    async def _send(self, method: str, more: bool, parameters: dict[str, Any]) -> None:
        try:
            self._writer.write(self._protocol.call(method, more=more, **parameters))
            await self._writer.drain()
        except OSError as error:
            raise ConnectionLost(f"The service has disconnected: {error}.") from None

    async def receive(self) -> Reply:
        while not self._replies:
            try:
                data = await self._reader.read(65_536)
            except OSError as error:
                raise ConnectionLost(f"The service has disconnected: {error}.") from None
            if not data:
                raise ConnectionLost("The service has closed the connection.")
            self._replies.extend(self._protocol.receive(data))
        return self._replies.popleft()

    async def listen(self, method: str, /, **parameters: Any) -> None:
        await self._send(method, True, parameters)

    async def call(self, method: str, /, **parameters: Any) -> Reply:
        """Makes a call. Without its reply the connection is unusable: close it."""
        log.debug("call %s", method)
        await self._send(method, False, parameters)
        reply = await self.receive()
        log.debug("%s: %s", method, reply.error or "done")
        return reply


class Session:
    """A session that this client holds: it ends with the block, the client or the program."""

    def __init__(
        self, client: Client, number: int, chip: str, session_id: int, joined: bool
    ) -> None:
        self._client = client
        # The start that it stops.
        self._number = number
        self.chip = chip
        self.session_id = session_id
        #: Whether another program, or an earlier start, had started the session.
        self.joined = joined

    def measurements(
        self,
        *,
        peer: str | None = None,
        peers: Iterable[str] | None = None,
        rate: float | None = None,
        keep: Keep = "all",
        queue: int = 1_000,
        reconnect: float = 60,
    ) -> Stream:
        """Returns the session's measurements, as `Client.measurements` does.

        `SessionEnded` is raised when the session ends.
        """
        return self._client.measurements(
            chip=self.chip,
            session_id=self.session_id,
            peer=peer,
            peers=peers,
            rate=rate,
            keep=keep,
            queue=queue,
            reconnect=reconnect,
        )

    async def set_share(self, share: Share) -> None:
        """Changes the users who may join the session; see `uwb.Client.set_share`."""
        await self._client.set_share(self.session_id, share, chip=self.chip)

    async def stop(self) -> None:
        """Releases the session. It ends unless another program, or another start, holds it."""
        await self._client._release(self._number, self.session_id, self.chip)

    def __repr__(self) -> str:
        return f"<uwb.aio.Session {self.session_id} on {self.chip}>"

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exception: object) -> None:
        try:
            await self.stop()
        except (ServiceError, ConnectionLost):
            # The session has already ended.
            pass
        except TimeoutError:
            # The error of the block is the more important one.
            if exception[0] is None:
                raise


_Caller = TypeVar("_Caller", bound="Caller")


class Caller:
    """Calls a service."""

    # Counts the starts, so that the end of an earlier session does not concern a later one.
    _starts = 0

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        # At most one connection without a call and without a session. None: the client is closed.
        self._idle: list[_Connection] | None = []
        # One connection is enough for calls.
        self._turn = asyncio.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._idle is None

    def _limit(self, method: str) -> _Limit:
        return _Limit(self._timeout, f"The service has not answered {method}")

    async def _open(self) -> _Connection:
        if self.is_closed:
            raise ConnectionLost("The client was closed.")
        connection = await _Connection.open(self._path)
        if self.is_closed:
            connection.close()
            raise ConnectionLost("The client was closed.")
        return connection

    async def _call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        async with self._limit(method), self._turn:
            while self._idle and self._idle[-1].is_lost:
                # The service was restarted.
                self._idle.pop().close()
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

    def _features(self) -> frozenset[str]:
        return frozenset()

    async def _listen(self, events: Source[Any]) -> _Connection:
        async with self._limit(events.method):
            connection = await self._open()
            try:
                parameters = events.parameters(self._features())
                await connection.listen(events.method, **parameters)
                return connection
            except BaseException:
                connection.close()
                raise

    def _forget(self, error: Exception, starts: int) -> None:
        """Handles the error that ends a stream."""

    async def _restore(self) -> None:
        """Prepares for a service that was restarted."""

    async def close(self) -> None:
        """Closes the client, except its streams."""
        idle, self._idle = self._idle or [], None
        while idle:
            idle.pop().close()

    async def __aenter__(self: _Caller) -> _Caller:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


_Value = TypeVar("_Value")
_Self = TypeVar("_Self", bound="_Stream[Any]")


class _Stream(Generic[_Value]):
    _connection: _Connection | None = None

    def __init__(self, client: Caller, source: Source[_Value], reconnect: float) -> None:
        self._client = client
        self._source = source
        self._progress = Progress(source, reconnect)
        self._starts = client._starts
        # One try to connect again. A step that is cancelled does not cancel it.
        self._try: asyncio.Task[None] | None = None
        self._is_closed = False

    def _close(self) -> None:
        self._is_closed = True
        if self._try:
            self._try.cancel()
        connection, self._connection = self._connection, None
        if connection:
            connection.close()

    async def aclose(self) -> None:
        """Ends the stream. The session continues."""
        self._close()

    def __del__(self) -> None:
        # The loop may have ended.
        with suppress(RuntimeError):
            self._close()

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._close()

    def __aiter__(self: _Self) -> _Self:
        return self

    async def __anext__(self) -> _Value:
        progress = self._progress
        while not progress.ready:
            if self._is_closed:
                raise StopAsyncIteration
            if self._connection:
                await self._receive(self._connection)
            elif progress.attempt:
                await self._connect_again(progress.attempt)
            else:
                await self._connect()
        return progress.ready.popleft()

    async def _receive(self, connection: _Connection) -> None:
        try:
            if not self._progress.received(await connection.receive()):
                self._close()
        except Exception as error:
            if not self._progress.goes_on(error):
                self._client._forget(error, self._starts)
                self._close()
                raise
            self._connection = None
            connection.close()

    async def _connect(self) -> None:
        self._connection = await self._client._listen(self._source)

    async def _connect_again(self, attempt: Attempt) -> None:
        """Connects to a service that was restarted, and starts the sessions of the client."""
        if attempt.is_over or self._client.is_closed:
            self._close()
            raise attempt.lost
        task = self._try = self._try or asyncio.create_task(self._try_again(attempt))
        try:
            await asyncio.shield(task)
            log.info("connected again")
        except NOT_YET as error:
            log.debug("not yet: %s", type(error).__name__)
        except Exception:
            self._close()
            raise
        finally:
            if task.done():
                self._try = None

    async def _try_again(self, attempt: Attempt) -> None:
        await asyncio.sleep(attempt.pause())
        await self._client._restore()
        await self._connect()


class Stream(_Stream[Event]):
    """Measurements, with a value for each interruption between them: iterate over it.

    A step that is cancelled, by `asyncio.timeout` for example, loses nothing: the next one
    continues.
    """


class Watch(_Stream[Change | Interruption]):
    """The events of the service, with a value where it was restarted: iterate over it."""


class Client(Caller):
    """A user of the service; `connect` makes one.

    Each session, and each stream, has a connection of its own, on which no other call is made. A
    call that is cancelled ends no session, except one that it was to start or stop.
    """

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__(path, timeout)
        # The connections of the sessions that the client holds, by the number of the start, with
        # the parameters for the next service.
        self._held: dict[int, tuple[_Connection, StartCall]] = {}
        # Several streams may lose the service at once.
        self._restoring = asyncio.Lock()
        #: The service: its version, features, run and host.
        self.service = Service()

    @property
    def version(self) -> str:
        """The version of the service."""
        return self.service.version

    async def _greet(self) -> None:
        info = await self._call("org.varlink.service.GetInfo")
        check(info)
        try:
            self.service = Service.from_json(await self._call("GetService"))
        except ServiceError as error:
            self.service = older_service(error, info)

    def _features(self) -> frozenset[str]:
        return self.service.features

    def __repr__(self) -> str:
        return f"<uwb.aio.Client of {self._path}>"

    async def close(self) -> None:
        """Releases all sessions of this client."""
        await super().close()
        while self._held:
            self._held.popitem()[1][0].close()

    async def chips(self) -> list[Chip]:
        """Returns the chips that the service has, with their sessions."""
        return [Chip.from_json(chip) for chip in (await self._call("List")).get("chips", [])]

    async def describe(self, chip: str | None = None) -> Info:
        """Returns the description that a chip gives of itself; the chip may be the only one."""
        return Info.from_json((await self._call("Describe", chip=chip)).get("info", {}))

    async def start(
        self,
        profile: Profile | None = None,
        *,
        session_id: int | None = None,
        peer: str | None = None,
        chip: str | None = None,
        share: Share = "everyone",
        linger: float = 0,
    ) -> Session:
        """Starts a session by a profile, or joins the same one; see `uwb.Client.start`."""
        parameters = {
            **profile_parameters(profile, session_id, peer),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        async with self._limit("Start"):
            connection = await self._open()
            before = self._starts
            try:
                result = (await connection.call("Start", **parameters)).result()
                if self.is_closed:
                    raise ConnectionLost("The client was closed.")
            except BaseException:
                # The service ends the session that the call starts, as after a crash.
                connection.close()
                raise
        self._starts += 1
        key = result["chip"], result["session_id"]
        if not result["joined"]:
            # It has ended since the starts before, which do not begin again.
            self._drop(key, before)
        session = Session(self, self._starts, *key, result["joined"])
        # The same chip, even if there are more chips later.
        call = StartCall({**parameters, "chip": result["chip"]}, *key)
        self._held[self._starts] = connection, call
        log.info("session %d on %s: %s", key[1], key[0], "joined" if session.joined else "started")
        return session

    def _numbers(self, session_id: int, chip: str | None) -> list[int]:
        return [n for n, (_, call) in self._held.items() if call.is_of(chip, session_id)]

    async def stop(self, session_id: int, *, chip: str | None = None) -> None:
        """Releases a session of this client: the last start that is not stopped yet."""
        number = max(self._numbers(session_id, chip), default=0)
        await self._release(number, session_id, chip)

    async def _release(self, number: int, session_id: int, chip: str | None) -> None:
        """Releases the session of a start, on the connection that owns it."""
        if number not in self._held:
            # The session has ended, or belongs to another program. The error of the service names
            # the cause.
            await self._call("Stop", session_id=session_id, chip=chip)
            return
        connection, start = self._held.pop(number)
        try:
            async with self._limit("Stop"):
                (await connection.call("Stop", session_id=session_id, chip=start.chip)).result()
        finally:
            connection.close()

    def _forget(self, error: Exception, starts: int) -> None:
        """Does not start a session again that has ended by itself, of the first `starts`."""
        self._drop(ended(error), starts)

    def _drop(self, session: tuple[str, int], starts: int) -> None:
        chip, session_id = session
        for number in self._numbers(session_id, chip):
            if number <= starts:
                self._held.pop(number)[0].close()

    async def set_share(self, session_id: int, share: Share, *, chip: str | None = None) -> None:
        """Changes the users who may join a session; see `uwb.Client.set_share`."""
        await self._call("SetShare", session_id=session_id, share=share, chip=chip)
        for number in self._numbers(session_id, chip):
            connection, start = self._held[number]
            self._held[number] = connection, start.shared(share)

    async def end(self, session_id: int, *, chip: str | None = None) -> None:
        """Ends a session for all programs that hold it; see `uwb.Client.end`."""
        await self._call("End", session_id=session_id, chip=chip)
        for number in self._numbers(session_id, chip):
            self._held.pop(number)[0].close()

    async def _restore(self) -> None:
        """Starts the sessions that it held at a service that was restarted."""
        async with self._restoring:
            await self._greet()
            for number, (connection, start) in list(self._held.items()):
                if connection.is_lost:
                    await self._start_again(number, start)

    async def _start_again(self, number: int, start: StartCall) -> None:
        async with self._limit("Start"):
            again = await self._open()
            try:
                (await again.call("Start", **start.parameters)).result()
            except BaseException:
                again.close()
                raise
        held = self._held.get(number)
        if held:
            # Its share may have changed meanwhile.
            self._held[number] = again, held[1]
            held[0].close()
        else:
            # It was stopped meanwhile.
            again.close()

    def measurements(
        self,
        *,
        chip: str | None = None,
        session_id: int | None = None,
        peer: str | None = None,
        peers: Iterable[str] | None = None,
        rate: float | None = None,
        keep: Keep = "all",
        queue: int = 1_000,
        reconnect: float = 60,
    ) -> Stream:
        """Returns the measurements from the first step of the loop on.

        See `uwb.Client.measurements`. A step waits without a limit: use `asyncio.timeout`.
        """
        parameters = {
            "chip": chip, "session_id": session_id, **filters(peer, peers, rate), "keep": keep,
            "queue": queue,
        }
        return Stream(self, Events(parameters), reconnect)

    def watch(
        self,
        *,
        run: str | None = None,
        after: int | None = None,
        counters: float | None = None,
        reconnect: float = 60,
    ) -> Watch:
        """Returns the events of the service from the first step of the loop on.

        See `uwb.Client.watch`.
        """
        parameters = {"run": run, "after": after, "counters_ms": milliseconds(counters)}
        return Watch(self, Changes(parameters), reconnect)

    async def record(
        self,
        *,
        seconds: float | None = None,
        count: int | None = None,
        chip: str | None = None,
        session_id: int | None = None,
        peer: str | None = None,
        reconnect: float = 60,
    ) -> Recording:
        """Returns the measurements of some seconds, or this number of them.

        See `uwb.Client.record`.
        """
        if seconds is None and count is None:
            raise ValueError("record takes seconds or count")
        found = Recording()
        async with self.measurements(
            chip=chip, session_id=session_id, peer=peer, queue=10_000, reconnect=reconnect
        ) as stream:
            await stream._connect()
            with suppress(asyncio.TimeoutError, TimeoutError, SessionEnded):
                async with _Limit(seconds, "Everything is recorded"):
                    while count is None or len(found) < count:
                        event = await anext(stream, None)
                        if event is None:
                            break
                        if isinstance(event, Measurement):
                            found.append(event)
        return found


class _Connecting:
    """Both `async with connect()` and `await connect()`."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        self._client: Client | None = None

    async def _open(self) -> Client:
        client = Client(self._path, self._timeout)
        try:
            await client._greet()
        except BaseException:
            await client.close()
            raise
        log.debug("connected to the service %s at %s", client.version, self._path)
        return client

    def __await__(self) -> Generator[Any, None, Client]:
        return self._open().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._open()
        return self._client

    async def __aexit__(self, *exception: object) -> None:
        if self._client is not None:
            await self._client.close()


def connect(
    path: str | os.PathLike[str] | None = None, *, timeout: float | None = 30
) -> _Connecting:
    """Connects to the service, by `async with connect()` or `await connect()`; see `uwb.connect`.

    A call that takes longer than the time-out raises `TimeoutError`, as in `asyncio.timeout`.
    """
    return _Connecting(default_path() if path is None else os.fspath(path), timeout)
