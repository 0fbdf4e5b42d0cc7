#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares uwbsite with the package pydwm1001 at a simulated DWM1001 board.

compare.py UWBSITE

The board is a pseudo-terminal with the shell of PANS. Its lines of lec and les were printed by real
boards and published with programs that read them. Both sides have to agree on the address and the
label of the board. The place that uwbsite computes from the ranges has to be near the place that
the board's own engine computed, as pydwm1001 reads it.
"""
import concurrent.futures
import json
import math
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
import tty

from dwm1001 import ActiveTag, SystemInfo

SI = """\
[000044.950 INF] sys: fw2 fw_ver=x01030001 cfg_ver=x00010700
[000044.950 INF] uwb0: panid=xBACA addr=xDECADDF048951512
[000044.960 INF] mode: tn (act,twr,np,le)
[000044.960 INF] uwbmac: connected
[000044.960 INF] uwbmac: bh disconnected
[000044.970 INF] cfg: sync=0 fwup=0 ble=1 leds=1 le=1 lp=0 stat_det=1 mode=0 label=DW1512
[000044.980 INF] enc: off
[000044.980 INF] ble: addr=DD:92:94:CB:02:BB
"""
ROUNDS = [
    "DIST,4,AN0,022E,7.94,8.03,0.00,3.44,AN1,9280,7.95,0.00,0.00,5.68,AN2,DCAE,0.00,8.03,0.00,"
    "7.76,AN3,5431,0.00,0.00,0.00,8.73,POS,6.95,5.37,-1.97,52",
    "DIST,4,AN0,1151,5.00,8.00,2.25,6.44,AN1,0CA8,0.00,8.00,2.25,6.50,AN2,111C,5.00,0.00,2.25,"
    "3.24,AN3,1150,0.00,0.00,2.25,3.19,POS,2.55,2.01,1.71,98",
    "1151[5.00,8.00,2.25]=6.48 0CA8[0.00,8.00,2.25]=6.51 111C[5.00,0.00,2.25]=3.18 "
    "1150[0.00,0.00,2.25]=3.16 le_us=2576 est[2.57,1.98,1.68,100]",
    "DIST,4,AN0,0E15,1.75,4.55,2.33,1.61,AN1,1516,0.00,4.55,2.20,2.15,AN2,41B1,1.75,0.00,2.20,"
    "4.23,AN3,089F,0.00,0.00,2.20,4.37,POS,1.49,4.02,0.78,59",
    "DIST,4,AN0,2F2F,3.05,2.68,0.00,2.21,AN1,2C9D,-0.04,2.91,0.00,2.39,AN2,2ED0,3.02,0.00,0.00,"
    "2.19,AN3,2BA2,0.00,0.00,0.00,2.56,POS,1.59,1.65,1.27,44",
]
ANCHOR = re.compile(r"([0-9A-F]{4})[,\[]([-\d.]+),([-\d.]+),([-\d.]+)[,\]]")
NEAR = 0.35  # metres; the boards round to centimetres, and their engine is another


class Board(threading.Thread):
    """A board at a pseudo-terminal."""

    def __init__(self, line):
        super().__init__(daemon=True)
        self.main, side = pty.openpty()
        tty.setraw(side)
        self.path, self.line = os.ttyname(side), line
        self.is_shell = self.is_streaming = False
        self.enters, self.command, self.last = [], "", ""

    def run(self):
        due = time.monotonic()
        while True:
            ready, _, _ = select.select([self.main], [], [], 0.02)
            if ready:
                for byte in os.read(self.main, 1024).decode():
                    self.take(byte)
            if self.is_streaming and time.monotonic() >= due:
                due = time.monotonic() + 0.1
                self.send(self.line + "\r\n")

    def send(self, text):
        os.write(self.main, text.encode())

    def take(self, byte):
        if byte != "\r":
            self.command += byte
            return
        name, self.command = self.command, ""
        if not self.is_shell:
            self.enters = [one for one in self.enters if time.monotonic() - one < 1]
            self.enters.append(time.monotonic())
            self.is_shell = len(self.enters) > 1
            self.send("\r\n DWM1001 TWR Real Time Location System\r\n\r\ndwm> "
                      if self.is_shell else "@\x01\x01")
            return
        self.last = name or self.last
        if self.last == "lec":
            self.is_streaming = not self.is_streaming
        self.send(self.last + "\r\n"
                  + (SI.replace("\n", "\r\n") if self.last == "si" else "") + "dwm> ")


class Serial:
    """The one line of a port that pydwm1001 reads."""

    def __init__(self, line):
        self.line = line

    def readline(self):
        return self.line.encode()


def oracle(line):
    """The board's own place, as pydwm1001 reads it from the line of lep."""
    place = re.search(r"(?:POS,|est\[)([-\d.,]+)", line)[1]
    tag = ActiveTag.__new__(ActiveTag)
    tag.serial_handle = Serial(f"POS,{place}\r\n")
    return tag.position


def follow(program, line, folder):
    """The identity and the last place that uwbsite prints. Four anchors on one ceiling leave the
    height open, so that the tag has the height that the board computed."""
    board = Board(line)
    board.start()
    anchors = [{"id": f"A{name}", "addresses": [f"0x{name}"],
                "position_m": [float(x), float(y), float(z)], "position_sd_m": [0.02, 0.02, 0.02]}
               for name, x, y, z in ANCHOR.findall(line)]
    path = os.path.join(folder, f"{ROUNDS.index(line)}.json")
    with open(path, "w") as file:
        json.dump({"version": 1, "gauge": {"kind": "measured"}, "anchors": anchors,
                   "tags": [{"id": "tag", "label": "DW1512", "addresses": ["0x1512"],
                             "height_m": oracle(line).z_m}]}, file)
    process = subprocess.Popen([program, "run", path, f"pans:{board.path}", "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    threading.Timer(30, process.kill).start()
    identity, places = None, []
    for text in process.stdout:
        event = json.loads(text)
        if event.get("event") == "source_connected":
            identity = event["identity"]
        if "position_m" in event:
            places.append(event["position_m"])
        if len(places) >= 20:
            break
    process.terminate()
    process.wait()
    return identity, places[-1] if places else None


def main():
    info = SystemInfo.from_string(SI)
    wanted = f"{info.uwb_address.lower()} {info.label}"
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(len(ROUNDS)) as pool:
            found = list(pool.map(lambda line: follow(sys.argv[1], line, folder), ROUNDS))
        for line, (identity, place) in zip(ROUNDS, found):
            own = oracle(line)
            if identity != wanted:
                wrong.append(f"{identity} is not {wanted}")
            if not place:
                wrong.append(f"no place from {line}")
                continue
            gap = math.hypot(place[0] - own.x_m, place[1] - own.y_m)
            print(f"pans: {identity}: {place[0]:.2f}, {place[1]:.2f}; its own engine:"
                  f" {own.x_m:.2f}, {own.y_m:.2f} ({own.quality} %); {gap:.2f} m apart")
            if gap > NEAR:
                wrong.append(f"{gap:.2f} m between the places of {line}")
    print("\n".join(wrong) or f"pans: {len(ROUNDS)} recorded rounds agree with pydwm1001")
    return 1 if wrong else 0


sys.exit(main())
