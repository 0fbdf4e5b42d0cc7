# SPDX-License-Identifier: Apache-2.0
"""Messages of Foxglove in JSON for measurements and places. ROS is not needed to read them."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import uwb

from ._input import Place
from ._topics import BLUE, GREEN, Color, Vector, ellipse, flat_topic

Record = tuple[str, str, bytes]

_NUMBER, _TEXT = {"type": "number"}, {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _span(title: str) -> dict[str, Any]:
    return {"title": title, **_object(sec={"type": "integer"}, nsec={"type": "integer"})}


_POINT = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_TURN = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE = _object(position=_POINT, orientation=_TURN)
_COLOR = _object(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_EMPTY = ("metadata", "arrows", "cubes", "cylinders", "lines", "triangles", "models")
#: The members that are used; lists of other shapes are empty.
SCHEMAS = {
    "foxglove.PoseInFrame": _object(timestamp=_span("time"), frame_id=_TEXT, pose=_POSE),
    "foxglove.FrameTransforms": _object(transforms=_list(_object(
        timestamp=_span("time"), parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_POINT, rotation=_TURN))),
    "foxglove.SceneUpdate": _object(deletions=_list(_object()), entities=_list(_object(
        timestamp=_span("time"), frame_id=_TEXT, id=_TEXT, lifetime=_span("duration"), frame_locked={"type": "boolean"},
        spheres=_list(_object(pose=_POSE, size=_POINT, color=_COLOR)),
        texts=_list(_object(pose=_POSE, billboard={"type": "boolean"}, font_size=_NUMBER,
                            scale_invariant={"type": "boolean"}, color=_COLOR, text=_TEXT)),
        **{kind: _list(_object()) for kind in _EMPTY}))),
    "uwb.Measurement": _object(chip=_TEXT, peer=_TEXT, distance=_NUMBER, sigma=_NUMBER),
    "uwb.Place": _object(tag=_TEXT, sigma=_NUMBER, r95=_NUMBER, covariance=_list(_NUMBER), floor=_TEXT),
    "uwb.Change": _object(event=_TEXT, t=_NUMBER, tag=_TEXT),
    "uwb.Packet": _object(data={"type": "string", "contentEncoding": "base64"}),
}


def _time(nanoseconds: int) -> dict[str, int]:
    return dict(zip(("sec", "nsec"), divmod(nanoseconds, 10**9)))


def _vector(values: Any) -> dict[str, float]:
    return dict(zip("xyzw", (round(value, 4) for value in values)))


def _pose(place: Vector, yaw: float = 0.0, lift: float = 0.0) -> dict[str, Any]:
    x, y, z = place
    return {"position": _vector((x, y, z + lift)),
            "orientation": _vector((0, 0, math.sin(yaw / 2), math.cos(yaw / 2)))}


class Foxglove:
    """Makes records: the topic, the schema and the octets of a message."""

    profile, encoding, schema_encoding = "", "json", "jsonschema"

    def __init__(self, frame: str) -> None:
        self._frame = frame

    def schema(self, kind: str) -> bytes:
        """Returns a schema of JSON."""
        return json.dumps({"title": kind, **SCHEMAS[kind]}).encode()

    def _record(self, topic: str, kind: str, members: Any) -> Record:
        return topic, kind, json.dumps(members, allow_nan=False, separators=(",", ":")).encode()

    def measurement(self, value: uwb.Measurement, moment: int) -> Iterator[Record]:
        """Yields the values of a measurement that are known."""
        members = {
            "chip": value.chip, "peer": value.peer, "session": value.session_id, "sequence": value.sequence,
            "status": value.status, "distance": value.distance, "sigma": value.sigma, "rssi": value.rssi_dbm,
            "azimuth": value.computed_azimuth_deg if value.computed_azimuth_deg is not None else value.azimuth_deg,
            "elevation": value.computed_elevation_deg if value.computed_elevation_deg is not None
            else value.elevation_deg, "blocked": value.nlos_probability}
        known = {key: entry for key, entry in members.items() if entry is not None}
        yield self._record(f"/uwb/range/{flat_topic(value.peer)}", "uwb.Measurement", known)

    def place(self, value: Place, moment: int) -> Iterator[Record]:
        """Yields the pose of a tag, its uncertainty, and its frame."""
        topic = flat_topic(value.tag)
        pose = {"timestamp": _time(moment), "frame_id": self._frame, "pose": _pose(value.position)}
        yield self._record(f"/uwb/pose/{topic}", "foxglove.PoseInFrame", pose)
        members: dict[str, Any] = {"tag": value.tag, "sigma": value.sigma, "r95": value.r95, "floor": value.floor}
        known = {key: entry for key, entry in members.items()
                 if entry is not None and not (isinstance(entry, float) and math.isnan(entry))}
        if not any(map(math.isnan, value.covariance)):
            known["covariance"] = value.covariance
        yield self._record(f"/uwb/place/{topic}", "uwb.Place", known)
        yield self._frames("/tf", {value.tag: value.position}, moment)

    def _frames(self, topic: str, places: Mapping[str, Vector], moment: int) -> Record:
        return self._record(topic, "foxglove.FrameTransforms", {"transforms": [
            {"timestamp": _time(moment), "parent_frame_id": self._frame, "child_frame_id": name,
             "translation": _vector(place), "rotation": _vector((0, 0, 0, 1))} for name, place in places.items()]})

    def ellipse(self, value: Place, moment: int) -> Iterator[Record]:
        """Yields a picture of the uncertainty."""
        if found := ellipse(value):
            yield self._scene({value.tag: (value.position, *found)}, BLUE, moment, 2)

    def anchors(self, places: Mapping[str, Vector], moment: int) -> Iterator[Record]:
        """Yields frames and spheres of anchors."""
        yield self._frames("/tf", places, moment)
        yield self._scene({name: (place, (0.12,) * 3, 0.0) for name, place in places.items()}, GREEN, moment, 0)

    def _scene(self, spheres: Mapping[str, Any], color: Color, moment: int, seconds: int) -> Record:
        entities = [{
            "timestamp": _time(moment), "frame_id": self._frame, "id": name, "frame_locked": False,
            "lifetime": {"sec": seconds, "nsec": 0}, **{kind: [] for kind in _EMPTY},
            "spheres": [{"pose": _pose(place, yaw), "size": _vector(size), "color": dict(zip("rgba", color))}],
            "texts": [{"pose": _pose(place, lift=0.3), "billboard": True, "font_size": 14, "scale_invariant": True,
                       "color": dict(zip("rgba", (1, 1, 1, 1))), "text": name}],
        } for name, (place, size, yaw) in spheres.items()]
        return self._record("/uwb/scene", "foxglove.SceneUpdate", {"deletions": [], "entities": entities})

    def change(self, members: Mapping[str, Any], moment: int) -> Iterator[Record]:
        """Yields a change of a site."""
        yield self._record("/uwb/change", "uwb.Change", dict(members))

    def packet(self, data: bytes, moment: int) -> Iterator[Record]:
        """Yields a packet of UCI as it is."""
        yield self._record("/uwb/uci", "uwb.Packet", {"data": base64.b64encode(data).decode()})
