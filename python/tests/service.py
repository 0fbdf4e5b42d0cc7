# SPDX-License-Identifier: Apache-2.0
"""The client with a real service and simulated chips: see .ci/python.

service.py SOCKET PROFILE
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import uwb
import uwb.aio
from uwb._protocol import read_profile

PATH, PROFILE = sys.argv[1:]


def check(holds: object, what: object) -> None:
    if not holds:
        sys.exit(f"python: {what}")


def blocking() -> None:
    with uwb.connect(PATH) as service:
        while service.chips()[0].problem is not None:
            pass
        check(service.describe().channels == (5, 9), "Describe differs")
        with service.start(PROFILE) as session:
            check(not session.joined, "the session was there")
            found = uwb.Recording()
            for m in session.measurements():
                found.append(m)
                if len(found) == 10:
                    break
            check(all(m.peer == "0x0001" and not m.extra for m in found), "fields differ")
            ranged = [m for m in found if m.status_code == 0]
            check(ranged and all(m.distance and m.sigma for m in ranged), "there is no estimate")
            check(abs(found[-1].time.timestamp() - time.time()) < 60, "the time differs")
            changed = read_profile(PROFILE)
            changed["parameters"]["SLOTS_PER_RR"] = 8
            with uwb.connect(PATH) as other:
                check(other.start(PROFILE).joined, "it was not joined")
                try:
                    other.start(changed)
                    check(False, "there is no conflict")
                except uwb.Conflict as error:
                    check("SLOTS_PER_RR" in str(error), error)
            with tempfile.NamedTemporaryFile() as file:
                found.save(file.name)
                check(uwb.Recording.load(file.name) == found, "a recording differs")
            try:
                table = found.to_pandas()
                check(list(table["estimate_m"].dropna()) == [m.distance for m in ranged], "the table differs")
                check("UTC" in str(table.index.dtype), "the times have no zone")
                array = found.to_numpy()
                check([d for d in array["estimate_m"] if d == d] == [m.distance for m in ranged], "the array differs")
                tables = "tables, "
            except ImportError:
                tables = ""
            count = len(service.record(seconds=1))
            check(count > 0, "nothing was recorded")
    print(f"uwb: calls, sessions, {len(found) + count} measurements, {tables}conflict")


async def with_asyncio() -> None:
    async with uwb.aio.connect(PATH) as service:
        async with await service.start(PROFILE) as session:
            numbers = []
            async for m in session.measurements(keep="newest"):
                numbers.append(m.sequence)
                if len(numbers) == 10:
                    break
        check(numbers == sorted(numbers), numbers)
        while (await service.chips())[0].sessions:
            pass
    print("uwb.aio: calls, sessions, measurements")


def killed() -> None:
    """A session ends with its program, however that ends."""
    program = (
        "import sys, uwb\n"
        "s = uwb.connect(sys.argv[1]).start(sys.argv[2])\n"
        "for m in s.measurements(): print(m.sequence, flush=True)\n"
    )
    command = [sys.executable, "-c", program, PATH, PROFILE]
    with uwb.connect(PATH) as service, subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        check(other.stdout.readline(), "the other program measures nothing")
        check(len(service.chips()[0].sessions) == 1, "there is no session")
        other.kill()
        while service.chips()[0].sessions:
            pass
    print("uwb: a session ends with its program")


def kill_service() -> None:
    """.ci/python starts it again."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(PATH)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        os.kill(struct.unpack("3i", peer)[0], signal.SIGKILL)
        with contextlib.suppress(ConnectionResetError):
            connection.recv(1)


def restarted() -> None:
    """Measurements go on with a service that was restarted."""
    with uwb.connect(PATH) as service, service.start(PROFILE) as session:
        found = session.measurements(reconnect=60)
        next(found)
        kill_service()
        for _ in range(10):
            next(found)
        check(len(service.chips()[0].sessions) == 1, "there is no session, or more than one")

    async def main() -> None:
        async with uwb.aio.connect(PATH) as service, await service.start(PROFILE) as session:
            found = session.measurements(reconnect=60)
            await anext(found)
            kill_service()
            for _ in range(10):
                await anext(found)

    asyncio.run(main())
    print("uwb: measurements go on after a restart of the service")


json.dumps(read_profile(PROFILE))
blocking()
asyncio.run(with_asyncio())
killed()
restarted()
