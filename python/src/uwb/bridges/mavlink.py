# SPDX-License-Identifier: Apache-2.0
"""Sends the place of a vehicle, or of a landing pad, to an autopilot by MAVLink.

    uwb-mavlink --connect udpout:127.0.0.1:14550 --tag 0x0001 --north 90 site:/run/uwb-site/control
    uwb-mavlink --connect /dev/ttyAMA0,115200 --landing 0x0002 chips

ArduPilot and PX4 are recognised by their heartbeat; nothing is sent to them before.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import threading
import time
from typing import Any

# Covariances are extensions of version 2. pymavlink reads the variable when it is imported.
os.environ["MAVLINK20"] = "1"

from pymavlink import mavutil

import uwb

from ._input import Ended, Feed, Place, SiteChange, log, since_epoch
from ._program import parser, run
from ._topics import angle, is_sane

#: MAV_COMP_ID_VISUAL_INERTIAL_ODOMETRY, MAV_TYPE_ONBOARD_CONTROLLER and MAV_AUTOPILOT_INVALID.
COMPONENT, ONBOARD, NO_AUTOPILOT = 197, 18, 8
#: MAV_AUTOPILOT_PX4; and the frames MAV_FRAME_LOCAL_NED, _BODY_FRD and _LOCAL_FRD.
PX4, NED, BODY, FRD = 12, 1, 12, 20
#: Older places are not sent, seconds: the autopilot would believe that the vehicle stands still.
OLDEST = 0.3
#: A track that pauses for longer begins anew, seconds.
LONGEST_GAP = 1.0
#: The vehicle is lost without a heartbeat for as long, seconds.
SILENCE = 5.0
Vector = tuple[float, float, float]


class Frame:
    """Turns values of a site, whose z points upwards, to north, east and down."""

    def __init__(self, north: float) -> None:
        """Makes the frame of a site whose x points to `north` degrees, clockwise from north."""
        c, s = math.cos(math.radians(north)), math.sin(math.radians(north))
        self._rows: tuple[Vector, ...] = ((c, s, 0.0), (s, -c, 0.0), (0.0, 0.0, -1.0))

    def vector(self, value: Vector) -> Vector:
        """Returns a position or a velocity."""
        x, y, z = (sum(a * b for a, b in zip(row, value)) for row in self._rows)
        return x, y, z

    def covariance(self, value: tuple[float, ...]) -> list[float]:
        """Returns the 21 numbers of a covariance of six, of which the last three are not known."""
        # ArduPilot uses all of them once the first is finite, so the others are 0.
        found = [0.0] * 21
        if not is_sane(*value):
            found[0] = math.nan
            return found
        xx, xy, xz, yy, yz, zz = value
        matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        columns = [self.vector(row) for row in matrix]
        turned = [self.vector((columns[0][i], columns[1][i], columns[2][i])) for i in range(3)]
        for place, (row, column) in (0, (0, 0)), (1, (0, 1)), (2, (0, 2)), (6, (1, 1)), (7, (1, 2)), (11, (2, 2)):
            found[place] = turned[row][column]
        return found


class Link:
    """The connection to an autopilot."""

    def __init__(self, options: argparse.Namespace, feed: Feed) -> None:
        device, _, baud = options.connect.partition(",")
        self._link: Any = mavutil.mavlink_connection(
            device, baud=int(baud or 115200), source_system=options.system, source_component=COMPONENT,
            dialect="common", autoreconnect=True)
        self._put = feed.queue.put
        #: The kind of the autopilot, and the time of its last heartbeat.
        self.autopilot, self._seen = NO_AUTOPILOT, -math.inf
        self._beaten = -math.inf
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def is_up(self) -> bool:
        """Whether the autopilot has sent a heartbeat within the last seconds."""
        return time.monotonic() - self._seen < SILENCE

    def _read(self) -> None:
        while True:
            message = self._link.recv_match(type=["HEARTBEAT", "TIMESYNC"], blocking=True, timeout=1)
            if message is not None:
                self._put(message)

    def handle(self, message: Any) -> None:
        """Handles a message of the autopilot."""
        if message.get_type() == "TIMESYNC":
            if message.tc1 == 0:
                self._link.mav.timesync_send(time.time_ns(), message.ts1)
        elif message.autopilot != NO_AUTOPILOT:
            if not self.is_up:
                log.info("autopilot %d of system %d", message.autopilot, message.get_srcSystem())
            self.autopilot, self._seen = message.autopilot, time.monotonic()
            # A companion has the system of its vehicle.
            self._link.mav.srcSystem = message.get_srcSystem()

    def beat(self) -> None:
        """Sends a heartbeat each second."""
        if (now := time.monotonic()) - self._beaten >= 1:
            self._beaten = now
            self._link.mav.heartbeat_send(ONBOARD, NO_AUTOPILOT, 0, 0, 4)

    def send(self, message: Any) -> None:
        """Sends a message to an autopilot that is there."""
        if message is not None and self.is_up:
            self._link.mav.send(message)


class Vehicle:
    """Makes messages of the places of one tag."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._tag, self._kind, self._frame = options.tag, options.message, Frame(options.north)
        self._pause = 1 / options.rate
        self._resets, self._sent, self._last = 0, -math.inf, -math.inf
        self._floor: str | None = None
        self._jumps = False

    def receive(self, value: object, autopilot: int, now: float) -> Any:
        """Returns a message for an input, or None."""
        if isinstance(value, uwb.Interruption) or isinstance(value, SiteChange) and (
                value.kind == "lost" and value.tag == self._tag):
            self._jumps = True
        if not isinstance(value, Place) or value.tag != self._tag or not is_sane(*value.position):
            return None
        moment = value.time
        if since_epoch(moment) and now - moment > OLDEST or moment - self._sent < self._pause * 0.9:
            return None
        if self._sent > -math.inf and (self._jumps or moment - self._last > LONGEST_GAP or value.floor != self._floor):
            self._resets = (self._resets + 1) % 256
        self._jumps, self._floor, self._sent, self._last = False, value.floor, moment, moment
        return self._message(value, autopilot, round((moment if since_epoch(moment) else now) * 1e6))

    def _message(self, value: Place, autopilot: int, microseconds: int) -> Any:
        x, y, z = self._frame.vector(value.position)
        covariance = self._frame.covariance(value.covariance)
        # Ranges have no attitude. ArduPilot computes with the numbers, PX4 ignores NaN.
        attitude = math.nan if autopilot == PX4 else 0.0
        make: Any = mavutil.mavlink
        velocity = value.velocity
        # Without a velocity, ODOMETRY would be a vehicle at rest.
        if self._kind == "vision" or velocity is None or not is_sane(*velocity):
            return make.MAVLink_vision_position_estimate_message(
                microseconds, x, y, z, attitude, attitude, attitude, covariance, self._resets)
        # ArduPilot accepts these frames only, and turns the velocity by the attitude, here 0.
        frame, child = (NED, NED) if autopilot == PX4 else (FRD, BODY)
        unknown = [math.nan] + [0.0] * 20
        return make.MAVLink_odometry_message(
            microseconds, frame, child, x, y, z, [math.nan] * 4 if autopilot == PX4 else [1.0, 0.0, 0.0, 0.0],
            *self._frame.vector(velocity), math.nan, math.nan, math.nan, covariance, unknown, self._resets)


def landing_target(value: uwb.Measurement, peer: str, mount: str, autopilot: int, now: float) -> Any:
    """Returns LANDING_TARGET for a measurement of the pad, or None where it has no direction."""
    azimuth, elevation = angle(value, "azimuth")[0], angle(value, "elevation")[0]
    moment = value.time.timestamp()
    if value.peer != peer or value.distance is None or not is_sane(value.distance, azimuth, elevation):
        return None
    if since_epoch(moment) and now - moment > OLDEST:
        return None
    ahead = value.distance * math.cos(elevation) * math.cos(azimuth)
    right = value.distance * math.cos(elevation) * math.sin(azimuth)
    up = value.distance * math.sin(elevation)
    # A board that looks down has its upper edge towards the front of the vehicle.
    x, y, z = (up, right, ahead) if mount == "down" else (ahead, right, -up)
    if z <= 0:
        return None
    # PX4 takes positions in its local frame only, and angles otherwise.
    has_position = autopilot != PX4
    place = (x, y, z) if has_position else (0.0, 0.0, 0.0)
    make: Any = mavutil.mavlink
    return make.MAVLink_landing_target_message(
        round((moment if since_epoch(moment) else now) * 1e6), 0, BODY, math.atan2(y, z), math.atan2(-x, z),
        value.distance, 0.0, 0.0, *place, [1.0, 0.0, 0.0, 0.0], 1, int(has_position))


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options; a wrong one ends the program with 2."""
    found = parser("uwb-mavlink", __doc__)
    add = found.add_argument
    add("--connect", required=True, metavar="DEVICE",
        help="udpout:HOST:PORT, udpin:HOST:PORT, tcp:HOST:PORT or DEVICE,BAUD of a serial port")
    add("--tag", help="the tag of the vehicle: its places are sent")
    add("--north", type=float, metavar="DEGREES", help="the direction of the site's x, clockwise from north")
    add("--message", choices=["vision", "odometry"], default="vision",
        help="VISION_POSITION_ESTIMATE, or ODOMETRY, which has the velocity (default: vision)")
    add("--rate", type=float, default=30, metavar="HERTZ", help="places a second at most (default: 30)")
    add("--landing", metavar="PEER", help="the peer at the landing pad: its directions are sent")
    add("--mount", choices=["down", "ahead"], default="down", help="the direction of the board (default: down)")
    add("--system", type=int, default=1, help="the system until a heartbeat is received (default: 1)")
    options = found.parse_args(arguments)
    if not (options.tag or options.landing):
        found.error("give --tag or --landing")
    if options.tag and (options.north is None or not math.isfinite(options.north)):
        found.error("--tag needs --north: the autopilot takes north and east")
    if not 0 < options.rate <= 1000 or not 1 <= options.system <= 255:
        found.error("--rate is from 0 to 1000 Hz, --system from 1 to 255")
    return options


def serve(options: argparse.Namespace) -> int:
    """Sends messages until the sources have ended."""
    feed = Feed(options.sources)
    link = Link(options, feed)
    vehicle = Vehicle(options) if options.tag else None
    feed.start()
    left = len(options.sources)
    while left:
        value = feed.get(0.2)
        link.beat()
        if isinstance(value, Ended):
            left -= 1
        elif hasattr(value, "get_type"):
            link.handle(value)
        elif value is not None:
            now = time.time()
            if vehicle:
                link.send(vehicle.receive(value, link.autopilot, now))
            if options.landing and isinstance(value, uwb.Measurement):
                link.send(landing_target(value, options.landing, options.mount, link.autopilot, now))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program, and returns its exit status."""
    options = parsed(arguments)
    return run("uwb-mavlink", options.verbose, lambda: serve(options))


if __name__ == "__main__":
    sys.exit(main())
