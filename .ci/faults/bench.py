# SPDX-License-Identifier: Apache-2.0
"""A service with a simulated chip, and its programs."""
import collections
import contextlib
import functools
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import uwb
from board import LIMIT, Board, Fault, check, wait_until

PACKAGE = os.path.dirname(os.path.dirname(uwb.__file__))


class Connection(socket.socket):
    """A socket on which a program sends anything. The client of the package would not."""

    def __init__(self, path):
        super().__init__(socket.AF_UNIX)
        # With a limit, the program does not wait for its turn.
        self.connect(path)
        self.settimeout(LIMIT)
        self.protocol = uwb.Protocol()
        self.replies = collections.deque()

    def ask(self, method, more=False, **parameters):
        self.sendall(self.protocol.call(method, more=more, **parameters))

    def receive(self):
        """Returns the next reply; None: the service has closed the connection."""
        while not self.replies:
            try:
                data = self.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self.replies += self.protocol.receive(data)
        return self.replies.popleft()

    def call(self, method, **parameters):
        self.ask(method, **parameters)
        reply = self.receive()
        if reply is None:
            raise ConnectionError("the connection has ended")
        return reply


class Bench:
    """A service with a simulated chip, whose peer ranges."""

    def __init__(self, programs):
        self.programs = os.path.abspath(programs)
        self.folder = tempfile.mkdtemp()
        self.path = self.folder + "/control"
        self.link = self.folder + "/board"
        self.options = []
        self.service = None
        link = self.folder + "/chip"
        self.simulator = self.run(["uwbctl", "simulate", "--chips", "2", "--link", link])
        wait_until(lambda: os.path.exists(link + "-b"), "the simulated chips")
        # The file of a profile, and its text.
        self.file, self.profile = self.make_profile("controller")
        self.peer = self.run([
            "uwbctl", "range", "--device", link + "-b", "--profile",
            self.make_profile("controlee")[0], "--format", "json"])
        self.board = Board(link + "-a", self.link)

    def make_profile(self, role):
        text = subprocess.run(
            [self.programs + "/uwbctl", "profile", "--preset", "fira-static", "--role", role],
            check=True, capture_output=True, text=True).stdout.replace('"200 ms"', '"50 ms"')
        path = self.folder + f"/{role}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path, text

    def run(self, command, **more):
        environment = {**os.environ, "UWBD_SOCKET": self.folder + "/none"}
        environment.pop("NOTIFY_SOCKET", None)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                   "stderr": subprocess.DEVNULL, **more}
        return subprocess.Popen(
            [f"{self.programs}/{command[0]}", *command[1:]], env=environment, **streams)

    def start(self, **more):
        log = open(self.folder + "/log", "ab")
        with log:
            self.service = self.run(
                ["uwbd", "--socket", self.path, *self.options, self.link],
                **{"stderr": log, **more})

    def connect(self, client=Connection):
        """Waits for a service that is being started."""
        end = time.monotonic() + LIMIT
        while True:
            with contextlib.suppress(OSError):
                return client(self.path)
            check(time.monotonic() < end, "nobody can connect")
            check(self.service.poll() is None, f"the service has ended: {self.service.returncode}")
            time.sleep(0.002)

    def open(self):
        """Connects as programs in Python do."""
        return self.connect(functools.partial(uwb.connect, timeout=LIMIT))

    def sessions(self):
        with self.open() as program:
            return program.chips()[0].sessions

    def wait_until_empty(self):
        wait_until(lambda: not self.sessions(), "a session stays")
        wait_until(lambda: not self.board.sessions, "the chip keeps a session")

    def check(self):
        """It serves and measures, and nothing is left afterwards."""
        with self.open() as program:
            session = program.start(self.file)
            check(len(list(itertools.islice(session.measurements(), 3))) == 3, "nothing is measured")
        self.wait_until_empty()
        check(self.board.count() == 0, "the chip has a session that nobody holds")
        check(self.service.poll() is None, "the service has ended")

    def stop(self):
        if self.service and self.service.poll() is None:
            self.service.terminate()
            self.service.wait(LIMIT)

    def end(self):
        self.stop()
        for process in (self.peer, self.simulator):
            process.terminate()
        self.board.end()
        for process in (self.peer, self.simulator):
            process.wait()
        shutil.rmtree(self.folder)

    # The resources of the service.

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.service.pid}/fd"))

    def memory(self):
        """Resident, in KiB."""
        with open(f"/proc/{self.service.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def settle(bench, limit, step):
    """Repeats a step until it takes at most `limit` KiB. A leak takes memory each time; a heap that
    has not settled yet grows now and then. Returns the KiB of the last step, and its number."""
    figures = [bench.memory()]
    for number in range(1, 41):
        step()
        figures.append(bench.memory())
        grown = figures[-1] - figures[-2]
        if number > 2 and grown <= limit:
            return grown, number
    raise Fault(f"each step takes more memory: {figures}")


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else float("nan")


class Program(subprocess.Popen):
    """One that ends with its block, whatever happens there."""

    def __exit__(self, *what):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*what)


def start_program(bench, code):
    """Another program, in Python; `path` is the service's, `profile` a file."""
    head = f"import socket, time, uwb\npath, profile = {bench.path!r}, {bench.file!r}\n"
    return Program(
        [sys.executable, "-B", "-c", head + code], stdout=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONPATH": PACKAGE})


def start_owner(bench):
    """Another program that holds the session, and prints a line then."""
    return start_program(bench, """
session = uwb.connect(path).start(profile)
print(1, flush=True)
time.sleep(999)
""")


class Client:
    """A program that measures with the Python package, and goes on after a restart."""

    def __init__(self, bench):
        with bench.open() as program:
            program.start(bench.file)
            self.process = start_program(bench, """
service = uwb.connect(path)
for event in service.start(profile).measurements():
    if isinstance(event, uwb.Measurement):
        print(time.monotonic(), flush=True)
""")
            self.times = []
            self.reader = threading.Thread(target=self.read, daemon=True)
            self.reader.start()
            self.wait_for(time.monotonic())

    def read(self):
        for line in self.process.stdout:
            self.times.append(float(line))

    def wait_for(self, moment):
        """The time of the first measurement after a moment."""
        def found():
            check(self.process.poll() is None or self.times and self.times[-1] > moment,
                  "the program has ended")
            return next((at for at in reversed(self.times[-3:]) if at > moment), None)
        return wait_until(found, "no measurements")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
