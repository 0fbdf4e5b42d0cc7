# SPDX-License-Identifier: Apache-2.0
"""Ends of programs, of the service and of the chip."""
import json
import os
import random
import signal
import subprocess
import time

from bench import Client, Connection, percentile, start_owner
from board import LIMIT, check, wait_until


def kill_clients(bench, count):
    """kill -9 of a program that holds a session, or begins to"""
    times = []
    choice = random.Random(3)
    for number in range(count):
        with start_owner(bench) as owner:
            if number % 4:
                owner.stdout.readline()
                wait_until(lambda: bench.board.sessions, "no session on the chip")
                begin = time.monotonic()
                owner.kill()
                wait_until(lambda: not bench.board.sessions, "the chip keeps a session")
                times.append(bench.board.left_at - begin)
            else:
                time.sleep(choice.uniform(0, 0.15))
                owner.kill()
        bench.wait_until_empty()
    check(bench.board.count() == 0, "the chip has a session that nobody holds")
    return (f"{count} killed; the session is gone on the chip after p50 "
            f"{percentile(times, 0.5) * 1e3:.0f} ms, at most {max(times) * 1e3:.0f} ms")




def kill_service(bench, count):
    """kill -9 of the service, which is started again; programs measure again"""
    client = Client(bench)
    times = []
    for number in range(count):
        # The service ends at any point.
        time.sleep((number * 7 % 20) / 100)
        begin = time.monotonic()
        bench.service.kill()
        bench.service.wait()
        bench.start()
        # The last message of the previous session may still arrive.
        gone = time.monotonic()
        first = client.wait_for(gone + 0.05)
        times.append(first - begin)
        check(len(bench.sessions()) == 1, "not one session")
        check(len(bench.board.sessions) == 1, f"sessions on the chip: {bench.board.sessions}")
    client.end()
    bench.wait_until_empty()
    check(bench.board.count() == 0, "the chip has a session that nobody holds")
    return (f"{count} killed; a measurement after p50 {percentile(times, 0.5) * 1e3:.0f} ms, "
            f"at most {max(times) * 1e3:.0f} ms")


def kill_both(bench, count):
    """kill -9 of the service and of a program at the same time"""
    choice = random.Random(5)
    for number in range(count):
        with start_owner(bench) as owner:
            if number % 2:
                owner.stdout.readline()
            else:
                time.sleep(choice.uniform(0, 0.15))
            victims = [owner, bench.service]
            choice.shuffle(victims)
            for victim in victims:
                victim.kill()
            bench.service.wait()
        bench.start()
        with bench.open() as program:
            program.start(bench.file)
        bench.wait_until_empty()
        check(bench.board.count() == 0, "the chip has a session that nobody holds")
    return f"{count} pairs"


def unplug(bench, count):
    """unplugging while programs start, measure, are killed, and while the service starts"""
    choice = random.Random(9)
    client = Client(bench)
    for number in range(count):
        way = number % 4
        time.sleep(choice.uniform(0, 0.1))
        if way == 3:
            bench.service.kill()
            bench.service.wait()
            bench.start()
            time.sleep(choice.uniform(0, 0.2))
        owner = start_owner(bench) if way == 1 else None
        other = Connection(bench.path) if way == 2 else None
        if other:
            other.ask("Start", profile_text=bench.profile.replace('"session_id": 42', '"session_id": 77'))
        bench.board.unplug()
        if owner:
            owner.kill()
            owner.wait()
            owner.stdout.close()
        if other:
            other.close()
        time.sleep(choice.uniform(0, 0.3))
        bench.board.plug()
        client.wait_for(time.monotonic() + 0.05)
    client.end()
    bench.wait_until_empty()
    return f"{count} times"


def hangup(bench, count):
    """SIGHUP while it serves"""
    folder = bench.folder + "/sessions.d"
    os.mkdir(folder)
    bench.stop()
    bench.options = ["--sessions", folder]
    bench.start()
    try:
        text = bench.profile
        with bench.open() as program:
            for number in range(count):
                # Partly written files, too.
                with open(folder + "/tags.json", "w", encoding="utf-8") as file:
                    file.write(text[:choice_of(number, len(text))])
                for _ in range(5):
                    bench.service.send_signal(signal.SIGHUP)
                    bench.sessions()
            with open(folder + "/tags.json", "w", encoding="utf-8") as file:
                file.write(text)
            bench.service.send_signal(signal.SIGHUP)
            check(next(program.measurements()), "the session of the service is not there")
        os.unlink(folder + "/tags.json")
        bench.service.send_signal(signal.SIGHUP)
        bench.wait_until_empty()
    finally:
        bench.stop()
        bench.options = []
        bench.start()
    return f"{5 * count} signals"


def choice_of(number, length):
    return length if number % 2 else number * 37 % length


def places(bench, count):
    """no folder, another service, a file in its place, a full disk"""
    def ends(path, text, **more):
        process = bench.run(["uwbd", "--socket", path, bench.link], stderr=subprocess.PIPE, **more)
        said = process.communicate(timeout=LIMIT)[1].decode()
        check(process.returncode == os.EX_CANTCREAT and text in said and "try:" in said,
              f"{path}: {process.returncode} {said}")

    ends(bench.folder + "/none/control", "No such file")
    ends(bench.path, "Another program listens")
    ends("/proc/self/status", "not a socket")
    found = "no folder, another service, a file"
    full = bench.folder + "/full"
    os.mkdir(full)
    if os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "nr_inodes=1", "none", full],
            stderr=subprocess.DEVNULL, check=False).returncode == 0:
        try:
            process = bench.run(["uwbd", "--socket", full + "/control", bench.link], stderr=subprocess.PIPE)
            said = process.communicate(timeout=LIMIT)[1].decode()
            check(process.returncode == os.EX_CANTCREAT and "No space left" in said, said)
            found += ", a full file system"
        finally:
            subprocess.run(["umount", full], check=False)
    # A log that cannot be written stops no program.
    bench.stop()
    with open("/dev/full", "wb") as log:
        bench.start(stderr=log)
    bench.check()
    bench.stop()
    bench.start()
    return found + ", a full disk for the log"


def users(bench, count):
    """a user who may not start sessions, and takes all connections"""
    if os.geteuid() != 0:
        return "left out: it needs root"
    bench.stop()
    os.chmod(bench.folder, 0o755)
    bench.options = ["--mode", "0666", "--group", "daemon"]
    bench.start()
    bench.check()
    (told, tell), (ended, end) = os.pipe(), os.pipe()
    other = os.fork()
    if other == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            held = [Connection(bench.path)]
            said = [(held[0].call(method, **parameters).error or "yes").split(".")[-1]
                    for method, parameters in [
                        ("List", {}), ("Describe", {}), ("Start", {"profile_text": bench.profile}),
                        ("Borrow", {"reason": "faults"})]]
            while said[-1] == "Denied":
                held.append(Connection(bench.path))
                held[-1].ask("List")
                reply = held[-1].receive()
                if reply.error:
                    break
            os.write(tell, json.dumps([*said, reply.error.split(".")[-1], len(held)]).encode())
            os.close(end)
            os.read(ended, 1)
        finally:
            os._exit(0)
    os.close(tell)
    try:
        said = json.loads(os.read(told, 1_000) or b"[]")
        check(said[:5] == ["yes", "yes", "Denied", "Denied", "LimitReached"], said)
        bench.check()
    finally:
        os.close(end)
        os.waitpid(other, 0)
        os.close(told)
        os.close(ended)
        bench.stop()
        bench.options = []
        bench.start()
    return f"Start and Borrow are denied, connection {said[5]} reaches the limit; others are served"
