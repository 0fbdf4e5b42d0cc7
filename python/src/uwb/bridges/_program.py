# SPDX-License-Identifier: Apache-2.0
"""Options, logs and secrets of all bridges."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable

import uwb

from ._input import log


def parser(program: str, text: str | None, sources: bool = True) -> argparse.ArgumentParser:
    """Returns a parser with the options that all bridges have."""
    found = argparse.ArgumentParser(
        prog=program, description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    if sources:
        found.add_argument(
            "sources", nargs="*", default=["chips"], metavar="source",
            help="chips, chips:SOCKET, site:SOCKET, a file of JSON lines, or - for standard input (default: chips)")
    found.add_argument("-v", "--verbose", action="count", default=0, help="more in the log")
    found.add_argument("--version", action="version", version=f"{program} {uwb.__version__}")
    return found


def secret(path: str | None, credential: str) -> str | None:
    """Returns the text of a file, or of a credential of the unit; None if there is neither."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if path is None and folder and os.path.exists(os.path.join(folder, credential)):
        path = os.path.join(folder, credential)
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        return file.read().rstrip("\r\n")


def _end(failure: threading.ExceptHookArgs) -> None:
    log.critical("%r", failure.exc_value)
    os._exit(70)


def run(program: str, verbose: int, work: Callable[[], int]) -> int:
    """Runs a program until it ends or gets a signal, and returns its exit status."""
    level = [logging.WARNING, logging.INFO, logging.DEBUG][min(verbose, 2)]
    logging.basicConfig(format=f"{program}: %(message)s", level=level)
    # A thread that fails ends the program, and systemd starts it again.
    threading.excepthook = _end
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except KeyboardInterrupt:
        return 0
    except (OSError, ValueError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 66
