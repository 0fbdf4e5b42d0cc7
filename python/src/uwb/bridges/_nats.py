# SPDX-License-Identifier: Apache-2.0
"""A client of NATS with the part of its protocol that bridges use: publish, subscribe and request.

The protocol is described at docs.nats.io, "Client Protocol" and "JetStream wire API". A lost
connection is aborted rather than closed: after the loss of a link, a client that waits for its
unsent bytes waits for many minutes. After `tls://`, a server without TLS gets no password.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import re
import secrets
import socket
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import uwb

from . import _exporter
from ._house import slug
from ._input import log
from ._program import secret

#: Bytes of a line, and of a message.
LONGEST_LINE, LONGEST_MESSAGE = 1 << 16, 1 << 23
#: Seconds between two probes of a connection. Two that are not answered end it.
PING = 1.0
#: Seconds of an attempt to connect.
PATIENCE = 2.0


class NatsError(OSError):
    """A server that cannot be used, with the next step."""


class Refused(NatsError):
    """A server that does not accept the user."""


class Message:
    """A message of a subscription, or a reply."""

    __slots__ = ("subject", "reply", "headers", "data")

    def __init__(self, subject: str, reply: str, headers: bytes, data: bytes) -> None:
        self.subject, self.reply, self.headers, self.data = subject, reply, headers, data

    @property
    def status(self) -> int:
        """The status in the headers, 503 where nobody receives the request; 0 without one."""
        found = re.match(rb"NATS/1\.0 (\d{3})", self.headers)
        return int(found[1]) if found else 0


class Parser:
    """Finds operations of the protocol in bytes. It does no input and output."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._awaited: tuple[str, str, int, int] | None = None

    def feed(self, data: bytes) -> list[tuple[str, Any]]:
        """Returns operations with their content; `ValueError` for bytes of another protocol."""
        self._bytes += data
        found: list[tuple[str, Any]] = []
        place = 0
        while True:
            if self._awaited is None:
                end = self._bytes.find(b"\r\n", place)
                if end < 0:
                    if len(self._bytes) - place > LONGEST_LINE:
                        raise ValueError("a line is too long")
                    break
                line, place = bytes(self._bytes[place:end]), end + 2
                self._operate(line, found)
            else:
                subject, reply, headers, size = self._awaited
                if len(self._bytes) < place + size + 2:
                    break
                body, place = bytes(self._bytes[place : place + size]), place + size + 2
                if self._bytes[place - 2 : place] != b"\r\n":
                    raise ValueError("a message is longer than its size")
                self._awaited = None
                found.append(("MSG", Message(subject, reply, body[:headers], body[headers:])))
        del self._bytes[:place]
        return found

    def _operate(self, line: bytes, found: list[tuple[str, Any]]) -> None:
        name, _, rest = line.decode("utf-8", "replace").partition(" ")
        name = name.upper()
        if name in ("MSG", "HMSG"):
            parts = rest.split()
            counts = 2 if name == "HMSG" else 1
            if len(parts) not in (2 + counts, 3 + counts):
                raise ValueError(f"{name} has {len(parts)} parts")
            sizes = [int(part) for part in parts[-counts:]]
            headers, size = sizes if counts == 2 else (0, sizes[0])
            if not 0 <= headers <= size <= LONGEST_MESSAGE:
                raise ValueError("the size of a message cannot be used")
            reply = parts[2] if len(parts) == 3 + counts else ""
            self._awaited = parts[0], reply, headers, size
        elif name == "INFO":
            info = json.loads(rest)
            if not isinstance(info, dict):
                raise ValueError("INFO is not an object")
            found.append((name, info))
        elif name == "-ERR":
            found.append((name, rest.strip().strip("'")))
        elif name in ("PING", "PONG"):
            found.append((name, None))
        elif name != "+OK":
            raise ValueError(f"there is no operation {name[:20]!r}")


class Connection(asyncio.Protocol):
    """One connection to a server."""

    def __init__(self, received: Callable[[Message], None], lost: Callable[[Connection, str], None]) -> None:
        loop = asyncio.get_running_loop()
        self._loop, self._received, self._lost = loop, received, lost
        self._parser = Parser()
        self.info: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.transport: Any = None
        #: Whether the server reads slower than this program writes.
        self.is_paused = False
        self._out: list[bytes] = []
        self._pings = 0
        self._timer: asyncio.TimerHandle | None = None
        self.reason = "The server has closed the connection."

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        reason = self.reason if error is None else f"The connection is lost: {error}."
        for future in (self.info, self.ready):
            if not future.done():
                future.set_exception(NatsError(reason))
                # It may be that nothing waits for it.
                future.exception()
        self._lost(self, reason)

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False

    def data_received(self, data: bytes) -> None:
        try:
            found = self._parser.feed(data)
        except ValueError as error:
            self.end(f"The other end does not speak the protocol of NATS: {error}.")
            return
        for name, content in found:
            if name == "MSG":
                self._received(content)
            elif name == "INFO":
                if not self.info.done():
                    self.info.set_result(content)
            elif name == "PING":
                self.write(b"PONG\r\n")
            elif name == "PONG":
                self._pings = 0
                if not self.ready.done():
                    self.ready.set_result(None)
            else:
                self._failed(content)

    def _failed(self, text: str) -> None:
        if not self.ready.done():
            self.ready.set_exception(Refused(
                f"The server refuses the connection: {text}. Check --user, --password-file and --credentials."))
        elif text.lower().startswith("permissions violation"):
            log.error("The server reports: %s. Permit it to the user.", text)
        else:
            self.end(f"The server reports: {text}.")

    def write(self, data: bytes) -> None:
        """Writes bytes at the end of this turn of the loop, together with others."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(data)

    def _flush(self) -> None:
        data, self._out = b"".join(self._out), []
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def begin(self) -> None:
        """Probes the connection from now on."""
        self._timer = self._loop.call_later(PING, self._ping)

    def _ping(self) -> None:
        if self._pings >= 2:
            self.end("The server does not answer.")
            return
        self._pings += 1
        self.write(b"PING\r\n")
        self.begin()

    def close(self) -> None:
        """Ends the connection after its bytes."""
        self._flush()
        self.transport.close()

    def end(self, reason: str) -> None:
        """Ends the connection at once."""
        self.reason = reason
        if self.transport is not None:
            self.transport.abort()


class Client:
    """A connection to one server of a list, which moves to another one where it is lost."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self._options, self._name = options, name
        self._servers = list(options.server)
        random.shuffle(self._servers)
        self._context: ssl.SSLContext | None = None
        self._inbox = f"_INBOX.{secrets.token_hex(11)}"
        self._handlers: dict[str, Callable[[Message], None]] = {}
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._count = 0
        self._connection: Connection | None = None
        self._loss = asyncio.Event()
        #: Called with each message of a consumer.
        self.delivered: Callable[[Message], None] = lambda message: None
        #: Called after each connection, and after its loss.
        self.changed: Callable[[bool], None] = lambda is_up: None
        self.reason = "There is no answer."
        self.server = ""
        #: Bytes of a message that the server accepts, with its headers.
        self.longest = LONGEST_MESSAGE

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    @property
    def is_writable(self) -> bool:
        """Whether there is a connection that accepts bytes."""
        return self._connection is not None and not self._connection.is_paused

    def inbox(self, handler: Callable[[Message], None]) -> str:
        """Returns the beginning of subjects for replies that the handler gets."""
        subject = f"{self._inbox}.{len(self._handlers)}"
        self._handlers[subject] = handler
        return subject

    def publish(self, subject: str, payload: bytes, reply: str = "", headers: bytes = b"") -> None:
        """Sends a message, if there is a connection."""
        if self._connection is None:
            return
        if headers:
            head = b"NATS/1.0\r\n%s\r\n" % headers
            start = f"HPUB {subject} {reply} {len(head)} {len(head) + len(payload)}\r\n".encode()
            self._connection.write(b"%s%s%s\r\n" % (start, head, payload))
        else:
            start = f"PUB {subject} {reply} {len(payload)}\r\n".encode()
            self._connection.write(b"%s%s\r\n" % (start, payload))

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 5, headers: bytes = b"") -> Message:
        """Sends a request, and returns the reply."""
        self._count += 1
        reply = f"{self._inbox}.r.{self._count}"
        future = self._replies[reply] = asyncio.get_running_loop().create_future()
        try:
            self.publish(subject, payload, reply, headers)
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise NatsError(f"There is no answer to {subject}.") from None
        finally:
            del self._replies[reply]

    async def run(self) -> None:
        """Connects for ever."""
        turn = 0
        while True:
            server = self._servers[turn % len(self._servers)]
            turn += 1
            pause = random.uniform(0.2, 0.4) if turn % len(self._servers) == 0 else 0.0
            try:
                await self.connect(server)
                await self._loss.wait()
            except Refused as error:
                # Each refused login may be a step to a ban.
                self._report(error)
                pause = 5.0
            except (OSError, asyncio.TimeoutError, ssl.SSLError, ValueError) as error:
                self._report(error)
            await asyncio.sleep(pause)

    def _report(self, error: Exception) -> None:
        reason = str(error) or "There is no answer."
        (log.debug if reason == self.reason else log.warning)("%s", reason)
        self.reason = reason

    async def connect(self, server: str) -> None:
        """Connects to a server, or raises an error."""
        url = urlsplit(server)
        host, port = url.hostname or "localhost", url.port or 4222
        connection = Connection(self._receive, self._lose)
        try:
            await asyncio.wait_for(self._greet(connection, host, port, url.scheme == "tls"), PATIENCE)
        except BaseException as error:
            connection.end("The connection was not made.")
            if isinstance(error, asyncio.TimeoutError):
                raise NatsError(f"{host}:{port} does not answer.") from None
            raise
        self._loss.clear()
        self._connection, self.server = connection, server
        connection.write(f"SUB {self._inbox}.> 1\r\n".encode())
        connection.begin()
        log.info("connected to %s", server)
        self.changed(True)

    async def _greet(self, connection: Connection, host: str, port: int, has_to_be_secure: bool) -> None:
        await asyncio.get_running_loop().create_connection(lambda: connection, host, port)
        info = await connection.info
        has_tls = bool(info.get("tls_required") or info.get("tls_available"))
        if has_to_be_secure and not has_tls:
            raise NatsError(f"{host} has no TLS: add tls {{}} to its configuration, or use nats://.")
        if has_to_be_secure or info.get("tls_required"):
            await self._secure(connection, host)
        longest = info.get("max_payload")
        self.longest = longest if isinstance(longest, int) else LONGEST_MESSAGE
        connection.write(self._greeting(info))
        await connection.ready

    async def _secure(self, connection: Connection, host: str) -> None:
        if self._context is None:
            self._context = ssl.create_default_context(cafile=self._options.ca)
            if self._options.certificate:
                self._context.load_cert_chain(self._options.certificate, self._options.key)
        connection.transport = await asyncio.get_running_loop().start_tls(
            connection.transport, connection, self._context, server_hostname=host)

    def _greeting(self, info: dict[str, Any]) -> bytes:
        members: dict[str, Any] = {
            "verbose": False, "pedantic": False, "headers": True, "no_responders": True, "protocol": 1,
            "lang": "swift-uwb", "version": uwb.__version__, "name": self._name}
        if self._options.user is not None:
            members["user"] = self._options.user
            members["pass"] = secret(self._options.password_file, "password") or ""
        elif text := secret(self._options.credentials, "credentials"):
            members.update(signed(text, str(info.get("nonce", ""))))
        return f"CONNECT {json.dumps(members)}\r\nPING\r\n".encode()

    def _receive(self, message: Message) -> None:
        if future := self._replies.get(message.subject):
            if not future.done():
                future.set_result(message)
        elif handler := self._handlers.get(message.subject.rpartition(".")[0]):
            handler(message)
        elif message.reply.startswith("$JS.ACK."):
            self.delivered(message)

    def _lose(self, connection: Connection, reason: str) -> None:
        if connection is not self._connection:
            return
        self._connection = None
        self.reason = reason
        log.warning("%s: %s", self.server, reason)
        self._loss.set()
        self.changed(False)

    def close(self) -> None:
        """Sends the bytes that wait, as far as the system accepts them, and disconnects."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def signed(credentials: str, nonce: str) -> dict[str, str]:
    """Returns the members of CONNECT for a file of credentials."""
    blocks = re.findall(r"-----BEGIN [A-Z ]+-----\s*([^\s-]+)\s*-+END", credentials)
    if len(blocks) != 2:
        raise NatsError("The file of --credentials has no token and no key: make it with `nsc generate creds`.")
    try:
        import nkeys
    except ModuleNotFoundError:
        raise NatsError("--credentials needs nkeys: pip install 'swift-uwb[nats]'.") from None
    pair = nkeys.from_seed(bytearray(blocks[1].encode()))
    signature = base64.urlsafe_b64encode(pair.sign(nonce.encode())).rstrip(b"=").decode()
    pair.wipe()
    return {"jwt": blocks[0], "sig": signature}


def add_options(found: argparse.ArgumentParser) -> None:
    """Adds the options of a cluster and of a site in it."""
    add = found.add_argument
    add("--server", action="append", metavar="URL",
        help="nats://HOST[:PORT], or tls://HOST; once for each node (default: nats://localhost)")
    add("--user", help="the user of the cluster")
    add("--password-file", metavar="FILE", help="a file with the password; with systemd, the credential password")
    add("--credentials", metavar="FILE", help="a file with a token and a key; with systemd, the credential credentials")
    add("--ca", metavar="FILE", help="the certificates that sign the servers' (default: the system's)")
    add("--certificate", metavar="FILE", help="the certificate of this client")
    add("--key", metavar="FILE", help="the key of this client")
    add("--site", required=True, help="the site, the second level of subjects")
    add("--area", default="main", help="the area, the third level of subjects (default: main)")
    add("--listen", metavar="ADDRESS:PORT", help="serve /metrics there for Prometheus")
    add("--host", default=socket.gethostname(), help="the name of this host (default: the machine's)")


def validate(options: argparse.Namespace) -> None:
    """Completes the options of a cluster; raises `ValueError` for ones that cannot be used."""
    options.server = options.server or ["nats://localhost"]
    for server in options.server:
        url = urlsplit(server)
        if url.scheme not in ("nats", "tls") or not url.hostname:
            raise ValueError("--server is like nats://HOST or tls://HOST")
        if url.username is not None or url.password is not None:
            raise ValueError("--server has no user: use --user, and --password-file for the password")
        url.port  # Raises an error.
    if options.listen:
        _exporter.address(options.listen)
    if options.password_file and options.user is None:
        raise ValueError("--password-file needs --user")
    if options.key and not options.certificate:
        raise ValueError("--key needs --certificate")
    for level in (options.site, options.area):
        if level != slug(level) or level.startswith("-"):
            raise ValueError(f"{level!r} is not a level of a subject: use letters, digits, - and _")
