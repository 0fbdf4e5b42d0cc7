# SPDX-License-Identifier: Apache-2.0
"""The chip's side: checks that wait, and a port that can be unplugged."""
import contextlib
import os
import pty
import select
import struct
import threading
import time
import tty

# A limit that is long enough on every machine.
LIMIT = 60.0


class Fault(Exception):
    """Something that has to hold does not."""


def check(holds, what):
    if not holds:
        raise Fault(what)


def wait_until(condition, what, limit=LIMIT):
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, f"{what}: not within {limit:.0f} s")
        time.sleep(0.005)


class Board:
    """The port of a chip, which can be unplugged. It counts the sessions of the chip."""

    def __init__(self, chip, link):
        self.link = link
        self.chip = os.open(chip, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.chip)
        self.sessions = {}
        self.left_at = 0.0
        self.lock = threading.Lock()
        self.port = None
        self.counts = []
        self.buffers = {}
        self.wake = os.pipe()
        self.is_running = True
        self.plug()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def plug(self):
        with self.lock:
            if self.port is not None:
                return
            self.port, self.own = pty.openpty()
            tty.setraw(self.own)
            os.set_blocking(self.port, False)
            temporary = self.link + ".new"
            os.symlink(os.ttyname(self.own), temporary)
            os.rename(temporary, self.link)
        os.write(self.wake[1], b".")

    def unplug(self):
        """The chip loses its power, and with it its sessions."""
        with self.lock:
            if self.port is None:
                return
            os.unlink(self.link)
            os.close(self.port)
            os.close(self.own)
            self.port = None
            self.buffers = {}
            with contextlib.suppress(OSError):
                os.write(self.chip, bytes([0x20, 0x00, 0x00, 0x01, 0x00]))

    def run(self):
        while self.is_running:
            with self.lock:
                port = self.port
            sources = [self.chip, self.wake[0]] + ([port] if port is not None else [])
            try:
                ready = select.select(sources, [], [])[0]
            except (OSError, ValueError):
                continue
            if self.wake[0] in ready:
                os.read(self.wake[0], 100)
            with self.lock:
                if port is not None and port == self.port and port in ready:
                    with contextlib.suppress(OSError):
                        self.pass_on(port, self.chip)
                if self.chip in ready:
                    try:
                        self.pass_on(self.chip, self.port)
                    except OSError:
                        return

    def pass_on(self, source, target):
        """Whole packets, which are looked at."""
        data = self.buffers.get(source, b"") + os.read(source, 4096)
        while len(data) >= 4:
            length = 4 + (data[3] if data[0] >> 5 != 0 else data[2] | data[3] << 8)
            if len(data) < length:
                break
            packet, data = data[:length], data[length:]
            if source == self.chip and self.look(packet) or target is None:
                continue
            with contextlib.suppress(BlockingIOError, OSError):
                os.write(target, packet)
        self.buffers[source] = data

    def look(self, packet):
        """Whether it was asked for here."""
        if packet[:2] == b"\x61\x02":
            session, state = struct.unpack("<IB", packet[4:9])
            if state == 1:
                self.sessions.pop(session, None)
                self.left_at = time.monotonic()
            else:
                self.sessions[session] = state
        elif packet[:2] == b"\x40\x00":
            self.sessions = {}
        elif packet[:2] == b"\x41\x05":
            self.counts.append(packet[5])
            return True
        return False

    def count(self):
        """The sessions on the chip, as it says itself. Nobody may use it meanwhile."""
        self.counts = []
        with self.lock:
            os.write(self.chip, bytes([0x21, 0x05, 0x00, 0x00]))
        wait_until(lambda: self.counts, "the chip does not count its sessions")
        return self.counts[0]

    def end(self):
        self.is_running = False
        os.write(self.wake[1], b".")
        self.thread.join()
        self.unplug()
        os.close(self.chip)
