#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the service with clients in Python, beside a relay that only passes packets on.

    Benchmarks/Service/clients.py FOLDER [--seconds N] [--rounds N] [UWBD ...]

FOLDER has release builds of UWBBenchmarks and uwbd. Each further UWBD is a build to compare. All
states take turns in each round, and a figure is the median of the rounds. The clients share no code
with the benchmarks in Swift: sockets, poll and json of the standard library.

Prints S1 at 10, 100 and 1,000 Hz with the delay of each further client, S2, S3 and S9 (see
ServiceFigures.md), and the load of the machine.
"""
import argparse
import json
import os
import re
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

FIRST = 1_000  # the number of the first frame
PROFILE = {"session_id": 42, "parameters": {
    "DEVICE_TYPE": "controller", "DEVICE_ROLE": "initiator", "MULTI_NODE_MODE": "unicast",
    "NUMBER_OF_CONTROLEES": 1, "DEVICE_MAC_ADDRESS": "0x0000", "DST_MAC_ADDRESS": "0x0001",
    "RANGING_DURATION": "60000 ms"}}
SEQUENCE, LOST = re.compile(rb'"sequence":(\d+)'), re.compile(rb'"lost":(\d+)')


class Bench:
    """Simulated chips, and the service or the relay between them and the clients."""

    def __init__(self, folder, program, hertz, frames, clients, measurements=1, chips=1):
        self.scratch = tempfile.TemporaryDirectory()
        self.stamps, self.path = self.scratch.name + "/stamps", self.scratch.name + "/socket"
        self.frames, self.wanted = frames, frames * measurements
        benchmarks = folder + "/UWBBenchmarks"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.chips = subprocess.Popen(
            [benchmarks, "scale", "chips", str(chips), str(frames), str(hertz), self.stamps, str(measurements)], **pipes)
        paths = [self.chips.stdout.readline().strip() for _ in range(chips)]
        self.is_relay = program is None
        arguments = [benchmarks, "scale", "packets", paths[0], self.path, str(clients)] if self.is_relay else [
            program, "--socket", self.path, *paths]
        self.server = subprocess.Popen(arguments, **pipes)
        if self.is_relay:
            self.server.stdout.readline()
        while not os.path.exists(self.path):
            time.sleep(0.01)
        for path in [] if self.is_relay else paths:
            self.call("Describe", {"chip": path})[0].close()
        self.owner = None

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        return connection

    def call(self, method, parameters, more=False):
        connection = self.connect()
        message = {"method": "org.swift-uwb.Chips." + method, "parameters": parameters, "more": more}
        connection.sendall(json.dumps(message).encode() + b"\0")
        reply = None if more else connection.recv(1 << 16)
        if reply and b'"error"' in reply:
            sys.exit(f"{method}: {reply}")
        return connection, reply

    def listen(self, clients, pause=0):
        if self.is_relay:
            return [self.connect() for _ in range(clients)]
        listeners = [self.call("Monitor", {"every_ms": pause}, more=True)[0] for _ in range(clients)]
        self.owner = self.call("Start", {"profile": PROFILE})[0]
        return listeners

    def processor(self):
        with open(f"/proc/{self.server.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def nanoseconds(self):
        """Processor time of the threads that run now; finer than the ticks of `processor`."""
        total = 0
        for task in os.listdir(f"/proc/{self.server.pid}/task"):
            with open(f"/proc/{self.server.pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def memory(self):
        with open(f"/proc/{self.server.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])

    def waits(self):
        total = 0
        for task in os.listdir(f"/proc/{self.server.pid}/task"):
            with open(f"/proc/{self.server.pid}/task/{task}/status") as file:
                total += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read())[1])
        return total

    def end(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait()
        # The service ends its session on the chip first.
        self.chips.stdin.close()
        self.chips.wait()
        self.scratch.cleanup()


def messages(bench, rest):
    """Splits bytes into the numbers of frames with the count of lost measurements, and the rest."""
    found = []
    while bench.is_relay and len(rest) >= 4 and len(rest) >= 4 + rest[3]:
        length = 4 + rest[3]
        if rest[0] == 0x62 and rest[1] == 0 and length >= 8:
            found.append((struct.unpack_from("<I", rest, 4)[0], 0))
        rest = rest[length:]
    if not bench.is_relay:
        *whole, rest = rest.split(b"\0")
        found = [(int(SEQUENCE.search(text)[1]), int(LOST.search(text)[1])) for text in whole]
    return found, rest


def receive(bench, listeners, stopped=None):
    """Returns the delays in microseconds, and the numbers of lost and missing measurements."""
    rests = {listener.fileno(): b"" for listener in listeners}
    left = {listener.fileno(): bench.wanted for listener in listeners}
    arrivals, lost = [], 0
    poll = select.poll()
    for descriptor in rests:
        if descriptor != stopped:
            poll.register(descriptor, select.POLLIN)
    while any(count > 0 for descriptor, count in left.items() if descriptor != stopped):
        ready = poll.poll(20_000)
        if not ready:
            break
        for descriptor, _ in ready:
            piece = os.read(descriptor, 1 << 18)
            now = time.monotonic_ns()
            if not piece:
                poll.unregister(descriptor)
                continue
            found, rests[descriptor] = messages(bench, rests[descriptor] + piece)
            for number, dropped in found:
                # Rounds of the simulated chip itself have lower numbers.
                if number >= FIRST:
                    arrivals.append((number - FIRST, now))
                    left[descriptor] -= 1 + dropped
                    lost += dropped
    with open(bench.stamps, "rb") as file:
        stamps = struct.unpack(f"<{bench.frames}Q", file.read(8 * bench.frames))
    delays = sorted((now - stamps[number]) / 1_000 for number, now in arrivals)
    missing = sum(count for descriptor, count in left.items() if descriptor != stopped)
    return delays, lost, missing


def hop(options, program, hertz, clients):
    bench = Bench(options.folder, program, hertz, hertz * options.seconds, clients)
    listeners = bench.listen(clients)
    before = bench.nanoseconds()
    delays, lost, missing = receive(bench, listeners)
    processor = (bench.nanoseconds() - before) / 1_000 / bench.frames
    bench.end()
    if lost or missing:
        print(f"{program or 'relay'}, {hertz} Hz, {clients} clients: {lost} lost, {missing} missing")
    return delays[len(delays) // 2], delays[len(delays) * 99 // 100], processor


def figures_of_hops(options):
    states = [None, *options.programs]
    names = ["relay"] + [os.path.relpath(program) for program in options.programs]
    cases = [(10, 1), (100, 1), (1_000, 1), (100, 10), (100, 50)]
    results = {(case, state): [] for case in cases for state in states}
    for _ in range(options.rounds):
        for case in cases:
            for state in states:
                results[case, state].append(hop(options, state, *case))

    def middle(case, state, column):
        return statistics.median(result[column] for result in results[case, state])

    for case in cases:
        hertz, clients = case
        for state, name in zip(states, names):
            p50, p99 = middle(case, state, 0), middle(case, state, 1)
            ratio = p50 / middle(case, None, 0)
            more = ""
            if clients > 1:
                further = (p50 - middle((hertz, 1), state, 0)) / ((clients - 1) / 2)
                processor = middle(case, state, 2) - middle((hertz, 1), state, 2)
                more = (f", {further:.1f} us later for each further client, and "
                        f"{processor / (clients - 1):.1f} us of processor")
            print(f"S1: {hertz} Hz, {clients} clients, {name}: p50 {p50:.0f}, p99 {p99:.0f} us, "
                  f"{ratio:.2f} of the relay{more}", flush=True)


def reading(options, program, clients, pause=0, stops=False):
    bench = Bench(options.folder, program, 20, 20 * 3 * options.seconds, clients, measurements=10)
    listeners = bench.listen(clients, pause)
    memory, processor, begin = bench.memory(), bench.processor(), time.monotonic()
    stopped = listeners[-1].fileno() if stops else None
    delays, lost, missing = receive(bench, listeners, stopped)
    core = 100 * (bench.processor() - processor) / (time.monotonic() - begin)
    grown = bench.memory() - memory
    learned = None
    if stops:
        # The one that stopped now reads what was kept for it.
        got, dropped, _ = receive(bench, listeners[-1:])
        learned = (len(got) + dropped, bench.wanted)
    bench.end()
    return {"core": core, "p99": delays[len(delays) * 99 // 100], "lost": lost, "missing": missing,
            "grown": grown, "learned": learned}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("programs", nargs="*", metavar="UWBD")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.programs.insert(0, options.folder + "/uwbd")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, Python {sys.version.split()[0]}")
    figures_of_hops(options)
    for program in options.programs:
        one, all_ = reading(options, program, 1), reading(options, program, 50)
        batched = reading(options, program, 50, pause=50)
        stopped = reading(options, program, 50, stops=True)
        print(f"S2: {program}: 50 clients {all_['core']:.1f} %, one {one['core']:.1f} %, "
              f"with every_ms {batched['core']:.1f} % of a core; lost {all_['lost']}, missing {all_['missing']}")
        print(f"S3: p99 of the others {stopped['p99']:.0f} us, {all_['p99']:.0f} without a stopped client; "
              f"memory +{stopped['grown']} KiB, +{all_['grown']} without; it learned of "
              f"{stopped['learned'][0]} of {stopped['learned'][1]} measurements")
        bench = Bench(options.folder, program, 1, 1, 1, chips=2)
        time.sleep(10)
        processor, waits = bench.processor(), bench.waits()
        time.sleep(4 * options.seconds)
        print(f"S9: {100 * (bench.processor() - processor) / 4 / options.seconds:.2f} % of a core, "
              f"{(bench.waits() - waits) / 4 / options.seconds:.2f} wakes a second, "
              f"{bench.memory() / 1024:.1f} MiB")
        bench.end()
    print(f"load {os.getloadavg()[0]:.1f} at the end")


main()
