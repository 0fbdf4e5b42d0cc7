# SPDX-License-Identifier: Apache-2.0
"""The client whose calls block."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
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
    check_length,
    default_path,
    ended,
    filters,
    late,
    log,
    milliseconds,
    older_service,
    profile_parameters,
    retry_pause,
    split,
    try_to_connect,
)
from ._stream import Progress


class Connection:
    """A socket to the service."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._timeout = timeout
        self._protocol = Protocol()
        # The number of the first reply of the last bytes, these replies, and bytes after them.
        # Replaced as a whole.
        self._received: tuple[int, list[Reply], list[bytes]] = (0, [], [])
        self._calls = 0
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.setblocking(False)
            end = self._end()
            while not try_to_connect(self._socket, path):
                if end is not None and time.monotonic() >= end:
                    raise late(f"The service at {path} has not accepted a connection")
                time.sleep(retry_pause())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    @property
    def is_lost(self) -> bool:
        """Whether the service has closed it."""
        try:
            self._socket.settimeout(0)
            return not self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _end(self) -> float | None:
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _limit(self, end: float | None, method: str) -> None:
        """Sets the deadline of the next operation; None: no limit."""
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise late(f"The service has not answered {method}")
        try:
            if left != self._socket.gettimeout():
                self._socket.settimeout(left)
        except OSError:
            raise ConnectionLost("The connection was closed.") from None

    def _send(self, end: float | None, method: str, more: bool, parameters: dict[str, Any]) -> None:
        message = self._protocol.call(method, more=more, **parameters)
        self._limit(end, method)
        try:
            self._socket.sendall(message)
        except TimeoutError:
            raise late(f"The service has not received {method}") from None
        except BrokenPipeError:
            # The service may have refused the connection before.
            pass
        except OSError as error:
            raise ConnectionLost(f"The service has disconnected: {error}.") from None

    def reply(self, number: int, end: float | None = None, method: str = "Monitor") -> Reply:
        """Returns a reply by its number on this connection, before a deadline; None: no limit.

        Numbers begin at 0, and each call asks for the last one or the next one. An interruption
        at any line loses nothing: the call may be made again.
        """
        while True:
            first, replies, chunks = self._received
            if number - first < len(replies):
                return replies[number - first]
            # The bytes of an interrupted call may be there.
            if not chunks or b"\0" not in chunks[-1]:
                self._receive(chunks, end, method)
            if b"\0" in chunks[-1]:
                found, rest = split(b"".join(chunks))
                self._received = first + len(replies), found, [rest] if rest else []

    def _receive(self, chunks: list[bytes], end: float | None, method: str) -> None:
        self._limit(end, method)
        try:
            # In one step: no signal is handled between receiving and keeping the bytes.
            chunks.extend(map(self._socket.recv, (65_536,)))
        except TimeoutError:
            return self._receive(chunks, end, method)
        except OSError as error:
            raise ConnectionLost(f"The service has disconnected: {error}.") from None
        if not chunks[-1]:
            raise ConnectionLost("The service has closed the connection.")
        check_length(sum(map(len, chunks)))

    def listen(self, method: str, /, **parameters: Any) -> None:
        self._send(self._end(), method, True, parameters)

    def call(self, method: str, /, **parameters: Any) -> Reply:
        """Makes a call. Without its reply the connection is unusable: close it."""
        end = self._end()
        log.debug("call %s", method)
        self._send(end, method, False, parameters)
        reply = self.reply(self._calls, end, method)
        self._calls += 1
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
        """Returns the session's measurements from now on, as `Client.measurements` does.

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

    def set_share(self, share: Share) -> None:
        """Changes the users who may join the session; see `Client.set_share`."""
        self._client.set_share(self.session_id, share, chip=self.chip)

    def stop(self) -> None:
        """Releases the session. It ends unless another program, or another start, holds it."""
        self._client._release(self._number, self.session_id, self.chip)

    def __repr__(self) -> str:
        return f"<uwb.Session {self.session_id} on {self.chip}>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.stop()
        except (ServiceError, ConnectionLost):
            # The session has already ended.
            pass
        except TimeoutError:
            # The error of the block is the more important one.
            if exception[0] is None:
                raise


_Caller = TypeVar("_Caller", bound="Caller")


class Caller:
    """Calls a service, in one thread at a time."""

    # Counts the starts, so that the end of an earlier session does not concern a later one.
    _starts = 0

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        # At most one connection without a call and without a session. None: the client is closed.
        self._idle: list[Connection] | None = []

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._idle is None

    def _open(self) -> Connection:
        if self.is_closed:
            raise ConnectionLost("The client was closed.")
        return Connection(self._path, self._timeout)

    def _call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        while self._idle and self._idle[-1].is_lost:
            # The service was restarted.
            self._idle.pop().close()
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

    def _features(self) -> frozenset[str]:
        return frozenset()

    def _listen(self, events: Source[Any]) -> Connection:
        connection = self._open()
        try:
            connection.listen(events.method, **events.parameters(self._features()))
        except BaseException:
            connection.close()
            raise
        return connection

    def _forget(self, error: Exception, starts: int) -> None:
        """Handles the error that ends a stream."""

    def _restore(self) -> None:
        """Prepares for a service that was restarted."""

    def close(self) -> None:
        """Closes the client, except its streams."""
        idle, self._idle = self._idle or [], None
        while idle:
            idle.pop().close()

    def __enter__(self: _Caller) -> _Caller:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_Value = TypeVar("_Value")
_Self = TypeVar("_Self", bound="_Stream[Any]")


class _Stream(Generic[_Value]):
    _connection: Connection | None = None
    _is_closed = False

    def __init__(self, client: Caller, source: Source[_Value], reconnect: float) -> None:
        self._client = client
        self._source = source
        self._progress = Progress(source, reconnect)
        self._starts = client._starts
        self._connection = client._listen(source)

    def close(self) -> None:
        """Ends the stream. The session continues."""
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection:
            connection.close()

    def __del__(self) -> None:
        self.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self: _Self) -> _Self:
        return self

    def __next__(self) -> _Value:
        return self._next(None)

    def _next(self, end: float | None) -> _Value:
        """Returns the next event, which happens until then; None: waits without a limit."""
        progress = self._progress
        while not progress.ready:
            if self._is_closed:
                raise StopIteration
            if self._connection:
                self._receive(self._connection, end)
            elif progress.attempt:
                self._connect(progress.attempt, end)
        return progress.ready.popleft()

    def _receive(self, connection: Connection, end: float | None) -> None:
        try:
            if not self._progress.received(connection.reply(self._progress.number, end)):
                self.close()
        except TimeoutError:
            raise
        except Exception as error:
            if not self._progress.goes_on(error):
                self._client._forget(error, self._starts)
                self.close()
                raise
            self._connection = None
            connection.close()

    def _connect(self, attempt: Attempt, end: float | None) -> None:
        """Connects to a service that was restarted, and starts the sessions of the client."""
        if attempt.is_over or self._client.is_closed:
            self.close()
            raise attempt.lost
        pause = attempt.pause()
        if end is not None and time.monotonic() + pause > end:
            time.sleep(max(0, end - time.monotonic()))
            raise late("The service has not returned")
        time.sleep(pause)
        try:
            self._client._restore()
            self._connection = self._client._listen(self._source)
            log.info("connected again")
        except NOT_YET as error:
            log.debug("not yet: %s", type(error).__name__)
        except Exception:
            self.close()
            raise


class Stream(_Stream[Event]):
    """Measurements, with a value for each interruption between them: iterate over it.

    A step that is interrupted, by Ctrl-C for example, loses nothing: the next one continues.
    """


class Watch(_Stream[Change | Interruption]):
    """The events of the service, with a value where it was restarted: iterate over it."""


class Client(Caller):
    """A user of the service, in one thread at a time; `connect` makes one.

    Each session, and each stream, has a connection of its own, on which no other call is made. A
    call that is given up ends no session, except one that it was to start or stop.
    """

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__(path, timeout)
        # The connections of the sessions that the client holds, by the number of the start, with
        # the parameters for the next service.
        self._held: dict[int, tuple[Connection, StartCall]] = {}
        try:
            #: The service: its version, features, run and host.
            self.service: Service = self._greet()
        except BaseException:
            self.close()
            raise
        log.debug("connected to the service %s at %s", self.version, path)

    @property
    def version(self) -> str:
        """The version of the service."""
        return self.service.version

    def _greet(self) -> Service:
        info = self._call("org.varlink.service.GetInfo")
        check(info)
        try:
            return Service.from_json(self._call("GetService"))
        except ServiceError as error:
            return older_service(error, info)

    def _features(self) -> frozenset[str]:
        return self.service.features

    def __repr__(self) -> str:
        return f"<uwb.Client of {self._path}>"

    def close(self) -> None:
        """Releases all sessions of this client."""
        super().close()
        while self._held:
            self._held.popitem()[1][0].close()

    def chips(self) -> list[Chip]:
        """Returns the chips that the service has, with their sessions."""
        return [Chip.from_json(chip) for chip in self._call("List").get("chips", [])]

    def describe(self, chip: str | None = None) -> Info:
        """Returns the description that a chip gives of itself; the chip may be the only one."""
        return Info.from_json(self._call("Describe", chip=chip).get("info", {}))

    def start(
        self,
        profile: Profile | None = None,
        *,
        session_id: int | None = None,
        peer: str | None = None,
        chip: str | None = None,
        share: Share = "everyone",
        linger: float = 0,
    ) -> Session:
        """Starts a session by a profile, or joins the same one. Each start has a stop of its own.

        A program that was restarted, and has stored no profile, names its session by ID or peer.

        profile    -- its members, or the path of a file in any form that uwbctl accepts;
                      `InvalidProfile` names the line of an error
        session_id -- in place of a profile, the ID of a session that this user has started
        peer       -- in place of a profile, an address with which such a session ranges
        share      -- the users who may join it and see its measurements
        linger     -- the seconds for which the session stays after a crash of this program, up to a
                      day
        """
        parameters = {
            **profile_parameters(profile, session_id, peer),
            "chip": chip,
            "share": share,
            "linger_ms": round(linger * 1_000),
        }
        connection = self._open()
        before = self._starts
        try:
            result = connection.call("Start", **parameters).result()
            if self._idle is None:
                raise ConnectionLost("The client was closed.")
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
        except BaseException:
            # The service ends the session that the call starts, as after a crash of the program.
            connection.close()
            self._held = {n: held for n, held in self._held.items() if held[0] is not connection}
            raise

    def _numbers(self, session_id: int, chip: str | None) -> list[int]:
        return [n for n, (_, call) in self._held.items() if call.is_of(chip, session_id)]

    def stop(self, session_id: int, *, chip: str | None = None) -> None:
        """Releases a session of this client: the last start that is not stopped yet."""
        self._release(max(self._numbers(session_id, chip), default=0), session_id, chip)

    def _release(self, number: int, session_id: int, chip: str | None) -> None:
        """Releases the session of a start, on the connection that owns it."""
        if number not in self._held:
            # The session has ended, or belongs to another program. The error of the service names
            # the cause.
            self._call("Stop", session_id=session_id, chip=chip)
            return
        connection, start = self._held[number]
        try:
            connection.call("Stop", session_id=session_id, chip=start.chip).result()
        finally:
            connection.close()
            self._held.pop(number, None)

    def _forget(self, error: Exception, starts: int) -> None:
        """Does not start a session again that has ended by itself, of the first `starts`."""
        self._drop(ended(error), starts)

    def _drop(self, session: tuple[str, int], starts: int) -> None:
        chip, session_id = session
        for number in self._numbers(session_id, chip):
            if number <= starts:
                self._held.pop(number)[0].close()

    def set_share(self, session_id: int, share: Share, *, chip: str | None = None) -> None:
        """Changes the users who may join a session and see its measurements.

        Only the user who started it may do so, and root; `Busy` if another user's program holds it.
        """
        self._call("SetShare", session_id=session_id, share=share, chip=chip)
        for number in self._numbers(session_id, chip):
            connection, start = self._held[number]
            self._held[number] = connection, start.shared(share)

    def end(self, session_id: int, *, chip: str | None = None) -> None:
        """Ends a session for all programs that hold it.

        Only the user who has started it may do so, root, and the members of the service's group.
        """
        self._call("End", session_id=session_id, chip=chip)
        # It does not start again with the next service.
        for number in self._numbers(session_id, chip):
            self._held.pop(number)[0].close()

    def _restore(self) -> None:
        """Starts the sessions that it held at a service that was restarted."""
        self.service = self._greet()
        for number, (connection, start) in list(self._held.items()):
            if connection.is_lost:
                again = self._open()
                try:
                    again.call("Start", **start.parameters).result()
                    self._held[number] = again, start
                except BaseException:
                    again.close()
                    raise
                connection.close()

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
        """Returns the measurements from this call on, and an `Interruption` where they have a gap.

        peer      -- the address of the one peer; `peers` takes several. The log warns of peers that
                     no session has yet
        rate      -- the most measurements of each peer in a second; the others are left out
        keep      -- the measurements that the service drops when they are not taken in time: all
                     but the newest of each peer, or (all) the oldest when more than `queue` wait
        reconnect -- the seconds to wait for a service that was restarted or killed: the sessions of
                     this client start again, and the stream goes on. After this time, or at once
                     with 0, `ConnectionLost` is raised
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
        """Returns the events of the service: chips come and go, sessions start and end.

        The first value has the kind `watching`. After a restart of the service, an `Interruption`
        and all events of the new run follow.

        after     -- the number of the last event that the program has, with its `run`; 0: all that
                     the service still has. Without it, the events from this call on
        counters  -- the seconds after which the counts of each session are sent again
        reconnect -- the seconds to wait for a service that was restarted or killed
        """
        parameters = {"run": run, "after": after, "counters_ms": milliseconds(counters)}
        return Watch(self, Changes(parameters), reconnect)

    def record(
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

        There are fewer when a session that is named ends. See `measurements` for `reconnect`.
        """
        if seconds is None and count is None:
            raise ValueError("record takes seconds or count")
        end = None if seconds is None else time.monotonic() + seconds
        found = Recording()
        with self.measurements(
            chip=chip, session_id=session_id, peer=peer, queue=10_000, reconnect=reconnect
        ) as stream:
            while count is None or len(found) < count:
                try:
                    event = stream._next(end)
                except (StopIteration, TimeoutError, SessionEnded):
                    break
                if isinstance(event, Measurement):
                    found.append(event)
        return found


def connect(path: str | os.PathLike[str] | None = None, *, timeout: float | None = 30) -> Client:
    """Connects to the service.

    path    -- its socket; by default the path in UWBD_SOCKET, or /run/uwbd/control
    timeout -- the seconds that an answer may take; None: no limit
    """
    return Client(default_path() if path is None else os.fspath(path), timeout)
