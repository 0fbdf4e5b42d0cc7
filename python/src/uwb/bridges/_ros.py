# SPDX-License-Identifier: Apache-2.0
"""Messages of ROS 2 for measurements and places."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import uwb

from ._input import Place, squared
from ._topics import BLUE, GREEN, Color, Vector, angle, ellipse, flat_topic, pose_covariance

#: Everything that a measurement has; NaN for unknown values, angles in radians.
MEASUREMENT = """\
std_msgs/Header header
string initiator
string responder
uint32 session
uint32 sequence
float32 range
float32 range_variance
float32 azimuth
float32 azimuth_variance
float32 elevation
float32 elevation_variance
float32 rssi
float32 nlos_probability
string status
"""
PACKET = "std_msgs/Header header\nuint8[] data\n"

_store = get_typestore(Stores.ROS2_JAZZY)
_store.register(get_types_from_msg(MEASUREMENT, "uwb_msgs/msg/Measurement"))
_store.register(get_types_from_msg(PACKET, "uwb_msgs/msg/Packet"))
_types: Any = _store.types

Record = tuple[str, str, bytes]


def _made(name: str, *members: Any) -> Any:
    return _types[name](*members)


def _header(nanoseconds: int, frame: str) -> Any:
    return _made("std_msgs/msg/Header", _made("builtin_interfaces/msg/Time", *divmod(nanoseconds, 10**9)), frame)


def _point(place: Vector) -> Any:
    return _made("geometry_msgs/msg/Point", *place)


def _turn(yaw: float = 0.0) -> Any:
    return _made("geometry_msgs/msg/Quaternion", 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


class Ros:
    """Makes records: the topic, the type and the octets of a message."""

    profile, encoding, schema_encoding = "ros2", "cdr", "ros2msg"

    def __init__(self, frame: str) -> None:
        self._frame = frame

    def schema(self, kind: str) -> bytes:
        """Returns the text of a type, with the types that it contains."""
        return str(_store.generate_msgdef(kind, ros_version=2)[0]).encode()

    def _record(self, topic: str, kind: str, *members: Any) -> Record:
        return topic, kind, bytes(_store.serialize_cdr(_made(kind, *members), kind))

    def measurement(self, value: uwb.Measurement, moment: int) -> Iterator[Record]:
        """Yields sensor_msgs/Range if there is a distance, and uwb_msgs/Measurement."""
        header, variance = _header(moment, value.chip), squared(_or_nan(value.sigma))
        if value.distance is not None:
            # No kind of radiation is radio: 0 is ultrasound.
            yield self._record(
                f"/uwb/range/{flat_topic(value.peer)}", "sensor_msgs/msg/Range", header, 0, 2 * math.pi, 0.0,
                300.0, value.distance, variance)
        azimuth, elevation = angle(value, "azimuth"), angle(value, "elevation")
        yield self._record(
            "/uwb/measurement", "uwb_msgs/msg/Measurement", header, value.address or value.chip, value.peer,
            int(value.session_id) & 0xFFFFFFFF, int(value.sequence) & 0xFFFFFFFF, _or_nan(value.distance),
            variance, *azimuth, *elevation, _or_nan(value.rssi_dbm), _or_nan(value.nlos_probability),
            str(value.status))

    def place(self, value: Place, moment: int) -> Iterator[Record]:
        """Yields the pose of a tag, and its frame."""
        covariance = numpy.array(pose_covariance(value))
        pose = _made("geometry_msgs/msg/Pose", _point(value.position), _turn())
        yield self._record(
            f"/uwb/pose/{flat_topic(value.tag)}", "geometry_msgs/msg/PoseWithCovarianceStamped",
            _header(moment, self._frame), _made("geometry_msgs/msg/PoseWithCovariance", pose, covariance))
        yield self._frames("/tf", {value.tag: value.position}, moment)

    def _frames(self, topic: str, places: Mapping[str, Vector], moment: int) -> Record:
        header = _header(moment, self._frame)
        return self._record(topic, "tf2_msgs/msg/TFMessage", [
            _made("geometry_msgs/msg/TransformStamped", header, name, _made(
                "geometry_msgs/msg/Transform", _made("geometry_msgs/msg/Vector3", *place), _turn()))
            for name, place in places.items()])

    def ellipse(self, value: Place, moment: int) -> Iterator[Record]:
        """Yields a picture of the uncertainty."""
        if found := ellipse(value):
            yield self._marker({value.tag: (value.position, *found)}, BLUE, moment, 2)

    def anchors(self, places: Mapping[str, Vector], moment: int) -> Iterator[Record]:
        """Yields frames and spheres of anchors."""
        yield self._frames("/tf_static", places, moment)
        yield self._marker({name: (place, (0.12,) * 3, 0.0) for name, place in places.items()}, GREEN, moment, 0)

    def _marker(self, spheres: Mapping[str, Any], color: Color, moment: int, seconds: int) -> Record:
        markers = []
        for number, (name, (place, size, yaw)) in enumerate(spheres.items()):
            pose = _made("geometry_msgs/msg/Pose", _point(place), _turn(yaw))
            nothing = _made("sensor_msgs/msg/CompressedImage", _header(0, ""), "", numpy.zeros(0, numpy.uint8))
            markers.append(_made(
                "visualization_msgs/msg/Marker", _header(moment, self._frame), name, number, 2, 0, pose,
                _made("geometry_msgs/msg/Vector3", *size), _made("std_msgs/msg/ColorRGBA", *color),
                _made("builtin_interfaces/msg/Duration", seconds, 0), False, [], [], "", nothing, [], name, "",
                _made("visualization_msgs/msg/MeshFile", "", numpy.zeros(0, numpy.uint8)), False))
        return self._record("/uwb/scene", "visualization_msgs/msg/MarkerArray", markers)

    def change(self, members: Mapping[str, Any], moment: int) -> Iterator[Record]:
        """Yields a change of a site, as JSON in a text."""
        yield self._record("/uwb/change", "std_msgs/msg/String", json.dumps(dict(members), allow_nan=False))

    def packet(self, data: bytes, moment: int) -> Iterator[Record]:
        """Yields a packet of UCI as it is."""
        octets = numpy.frombuffer(data, numpy.uint8)
        yield self._record("/uwb/uci", "uwb_msgs/msg/Packet", _header(moment, "chip"), octets)
