# SPDX-License-Identifier: Apache-2.0
"""Runs the programs in `examples` with a service and simulated chips: see .ci/python.

examples.py BIN
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator

BIN = pathlib.Path(sys.argv[1])
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


@contextlib.contextmanager
def running(*command: object) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(list(map(str, command)), stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for(path: pathlib.Path) -> None:
    while not path.exists():
        pass


class Service:
    """A service that starts again when it was killed, as with systemd."""

    def __init__(self, socket_path: pathlib.Path, *chips: pathlib.Path) -> None:
        self._command = [str(BIN / "uwbd"), "--socket", str(socket_path), *map(str, chips)]
        self._is_over = False
        self.process = subprocess.Popen(self._command)
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while self.process.wait() is not None and not self._is_over:
            self.process = subprocess.Popen(self._command)

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_over = True
        self.process.terminate()
        self._thread.join()


def example(name: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(name: str, *arguments: object) -> list[str]:
    """Returns the lines of an example, which ends by itself."""
    with example(name, *arguments) as process:
        output, _ = process.communicate()
    if process.returncode:
        sys.exit(f"python: the example {name} ends with {process.returncode}")
    return output.splitlines()


def check(holds: object, name: str, found: object) -> None:
    if not holds:
        sys.exit(f"python: the example {name} prints {found}")


def profile(*options: str) -> str:
    command = [str(BIN / "uwbctl"), "profile", "--preset", "fira-static", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_profiles(folder: pathlib.Path) -> None:
    (folder / "one.json").write_text(profile())
    (folder / "one-b.json").write_text(profile("--role", "controlee"))
    many = profile("--one-to-many").replace('"session_id": 42', '"session_id": 43')
    many = many.replace('"NUMBER_OF_CONTROLEES": 1', '"NUMBER_OF_CONTROLEES": 2')
    (folder / "many.json").write_text(
        many.replace('"DST_MAC_ADDRESS": "0x0001"', '"DST_MAC_ADDRESS": "0x0001,0x0002"')
    )
    peer = profile("--role", "controlee", "--one-to-many").replace('"session_id": 42', '"session_id": 43')
    (folder / "many-b.json").write_text(peer)
    (folder / "many-c.json").write_text(
        peer.replace('"DEVICE_MAC_ADDRESS": "0x0001"', '"DEVICE_MAC_ADDRESS": "0x0002"')
    )


@contextlib.contextmanager
def peers(folder: pathlib.Path, *peers: str) -> Iterator[None]:
    """Controlees end with their controller: each example needs others."""
    with contextlib.ExitStack() as stack:
        for peer in peers:
            profile = folder / f"{peer}.json"
            stack.enter_context(
                running(BIN / "uwbctl", "range", "--device", folder / peer, "--profile", profile)
            )
        yield


def run_all(folder: pathlib.Path, service: Service, one: str, many: str) -> None:
    with peers(folder, "one-b"):
        lines = run("range.py", "--chip", one, "-n", 5, folder / "one.json")
    check(sum(" m" in line for line in lines) == 5, "range.py", lines)

    with peers(folder, "one-b", "many-b", "many-c"):
        pairs = f"{one}={folder / 'one.json'}", f"{many}={folder / 'many.json'}"
        lines = run("several_chips.py", "-n", 5, *pairs)
    for chip in (one, many):
        check(sum(line.startswith(f"{chip}: 0x") for line in lines) == 5, "several_chips.py", lines)

    with peers(folder, "many-b", "many-c"):
        lines = run("one_to_many.py", "--chip", many, "-n", 5, folder / "many.json")
    check(len(lines) == 5 and "0x0001" in lines[-1] and "0x0002" in lines[-1], "one_to_many.py", lines)

    # These have no session of their own.
    with example("range.py", "--chip", one, folder / "one.json") as session:
        assert session.stdout is not None
        session.stdout.readline()
        threading.Thread(target=session.stdout.read, daemon=True).start()
        lines = run("record_csv.py", "-n", 10, folder / "walk.csv")
        # Without an end it names the options, instead of a traceback.
        refused = subprocess.run(
            [sys.executable, str(EXAMPLES / "record_csv.py"), "none.csv"], capture_output=True, text=True
        )
        check(refused.returncode == 2 and "--seconds 30" in refused.stderr, "record_csv.py", refused)
        with open(folder / "walk.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        check(len(rows) == 10 and all(row["peer"] == "0x0001" for row in rows), "record_csv.py", rows)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.bind(("127.0.0.1", 0))
            run("publish.py", "-n", 5, "127.0.0.1", listener.getsockname()[1])
            found = [json.loads(listener.recv(65_536)) for _ in range(5)]
        check(all(m["measurement"]["peer"] == "0x0001" for m in found), "publish.py", found)
        session.terminate()

    with example("reconnect.py", "--chip", one, "--interruptions", 2, folder / "one.json") as reconnect:
        assert reconnect.stdout is not None
        lines, kills = [], 0
        for line in reconnect.stdout:
            lines.append(line)
            # After the first measurement, and after the first one that follows an interruption.
            if kills == 0 or (kills == 1 and line.startswith("after")):
                service.process.kill()
                kills += 1
    check(reconnect.returncode == 0 and lines[-1].startswith("after"), "reconnect.py", lines)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    write_profiles(folder)
    with contextlib.ExitStack() as stack:
        for link, chips in (("one", 2), ("many", 3)):
            stack.enter_context(running(BIN / "uwbctl", "simulate", "--chips", chips, "--link", folder / link))
            wait_for(folder / f"{link}-{'abc'[chips - 1]}")
        service = stack.enter_context(Service(folder / "control", folder / "one-a", folder / "many-a"))
        wait_for(folder / "control")
        os.environ["UWBD_SOCKET"] = str(folder / "control")
        run_all(folder, service, *(str(folder / f"{link}-a") for link in ("one", "many")))
print(f"uwb: {len(list(EXAMPLES.glob('*.py')))} examples")
