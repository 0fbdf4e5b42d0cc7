# SPDX-License-Identifier: Apache-2.0
"""Faults in the use of connections."""
import contextlib
import os
import signal
import time

from bench import Connection, percentile, settle, start_program
from board import check, wait_until


def many(bench, count):
    """2,000 connections, and 2,000 with half a call"""
    for half in (False, True):
        held = []
        refused = 0
        for _ in range(2_000):
            connection = Connection(bench.path)
            held.append(connection)
            if half:
                with contextlib.suppress(ConnectionError):
                    connection.sendall(b'{"method":"org.swift')
        served = 0
        for connection in held:
            if half:
                continue
            try:
                reply = connection.call("List")
                served += not reply.error
                refused += (reply.error or "").endswith("LimitReached")
            except ConnectionError:
                refused += 1
        if not half:
            check(served + refused == 2_000 and served >= 250, f"{served} served, {refused} refused")
            result = f"{served} served, {refused} refused"
        for connection in held:
            connection.close()
        wait_until(lambda: is_served(bench), "no connection is served any more")
    return result


def is_served(bench):
    """Returns whether the service answers a new connection, or refuses it because of its limits."""
    with contextlib.suppress(ConnectionError), bench.connect() as connection:
        return not connection.call("List").error
    return False


def vanish(bench, count):
    """programs that connect and go, in every state"""
    total = 50 * count

    def round_of(number):
        connection = Connection(bench.path)
        way = number % 6
        with contextlib.suppress(ConnectionError):
            if way == 1:
                connection.sendall(b'{"method":"org.')
            elif way == 2:
                connection.ask("List")
            elif way == 3:
                connection.ask("Monitor", more=True)
            elif way == 4:
                connection.call("org.varlink.service.GetInfo")
            elif number % 300 == 5:
                connection.ask("Start", profile_text=bench.profile)
        connection.close()

    opened = bench.descriptors()

    def step():
        for number in range(total):
            round_of(number)
        wait_until(lambda: not bench.sessions(), "a session stays")
        wait_until(lambda: bench.descriptors() <= opened, "descriptors stay open")

    # The limit is a quarter of a KiB for each connection.
    grown, number = settle(bench, total // 4, step)
    return f"{total} after {(number - 1) * total}: memory {grown:+d} KiB of {bench.memory()}"


def stopped(bench, count):
    """a program that is stopped (60 s with 200), which learns what it has lost"""
    seconds = max(2.0, 0.3 * count)
    with bench.open() as program:
        program.start(bench.file)
        reader = start_program(bench, """
seen = lost = 0
print("on", flush=True)
for measurement in uwb.connect(path).measurements(queue=20):
    seen += 1 + measurement.lost
    lost += measurement.lost
    print(seen, lost, flush=True)
""")
        with reader:
            reader.stdout.readline()
            reader.stdout.readline()
            before = bench.memory()
            os.kill(reader.pid, signal.SIGSTOP)
            times, end = [], time.monotonic() + seconds
            for _ in program.measurements():
                times.append(time.monotonic())
                if times[-1] >= end:
                    break
            gaps = [later - earlier for earlier, later in zip(times, times[1:])]
            grown = bench.memory() - before
            os.kill(reader.pid, signal.SIGCONT)
            numbers = [0]
            while numbers[0] < len(gaps):
                numbers = [int(value) for value in reader.stdout.readline().split()]
                check(numbers, "the stopped one is disconnected")
            reader.kill()
        check(grown <= 2048, f"it took {grown} KiB")
    return (f"{seconds:.0f} s: {numbers[0]} measurements, {numbers[1]} of them lost and told; "
            f"memory {grown:+d} KiB; pauses of another p99 {percentile(gaps, 0.99) * 1e3:.0f} ms")


SLOW = """
s = socket.socket(socket.AF_UNIX)
s.connect(path)
s.sendall(uwb.Protocol().call("Monitor", more=True, queue=20))
while s.recv(1): time.sleep(1)
"""


def slow(bench, count):
    """a program that reads an octet a second"""
    seconds = max(2, 60 * count // 200)
    with bench.open() as program:
        program.start(bench.file)
        with start_program(bench, SLOW) as reader:
            end, heard = time.monotonic() + seconds, 0
            before = bench.memory()
            for heard, _ in enumerate(program.measurements(), 1):
                if time.monotonic() >= end:
                    break
            grown = bench.memory() - before
            reader.kill()
        check(grown <= 2048, f"it took {grown} KiB")
    return f"{seconds} s, in which another hears {heard} measurements; memory {grown:+d} KiB"


BUSY = """
import os, select
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
protocol = uwb.Protocol()
calls = (protocol.call("List") + protocol.call("org.varlink.service.GetInterfaceDescription",
    interface="org.swift-uwb.Chips")) * 8
others = [socket.socket(socket.AF_UNIX) for _ in range(240)]
for other in others: other.connect(path)
poll = select.poll()
for other in others:
    other.setblocking(False)
    poll.register(other, select.POLLIN | select.POLLOUT)
rest = {other.fileno(): (other, calls) for other in others}
print("on", flush=True)
while True:
    for number, events in poll.poll():
        other, left = rest[number]
        try:
            if events & select.POLLIN: other.recv(65536)
            if events & select.POLLOUT: rest[number] = other, left[other.send(left):] or calls
        except OSError: pass
"""


def busy(bench, count):
    """a user whose 240 connections call as fast as they can, and calls of another user"""
    if os.geteuid() != 0:
        return "left out: it needs root"
    bench.stop()
    os.chmod(bench.folder, 0o755)
    bench.options = ["--mode", "0666"]
    bench.start()
    bench.check()
    times = []
    with start_program(bench, BUSY) as reader:
        reader.stdout.readline()
        time.sleep(0.5)
        for _ in range(5 * count):
            begin = time.monotonic()
            with bench.connect() as other:
                check(not other.call("List").error, "another user is not served")
            times.append(time.monotonic() - begin)
    bench.stop()
    bench.options = []
    bench.start()
    check(max(times) < 2, f"a call of another user took {max(times):.1f} s")
    return (f"{len(times)} calls of another user answered after p50 {percentile(times, 0.5) * 1e3:.1f} ms, "
            f"at most {max(times) * 1e3:.0f} ms")


FLOOD = """
import os, select
calls = uwb.Protocol().call("org.varlink.service.GetInfo") * 500
def call():
    others = [socket.socket(socket.AF_UNIX) for _ in range(40)]
    for other in others: other.connect(path)
    rest = {}
    for other in others:
        other.setblocking(False)
        rest[other] = calls
    while True:
        readable, writable, _ = select.select(others, others, [])
        for other in readable: other.recv(65536)
        for other in writable:
            try: rest[other] = rest[other][other.send(rest[other]):] or calls
            except BlockingIOError: pass
def connect():
    while True:
        with socket.socket(socket.AF_UNIX) as other: other.connect(path)
print("on", flush=True)
try: call() if os.fork() else connect()
except OSError: pass
"""


def flood(bench, count):
    """programs that call on 40 connections, and connect, as fast as they can"""
    times = []
    with start_program(bench, FLOOD) as reader:
        reader.stdout.readline()
        for _ in range(10 * count):
            begin = time.monotonic()
            with bench.connect() as other:
                check(not other.call("List").error, "another is not served")
            times.append(time.monotonic() - begin)
    return (f"{len(times)} calls of another answered after p50 {percentile(times, 0.5) * 1e3:.1f} ms, "
            f"at most {max(times) * 1e3:.0f} ms")
