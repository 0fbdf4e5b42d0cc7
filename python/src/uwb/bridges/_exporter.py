# SPDX-License-Identifier: Apache-2.0
"""Serves the numbers of a report to Prometheus, without a library."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

#: Bytes of a request, and the seconds to receive it.
LONGEST, PATIENCE = 8_192, 5.0
#: Connections at a time.
MOST = 20

#: The members of a report with the ends of their names, and their meanings. Counters end in `_total`.
MEANINGS = {
    "connected": ("connected", "Whether there is a connection to a server: 1 or 0."),
    "active": ("active", "Whether this engine computes the area: 1 or 0."),
    "waiting": ("waiting_messages", "Messages that have not arrived at their end."),
    "size": ("store_bytes", "Bytes of the store."),
    "most": ("store_limit_bytes", "The limit of the store."),
    "dropped": ("dropped_total", "Messages that a full store has dropped."),
    "unsaved": ("unsaved_total", "Messages that a full disk has not accepted."),
    "damaged": ("damaged_total", "Parts of the store that could not be read."),
    "confirmed": ("confirmed_total", "Messages that the cluster has confirmed."),
    "repeated": ("repeated_total", "Messages that came twice."),
    "refused": ("refused_total", "Messages that the cluster will never accept."),
    "unusable": ("unusable_total", "Messages that are not measurements."),
    "interruptions": ("interruptions_total", "Losses of a chip or of the service."),
    "takeovers": ("takeovers_total", "Times at which this engine began to compute."),
    "state_bytes": ("state_bytes", "Bytes of the last state in the cluster."),
    "utc_max_error_us": ("clock_error_bound_seconds", "The largest error of UTC; missing without a bound."),
}


def text(prefix: str, report: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Returns the metrics of a report in the text format of Prometheus."""
    shown = ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items())
    lines: list[str] = []
    for key, (end, meaning) in MEANINGS.items():
        value = report.get(key)
        if isinstance(value, (int, float)):
            _append(lines, f"{prefix}_{end}", meaning)
            number = value / 1e6 if key.endswith("_us") else int(value)
            lines.append(f"{prefix}_{end}{{{shown}}} {number}")
    if "wrong_clocks_s" in report:
        _append(lines, f"{prefix}_clock_ahead_seconds", "The error of a clock beyond the bound that its host reports.")
        for host, ahead in report["wrong_clocks_s"].items():
            lines.append(f'{prefix}_clock_ahead_seconds{{{shown},clock="{escaped(host)}"}} {ahead:.3f}')
    return "\n".join(lines) + "\n"


def _append(lines: list[str], name: str, meaning: str) -> None:
    lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"]


def escaped(value: str) -> str:
    """Returns the text of a label."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def address(value: str) -> tuple[str, int]:
    """Returns the host and the port of `ADDRESS:PORT`; `ValueError` for other texts."""
    host, _, port = value.rpartition(":")
    if not re.fullmatch(r".+:\d{1,5}", value) or int(port) > 65_535:
        raise ValueError("--listen is like 127.0.0.1:9465")
    return host.strip("[]"), int(port)


class Exporter:
    """Answers GET /metrics with the last text."""

    def __init__(self) -> None:
        self.text = ""
        self._open = 0

    async def start(self, place: str | None) -> None:
        """Listens at an address, if there is one."""
        if place:
            await asyncio.start_server(self._answer, *address(place), limit=LONGEST)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MOST:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                writer.write(self._reply(head))
                await asyncio.wait_for(writer.drain(), PATIENCE)
        except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError):
            pass  # The other end has gone, or is not a client of HTTP.
        finally:
            self._open -= 1
            writer.close()

    def _reply(self, head: bytes) -> bytes:
        found = re.match(rb"GET (/[^ ?]*)[^ ]* HTTP/1\.[01]\r\n", head)
        is_found = found is not None and found[1] == b"/metrics"
        status, body = ("200 OK", self.text.encode()) if is_found else ("404 Not Found", b"See /metrics.\n")
        return (f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode() + body
