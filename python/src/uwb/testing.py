# SPDX-License-Identifier: Apache-2.0
"""A service without chips, for the tests of programs."""

from __future__ import annotations

import json
import os
import re
import socket
import socketserver
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ._model import Event, Interruption
from ._protocol import INTERFACE

__all__ = ["FakeService"]

# The member is a comment, or the number of the session.
_SESSION_ID = re.compile(
    r"""//[^\n]*|/\*(?s:.*?)\*/|\bsession_id["']?\s*:\s*["']?(?:0[xX]([0-9A-Fa-f]+)|(\d+))"""
)


def _session_id(text: str) -> int | None:
    """Returns the number of the session in the text of a profile, without reading the rest."""
    for match in _SESSION_ID.finditer(text):
        if match[1] or match[2]:
            return int(match[1], 16) if match[1] else int(match[2])
    return None


class FakeService:
    """Answers like `uwbd` with one chip, whose sessions measure a recording.

    They measure all of it at once, once for each stream, whose session then ends.

    At an `Interruption` in the recording, the service closes all its connections, as it does when
    it restarts. The next stream gets the rest of the recording. An `Interruption` of a chip is an
    event of the chip instead. `watch` has the starts and ends of sessions.

        with FakeService(uwb.Recording.load("walk.jsonl")) as fake, uwb.connect(fake.path) as service:
            ...
    """

    def __init__(self, recording: Iterable[Event], *, chip: str = "fake") -> None:
        self.chip = chip
        self._recording = list(recording)
        self._folder = tempfile.TemporaryDirectory()
        #: The address for programs.
        self.path = os.path.join(self._folder.name, "control")
        #: The profiles of started sessions: members, or the texts of files.
        self.started: list[dict[str, Any] | str] = []
        #: The methods that were called, a list for each connection.
        self.calls: list[list[str]] = []
        self._position = 0
        # The sessions that were started on each connection, by its thread.
        self._holders: dict[int, list[int]] = {}
        self._run = uuid.uuid4().hex
        # The events of the run; a stream waits for more of them.
        self._events: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._note("chip_added")
        # In the order of their beginnings: a stream ends after its session's connection.
        self._connections: dict[socket.socket, None] = {}
        service = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                service._connections[self.request] = None
                service._serve(self.request)
                del service._connections[self.request]

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(self.path, Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> FakeService:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def restart(self) -> None:
        """Closes all connections, as a service that restarts does."""
        with self._changed:
            self._run = uuid.uuid4().hex
            self._events = []
        self._note("chip_added")
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _note(self, kind: str, **members: Any) -> dict[str, Any]:
        with self._changed:
            event = self._event(kind, len(self._events) + 1, **members)
            self._events.append(event)
            self._changed.notify_all()
        return event

    def _event(self, kind: str, sequence: int, **members: Any) -> dict[str, Any]:
        return {
            "sequence": sequence,
            "monotonic_us": time.monotonic_ns() // 1_000,
            "utc_us": time.time_ns() // 1_000,
            "kind": kind,
            "chip": None if kind == "watching" else self.chip,
            **members,
        }

    def _watch(self, wanted: dict[str, Any], more: bool) -> Iterator[dict[str, Any]]:
        run = self._run
        after = wanted.get("after") if wanted.get("run", run) == run else 0
        position = len(self._events) if after is None else after
        if more:
            event = self._event("watching", position)
            yield {"parameters": {"run": run, "lost": 0, "event": event}, "continues": True}
        while self._run == run:
            with self._changed:
                if len(self._events) <= position:
                    # Looks for a restart, and for the end of the program's test.
                    self._changed.wait(0.05)
                found = self._events[position:] if self._run == run else []
            for event in found:
                position += 1
                reply = {"parameters": {"run": run, "lost": 0, "event": event}, "continues": more}
                yield reply
                if not more:
                    return

    def _serve(self, connection: socket.socket) -> None:
        rest = b""
        calls: list[str] = []
        self.calls.append(calls)
        try:
            while data := connection.recv(65_536):
                *messages, rest = (rest + data).split(b"\0")
                for message in messages:
                    call = json.loads(message)
                    calls.append(str(call.get("method")).rpartition(".")[2])
                    for reply in self._answers(call):
                        connection.sendall(json.dumps(reply).encode() + b"\0")
        except OSError:
            pass
        self._holders.pop(threading.get_ident(), None)

    def _answers(self, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
        interface, _, method = str(call.get("method")).rpartition(".")
        parameters: dict[str, Any] = call.get("parameters") or {}
        if interface == "org.varlink.service" and method == "GetInfo":
            yield {
                "parameters": {
                    "vendor": "swift-uwb",
                    "product": "fake",
                    "version": "",
                    "url": "",
                    "interfaces": ["org.varlink.service", INTERFACE],
                }
            }
        elif method == "GetService":
            yield {
                "parameters": {
                    "version": "",
                    "protocol": 2,
                    "features": ["events", "peers", "profile_text", "watch"],
                    "run": self._run,
                    "host": "",
                }
            }
        elif method == "Watch":
            yield from self._watch(parameters, call.get("more") is True)
        elif method == "List":
            chip: dict[str, Any] = {"chip": self.chip, "problem": None, "sessions": []}
            yield {"parameters": {"chips": [chip]}}
        elif method == "Describe":
            info = {"device": self.chip, "family": "fake"}
            yield {"parameters": {"chip": self.chip, "info": info}}
        elif method == "Start":
            text = parameters.get("profile_text")
            profile = parameters.get("profile") or {
                key: parameters[key] for key in ("session_id", "peer") if key in parameters
            }
            number = profile.get("session_id", 0) if text is None else _session_id(text)
            if number is None:
                reason = "A profile needs session_id."
                yield {"error": f"{INTERFACE}.InvalidProfile", "parameters": {"reason": reason}}
                return
            self.started.append(profile if text is None else text)
            joined = any(number in held for held in list(self._holders.values()))
            self._holders.setdefault(threading.get_ident(), []).append(number)
            self._note("session_joined" if joined else "session_started", session_id=number)
            yield {"parameters": {"chip": self.chip, "session_id": number, "joined": joined}}
        elif method in ("Stop", "End"):
            self._release(parameters.get("session_id"), everywhere=method == "End")
            self._note("session_ended", session_id=parameters.get("session_id"))
            yield {"parameters": {}}
        elif method == "Monitor":
            yield from self._monitor(parameters, call.get("more") is True)
        else:
            error = "org.varlink.service.MethodNotFound"
            yield {"error": error, "parameters": {"method": call.get("method")}}

    def _release(self, number: int | None, everywhere: bool) -> None:
        for thread, held in list(self._holders.items()):
            if everywhere or thread == threading.get_ident():
                self._holders[thread] = [other for other in held if other != number]

    def _monitor(self, wanted: dict[str, Any], more: bool) -> Iterator[dict[str, Any]]:
        number = wanted.get("session_id")
        for index, measurement in enumerate(self._recording[self._position :], self._position + 1):
            if isinstance(measurement, Interruption) and measurement.cause == "chip":
                for kind, reason in ("chip_lost", measurement.reason), ("chip_back", None):
                    event = self._note(kind, reason=reason)
                    if wanted.get("events") and more:
                        result = {"run": self._run, "lost": 0, "event": event}
                        yield {"parameters": result, "continues": True}
                continue
            if isinstance(measurement, Interruption):
                self._position = index
                self.restart()
                return
            peers = wanted.get("peers") or [wanted.get("peer") or measurement.peer]
            if measurement.peer not in peers:
                continue
            reply = measurement.to_json()
            reply["chip"] = self.chip
            if number is not None:
                reply["session_id"] = number
            if not more:
                yield {"parameters": reply}
                return
            yield {"parameters": reply, "continues": True}
        yield {
            "error": f"{INTERFACE}.SessionEnded",
            "parameters": {
                "chip": self.chip,
                "session_id": number,
                "reason": "The recording is over.",
                "advice": None,
            },
        }
