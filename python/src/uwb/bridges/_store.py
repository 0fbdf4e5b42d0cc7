# SPDX-License-Identifier: Apache-2.0
"""Messages that wait for a cluster: in a bounded folder on disk, in order, with their numbers."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from ._input import log, since_epoch

#: Messages in memory. The others are on disk only.
WINDOW = 5_000
#: Subjects with a number of their own. A forgotten one goes on with a higher number.
MOST_SUBJECTS = 10_000
#: The step of the numbers after a loss of power, which may have lost the last messages.
JUMP = 1_000_000
#: Bytes of a store at least, and its files.
LEAST, SEGMENTS = 1 << 24, 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the store."""

    #: The number in the store. It rises for ever.
    number: int
    #: The number of its subject.
    sequence: int
    subject: str
    payload: bytes


@dataclass(slots=True)
class _Segment:
    path: str
    #: The number of the last message, or one less than the first.
    last: int
    size: int
    #: Messages that wait for a confirmation.
    waiting: int = 0


def boot() -> str:
    """Returns the identity of the run of the kernel, which CLOCK_MONOTONIC belongs to."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _line(entry: Entry) -> bytes:
    body = b"%d %d %s %s" % (entry.number, entry.sequence, entry.subject.encode(), entry.payload)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def parse(line: bytes) -> Entry | None:
    """Returns the message of a line of a file, or None for a damaged line."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    parts = body.split(b" ", 3)
    try:
        if not line.endswith(b"\n") or int(check, 16) != zlib.crc32(body) or len(parts) != 4:
            return None
        return Entry(int(parts[0]), int(parts[1]), parts[2].decode(), parts[3])
    except ValueError:
        return None


class Store:
    """A log of messages on disk. One program at a time has it open.

    A message has a number in the store, and one in its subject. Both rise for ever: after kill -9
    they go on, and after a loss of power they jump. A full store or disk refuses new messages and
    keeps the older ones.
    """

    def __init__(self, folder: str, most: int) -> None:
        self.most, self._folder = max(most, LEAST), folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._lock = open(os.path.join(folder, "lock"), "wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise OSError(errno.EBUSY, f"another program uses {folder}: give it a --store of its own") from None
        #: A random name. It is a part of the identities of messages.
        self.identity = secrets.token_hex(4)
        #: Messages that wait for a confirmation.
        self.waiting = 0
        #: Messages that were refused, and messages that only the memory has, since the disk is full.
        self.dropped = self.unsaved = 0
        #: Lines of an earlier run that cannot be read.
        self.damaged = 0
        # Above the numbers of a store that was lost, if the clock is right.
        self._next = time.time_ns() // 1_000 if since_epoch(time.time()) else 1
        self._sequences: OrderedDict[str, int] = OrderedDict()
        #: Messages in memory that wait, in their order, with their files.
        self._window: OrderedDict[int, _Segment | None] = OrderedDict()
        self._segments: list[_Segment] = []
        self._file: BinaryIO | None = None
        #: The first message that is not in memory: its file, and its place there. None: all are.
        self._cursor: tuple[_Segment, int] | None = None
        self._fails_until = 0.0
        self._is_failing = False
        self._position, self._has_unsaved = self._saved_position()
        #: The number after the messages that were in memory.
        self._loaded = self._position
        self._recover()
        self._position_file = os.open(os.path.join(folder, "position"), os.O_RDWR | os.O_CREAT, 0o600)
        self._save_position()

    def numbered(self, subject: str) -> tuple[int, int, bool]:
        """Returns the next number, the next one of the subject, and whether the latter begins."""
        number, self._next = self._next, self._next + 1
        last = self._sequences.get(subject)
        sequence = number if last is None else last + 1
        self._sequences[subject] = sequence
        self._sequences.move_to_end(subject)
        if len(self._sequences) > MOST_SUBJECTS:
            self._sequences.popitem(last=False)
        return number, sequence, last is None

    def add(self, batch: Sequence[Entry]) -> list[Entry]:
        """Writes messages to the disk, and returns the ones that are to be sent now."""
        lines = [_line(entry) for entry in batch]
        saved = self._write(lines, batch)
        segment = self._segments[-1] if self._segments else None
        place = segment.size - sum(map(len, lines[:saved])) if segment else 0
        found: list[Entry] = []
        for index, entry in enumerate(batch):
            is_saved = index < saved
            if segment is not None and is_saved:
                segment.waiting += 1
            if self._cursor is None and len(self._window) < WINDOW:
                if not is_saved:
                    self.unsaved += 1
                    self._save_position(has_unsaved=True)
                self._load(entry, segment if is_saved else None, found)
            elif not is_saved:
                self.dropped += 1
                continue
            elif self._cursor is None and segment is not None:
                self._cursor = segment, place
            place += len(lines[index])
            self.waiting += 1
        return found

    def confirm(self, number: int) -> None:
        """Forgets a message that the cluster has, or will never accept."""
        segment = self._window.pop(number)
        self.waiting -= 1
        if segment is not None:
            segment.waiting -= 1

    def refill(self) -> list[Entry]:
        """Returns messages of the disk that are to be sent now, if the memory has room for many."""
        found: list[Entry] = []
        while self._cursor is not None and len(self._window) <= WINDOW // 2:
            segment, place = self._cursor
            later = self._segments[self._segments.index(segment) + 1 :]
            self._cursor = (later[0], 0) if later else None
            for entry, end in _entries(segment.path, place, segment.size):
                if entry is None or not entry.subject:
                    continue
                if entry.number < self._position:
                    continue
                self._load(entry, segment, found)
                if len(self._window) == WINDOW and end < segment.size:
                    self._cursor = segment, end
                    break
        return found

    def _load(self, entry: Entry, segment: _Segment | None, found: list[Entry]) -> None:
        self._window[entry.number] = segment
        self._loaded = entry.number + 1
        found.append(entry)

    def mark(self) -> None:
        """Writes the position of the oldest message, and removes files without any."""
        position = next(iter(self._window), self._loaded)
        if position != self._position:
            self._position = position
            self._save_position()
        read = self._cursor[0] if self._cursor else None
        # One message that waits for ever keeps one file.
        for segment in [found for found in self._segments[:-1] if not found.waiting and found is not read]:
            self._segments.remove(segment)
            os.unlink(segment.path)

    def sync(self) -> None:
        """Waits until the disk has the files. Another thread may call it."""
        file = self._file
        try:
            if file is not None:
                os.fdatasync(file.fileno())
        except (OSError, ValueError):
            # A write reports it, or the file is complete and closed.
            pass

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(segment.size for segment in self._segments)

    def close(self) -> None:
        """Writes the numbers of all subjects, and closes the files."""
        self.mark()
        self.sync()
        self._save_state(is_clean=True)
        self._has_unsaved = False
        self._save_position()
        if self._file is not None:
            self._file.close()
        os.close(self._position_file)
        self._lock.close()

    # Files

    def _write(self, lines: Sequence[bytes], batch: Sequence[Entry]) -> int:
        """Returns the number of lines that the disk has accepted."""
        if not lines or time.monotonic() < self._fails_until:
            return 0
        try:
            if self._file is None or self._segments[-1].size >= self.most // SEGMENTS:
                self._begin(batch[0].number)
            assert self._file is not None
            segment, room, count, length = self._segments[-1], self.most - self.size, 0, 0
            while count < len(lines) and length + len(lines[count]) <= room:
                length += len(lines[count])
                count += 1
            if count:
                data = b"".join(lines[:count])
                if self._file.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                segment.size += length
                segment.last = batch[count - 1].number
            self._is_failing = False
            return count
        except OSError as error:
            if not self._is_failing:
                log.error("The store cannot be written: %s. Free the disk of %s.", error.strerror, self._folder)
            self._is_failing, self._fails_until = True, time.monotonic() + 1
            if self._file is not None:
                # A line that is cut off would hide the next one.
                self._file.truncate(self._segments[-1].size)
                self._file.seek(self._segments[-1].size)
            return 0

    def _begin(self, number: int) -> None:
        """Begins a file, which repeats the numbers of all subjects."""
        path = os.path.join(self._folder, f"{number:020d}.log")
        line = _line(Entry(number - 1, 0, "", json.dumps(self._sequences, separators=(",", ":")).encode()))
        file = open(path, "wb", buffering=0)
        try:
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            file.close()
            os.unlink(path)
            raise
        if self._file is not None:
            self.sync()
            self._file.close()
        self._file = file
        self._segments.append(_Segment(path, number - 1, len(line)))

    def _save_position(self, has_unsaved: bool = False) -> None:
        if has_unsaved and self._has_unsaved:
            return
        self._has_unsaved |= has_unsaved
        try:
            os.pwrite(self._position_file, b"%020d %d\n" % (self._position, self._has_unsaved), 0)
        except OSError as error:
            log.error("The store cannot be written: %s.", error.strerror)

    def _saved_position(self) -> tuple[int, bool]:
        """Returns the oldest message, and whether messages were sent that the disk lacks."""
        try:
            with open(os.path.join(self._folder, "position"), "rb") as file:
                position, has_unsaved = file.read(22).split()
            return int(position), has_unsaved == b"1"
        except (OSError, ValueError):
            return 0, False

    def _recover(self) -> None:
        """Reads the files of earlier runs."""
        names = sorted(name for name in os.listdir(self._folder) if name.endswith(".log"))
        highest = self._position - 1
        for name in names:
            segment = _Segment(os.path.join(self._folder, name), 0, 0)
            segment.size = os.path.getsize(segment.path)
            start = 0
            for entry, end in _entries(segment.path, 0, segment.size):
                if entry is None:
                    self.damaged += 1
                elif not entry.subject:
                    self._adopt(entry)
                else:
                    self._sequences[entry.subject] = entry.sequence
                    segment.last = highest = max(highest, entry.number)
                    if entry.number >= self._position:
                        self.waiting += 1
                        segment.waiting += 1
                        self._cursor = self._cursor or (segment, start)
                start = end
            self._segments.append(segment)
        if self.damaged:
            log.warning("%d messages of the store are damaged, and are lost.", self.damaged)
        self._load_state(highest + 1)
        for segment in [found for found in self._segments if not found.last]:
            self._segments.remove(segment)
            os.unlink(segment.path)

    def _adopt(self, entry: Entry) -> None:
        try:
            found = json.loads(entry.payload)
        except ValueError:
            return
        if isinstance(found, dict):
            self._sequences.update({key: value for key, value in found.items() if isinstance(value, int)})

    def _load_state(self, number: int) -> None:
        path = os.path.join(self._folder, "state.json")
        try:
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            self.identity, self.dropped = str(state["identity"]), int(state["dropped"])
            number = max(number, int(state["next"]))
            is_whole = bool(state["is_clean"]) or state["boot"] == boot() and not self._has_unsaved
            for key, value in state["sequences"].items():
                self._sequences[key] = max(int(value), self._sequences.get(key, 0))
        except FileNotFoundError:
            is_whole = not self._segments
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            is_whole = False
        if not is_whole:
            # The disk may lack the last messages that were sent.
            number = max(number + JUMP, self._next)
            self._sequences.clear()
        self._next, self._has_unsaved = number or self._next, False
        self._save_state(is_clean=False)

    def _save_state(self, is_clean: bool) -> None:
        path = os.path.join(self._folder, "state.json")
        state = {"identity": self.identity, "boot": boot(), "is_clean": is_clean, "dropped": self.dropped,
                 "next": self._next, "sequences": self._sequences}
        try:
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump(state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{path}.new", path)
        except OSError as error:
            log.error("The store cannot be written: %s.", error)


def _entries(path: str, place: int, end: int) -> Iterator[tuple[Entry | None, int]]:
    """Returns the messages of a part of a file, None for a damaged one, with the ends of lines."""
    with open(path, "rb") as file:
        file.seek(place)
        while place < end and (line := file.readline()):
            place += len(line)
            yield parse(line), place
