# SPDX-License-Identifier: Apache-2.0
"""The client with a real service and simulated chips: see .ci/python.

service.py SOCKET PROFILE
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import uwb
import uwb.aio

PATH, PROFILE = sys.argv[1:]


def members() -> dict[str, Any]:
    """Returns the members of PROFILE, without its comments and trailing commas."""
    with open(PROFILE, encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    found: dict[str, Any] = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
    return found


def check(holds: object, what: object) -> None:
    if not holds:
        sys.exit(f"python: {what}")


def blocking() -> None:
    with uwb.connect(PATH) as service:
        check(service.describe().channels == (5, 9), "Describe differs")
        with service.start(PROFILE) as session:
            check(not session.joined, "the session was there")
            found = uwb.Recording()
            for m in session.measurements():
                assert isinstance(m, uwb.Measurement), m
                found.append(m)
                if len(found) == 10:
                    break
            check(all(m.peer == "0x0001" and not m.extra for m in found), "fields differ")
            ranged = [m for m in found if m.status_code == 0]
            check(ranged and all(m.distance and m.sigma for m in ranged), "there is no estimate")
            check(abs(found[-1].time.timestamp() - time.time()) < 60, "the time differs")
            changed = members()
            changed["parameters"]["SLOTS_PER_RR"] = 8
            with uwb.connect(PATH) as other:
                check(other.start(PROFILE).joined, "it was not joined")
                try:
                    other.start(changed)
                    check(False, "there is no conflict")
                except uwb.Conflict as error:
                    check("SLOTS_PER_RR" in str(error) and "The service refused" in str(error), error)
                    check(f"(process {os.getpid()})" in str(error), error)
                try:
                    other.start(PROFILE, share="user")
                    check(False, "a session for everyone became private")
                except uwb.Conflict as error:
                    check("share is everyone, not user" in str(error), error)
            session.set_share("user")
            check(service.chips()[0].sessions[0].share == "user", "the share is not changed")
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


def written_otherwise() -> None:
    """The service reads each profile that uwbctl accepts, and names the line of an error."""
    profile = members()
    parameters = "\n".join(f"{name}: {json.dumps(v)}," for name, v in profile["parameters"].items())
    text = f"{{session_id: 0x2A, session_type: 'ranging', /* B\xfcro */ parameters: {{\n{parameters}}},\n}}"
    with uwb.connect(PATH) as service, tempfile.NamedTemporaryFile() as file:
        file.write(b"\xef\xbb\xbf" + text.encode("latin-1"))
        file.flush()
        with service.start(file.name) as session, uwb.connect(PATH) as other:
            check(session.session_id == 42, "the session differs")
            check(other.start(profile).joined, "the session of the members differs")
        file.write(b"\n]")
        file.flush()
        try:
            service.start(file.name)
            check(False, "a damaged profile starts a session")
        except uwb.InvalidProfile as error:
            line = text.count("\n") + 2
            check(f"Line {line} " in str(error), error)
    print("uwb: a profile with bare names, a hexadecimal number and Latin-1")


def ended_by_another() -> None:
    with uwb.connect(PATH) as service, uwb.connect(PATH) as other:
        session = service.start(PROFILE)
        stream = session.measurements()
        # The service answers calls of different connections in any order.
        check(isinstance(next(stream), uwb.Measurement), "there is no measurement")
        other.end(session.session_id)
        try:
            for _ in stream:
                pass
            check(False, "the stream ended without a reason")
        except uwb.SessionEnded as error:
            check("has ended it" in str(error), error)
        check(not service.chips()[0].sessions, "the session continues")
    print("uwb: a session that another program ends")


async def with_asyncio() -> None:
    async with uwb.aio.connect(PATH) as service:
        session = await service.start(PROFILE)
        await session.set_share("user")
        check((await service.chips())[0].sessions[0].share == "user", "the share is not changed")
        await service.end(session.session_id)
        while (await service.chips())[0].sessions:
            pass
        async with await service.start(PROFILE) as session:
            numbers = []
            async for m in session.measurements(keep="newest"):
                assert isinstance(m, uwb.Measurement), m
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


def resumed() -> None:
    """A program that was killed finds its session again, and has stored nothing."""
    program = (
        "import sys, uwb\n"
        "s = uwb.connect(sys.argv[1]).start(sys.argv[2], linger=3600)\n"
        "for m in s.measurements(): print(m.sequence, flush=True)\n"
    )
    command = [sys.executable, "-c", program, PATH, PROFILE]
    with uwb.connect(PATH) as service:
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            check(other.stdout.readline(), "the other program measures nothing")
            other.kill()
        while (found := service.chips()[0].sessions[0]).state != "waiting":
            pass
        with service.start(session_id=found.session_id) as session:
            check(session.joined, "the session is a new one")
            m = next(session.measurements())
            assert isinstance(m, uwb.Measurement), m
            check(service.start(peer=m.peer).session_id == 42, "the peer has another session")
            service.stop(42)
        while service.chips()[0].sessions:
            pass
    print("uwb: a session that is resumed without its profile")


def service_process() -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(PATH)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        process: int = struct.unpack("3i", peer)[0]
        return process


def kill_service() -> None:
    """.ci/python starts it again."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(PATH)
        os.kill(service_process(), signal.SIGKILL)
        with contextlib.suppress(ConnectionResetError):
            connection.recv(1)


def restarted() -> None:
    """Measurements go on with a service that was killed, after a value for the interruption."""

    def check_events(before: uwb.Event, events: list[uwb.Event]) -> None:
        check(isinstance(before, uwb.Measurement), "nothing is measured")
        interruptions = [event for event in events if isinstance(event, uwb.Interruption)]
        check([event.cause for event in interruptions] == ["service"], events)
        first = events[events.index(interruptions[0]) + 1]
        check(isinstance(first, uwb.Measurement) and first.after_interruption, first)

    with uwb.connect(PATH) as service, service.start(PROFILE) as session:
        found = session.measurements()
        before = next(found)
        kill_service()
        check_events(before, [next(found) for _ in range(10)])
        check(len(service.chips()[0].sessions) == 1, "there is no session, or more than one")

    async def main() -> None:
        async with uwb.aio.connect(PATH) as service, await service.start(PROFILE) as session:
            found = session.measurements()
            before = await anext(found)
            kill_service()
            check_events(before, [await anext(found) for _ in range(10)])
            check(len(await service.record(count=5)) == 5, "nothing was recorded")

    asyncio.run(main())
    print("uwb: measurements go on after a restart of the service")


def watched() -> None:
    """Events go on with a service that was killed, and measurements have their run."""
    with uwb.connect(PATH) as service, service.watch() as events:
        check(service.service.protocol >= 2, service.service)
        with service.start(PROFILE) as session:
            first = next(session.measurements(peers=["0x0001"], rate=100))
            assert isinstance(first, uwb.Measurement), first
            check((first.run, first.address) == (service.service.run, "0x0000"), first)
        kinds: list[str] = []
        # A session of the test before may end first.
        while "session_started" not in kinds or kinds[-1] != "session_ended":
            event = next(events)
            assert isinstance(event, uwb.Change), event
            kinds.append(event.kind)
        check(kinds[0] == "watching", kinds)
        kill_service()
        check(isinstance(next(events), uwb.Interruption), "there is no interruption")
        again = next(events)
        check(isinstance(again, uwb.Change) and again.run != first.run, again)
    print("uwb: events, and those of the next run")


@contextlib.contextmanager
def stopped() -> Iterator[None]:
    """The service does nothing for as long."""
    process = service_process()
    os.kill(process, signal.SIGSTOP)
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            state = ""
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                while state != "T":
                    with open(f"/proc/{process}/task/{thread}/stat", encoding="utf-8") as file:
                        state = file.read().rpartition(") ")[2][0]
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def given_up() -> None:
    """Calls that are given up leave the client, and the sessions of the others, as they were."""
    second = members()
    second["session_id"] = 77

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    with uwb.connect(PATH, timeout=2) as service, uwb.connect(PATH) as other:
        chip = other.chips()[0].chip

        def check_usable() -> None:
            check([c.chip for c in service.chips()] == [chip], "the answer is that of another call")
            check(service.describe().channels == (5, 9), "the answer is that of another call")
            # Sessions that were started meanwhile end.
            while [s.session_id for s in other.chips()[0].sessions] != [session.session_id]:
                pass

        with service.start(PROFILE) as session:
            for call in (service.describe, lambda: service.start(second)):
                with stopped():
                    try:
                        call()
                        check(False, "a service that is stopped answers")
                    except TimeoutError:
                        pass
                check_usable()
                with stopped():
                    # Sends Ctrl-C after 0.2 s.
                    signal.setitimer(signal.ITIMER_REAL, 0.2)
                    try:
                        call()
                        check(False, "a service that is stopped answers")
                    except KeyboardInterrupt:
                        pass
                check_usable()
            check(isinstance(next(session.measurements()), uwb.Measurement), "nothing is measured")
            doomed = service.start(second)
            with stopped():
                try:
                    doomed.stop()
                    check(False, "a service that is stopped answers")
                except TimeoutError:
                    pass
            check_usable()
            waiting = []
            with stopped(), contextlib.suppress(BlockingIOError):
                while True:
                    waiting.append(socket.socket(socket.AF_UNIX))
                    waiting[-1].setblocking(False)
                    try:
                        waiting[-1].connect(PATH)
                    except BlockingIOError:
                        try:
                            uwb.connect(PATH, timeout=0.2)
                            check(False, "a service that is stopped answers")
                        except TimeoutError:
                            raise BlockingIOError from None
            for one in waiting:
                one.close()
            check_usable()
            with uwb.connect(PATH):
                pass
    print("uwb: calls that time out or are interrupted, a full queue")


async def cancelled() -> None:
    """Cancelled calls leave the client, and the sessions of the others, as they were."""
    second = members()
    second["session_id"] = 77
    async with uwb.aio.connect(PATH) as service, await service.start(PROFILE) as session:
        chip = (await service.chips())[0].chip
        for call in (service.describe, lambda: service.start(second)):
            with stopped():
                try:
                    await asyncio.wait_for(call(), 0.2)
                    check(False, "a service that is stopped answers")
                except asyncio.TimeoutError:
                    pass
            check([c.chip for c in await service.chips()] == [chip], "the answer is that of another call")
            while [s.session_id for s in (await service.chips())[0].sessions] != [session.session_id]:
                pass
        check(isinstance(await anext(session.measurements()), uwb.Measurement), "nothing is measured")
    async with uwb.aio.connect(PATH, timeout=0.5) as service:
        with stopped():
            try:
                await service.describe()
                check(False, "a service that is stopped answers")
            except TimeoutError:
                pass
        check([c.chip for c in await service.chips()] == [chip], "the answer is that of another call")
    print("uwb.aio: cancelled calls, and one that times out")


blocking()
written_otherwise()
ended_by_another()
asyncio.run(with_asyncio())
killed()
resumed()
given_up()
asyncio.run(cancelled())
restarted()
watched()
