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
from collections.abc import Iterable, Iterator
from typing import Any

from ._model import Measurement
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
    """Answers like `uwbd` with one chip, whose sessions measure what a recording has: all at once, and
    once for each listener, whose session then ends.

        with FakeService(uwb.Recording.load("walk.jsonl")) as fake, uwb.connect(fake.path) as service:
            ...
    """

    def __init__(self, recording: Iterable[Measurement], *, chip: str = "fake") -> None:
        self.chip = chip
        self._recording = list(recording)
        self._folder = tempfile.TemporaryDirectory()
        #: The address for programs.
        self.path = os.path.join(self._folder.name, "control")
        #: The profiles of started sessions: members, or the texts of files.
        self.started: list[dict[str, Any] | str] = []
        service = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                service._serve(self.request)

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(self.path, Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> FakeService:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def _serve(self, connection: socket.socket) -> None:
        rest = b""
        try:
            while data := connection.recv(65_536):
                *messages, rest = (rest + data).split(b"\0")
                for message in messages:
                    for reply in self._answers(json.loads(message)):
                        connection.sendall(json.dumps(reply).encode() + b"\0")
        except OSError:
            return

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
        elif method == "List":
            chip: dict[str, Any] = {"chip": self.chip, "problem": None, "sessions": []}
            yield {"parameters": {"chips": [chip]}}
        elif method == "Describe":
            info = {"device": self.chip, "family": "fake"}
            yield {"parameters": {"chip": self.chip, "info": info}}
        elif method == "Start":
            text = parameters.get("profile_text")
            profile = parameters.get("profile") or {}
            number = profile.get("session_id", 0) if text is None else _session_id(text)
            if number is None:
                reason = "A profile needs session_id."
                yield {"error": f"{INTERFACE}.InvalidProfile", "parameters": {"reason": reason}}
                return
            self.started.append(profile if text is None else text)
            yield {"parameters": {"chip": self.chip, "session_id": number, "joined": False}}
        elif method == "Stop":
            yield {"parameters": {}}
        elif method == "Monitor":
            yield from self._monitor(parameters, call.get("more") is True)
        else:
            error = "org.varlink.service.MethodNotFound"
            yield {"error": error, "parameters": {"method": call.get("method")}}

    def _monitor(self, wanted: dict[str, Any], more: bool) -> Iterator[dict[str, Any]]:
        number = wanted.get("session_id")
        for measurement in self._recording:
            if wanted.get("peer") not in (None, measurement.peer):
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
