# SPDX-License-Identifier: Apache-2.0
"""The names and the geometry that bridges for ROS 2, Foxglove and MAVLink have in common."""

from __future__ import annotations

import json
import math

import uwb

from ._house import slug
from ._input import Place, name, numbers, squared

Vector = tuple[float, float, float]
Color = tuple[float, float, float, float]

GREEN, BLUE = (0.2, 0.8, 0.3, 1.0), (0.2, 0.5, 1.0, 0.45)
#: An ellipse of as many standard deviations contains 95 %.
ELLIPSE = 2.4477
#: The variance of an unknown orientation, rad²: displays of ROS reject NaN.
UNKNOWN = 1e6


def flat_topic(text: str) -> str:
    """Returns a level of a topic of ROS: it does not begin with a digit, and has no hyphen."""
    found = slug(text).replace("-", "_")
    return f"_{found}" if found[0].isdigit() else found


def is_sane(*values: float) -> bool:
    """Returns whether metres, or their squares, fit into the numbers of messages."""
    return all(abs(value) < 1e9 for value in values)


def angle(value: uwb.Measurement, kind: str) -> tuple[float, float]:
    """Returns `azimuth` or `elevation` with its variance in radians; NaN if they are unknown."""
    degrees, sigma = getattr(value, f"computed_{kind}_deg"), getattr(value, f"computed_{kind}_sd_deg")
    if degrees is None:
        degrees, sigma = getattr(value, f"{kind}_deg"), None
    return (
        math.nan if degrees is None else math.radians(degrees),
        math.nan if sigma is None else squared(math.radians(sigma)),
    )


def ellipse(value: Place) -> tuple[Vector, float] | None:
    """Returns the axes of the ellipse of 95 % and of the height, and the angle of the first one."""
    xx, xy, _, yy, _, zz = value.covariance
    middle, spread = (xx + yy) / 2, math.hypot((xx - yy) / 2, xy)
    if not (math.isfinite(middle) and math.isfinite(zz) and middle >= spread):
        return None
    axes = (math.sqrt(middle + spread), math.sqrt(middle - spread), math.sqrt(max(zz, 0)))
    size = [max(0.02, 2 * ELLIPSE * axis) for axis in axes]
    return (size[0], size[1], size[2]), math.atan2(2 * xy, xx - yy) / 2


def pose_covariance(value: Place) -> list[float]:
    """Returns the 36 numbers of ROS: rows of x, y, z and three rotations."""
    found = [0.0] * 36
    cells = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)
    for (row, column), entry in zip(cells, value.covariance):
        found[6 * row + column] = found[6 * column + row] = entry
    found[21] = found[28] = found[35] = UNKNOWN
    return found


def site_anchors(path: str) -> dict[str, Vector]:
    """Returns the places of the anchors in a site file."""
    with open(path, encoding="utf-8") as file:
        members = json.load(file)
    found = {}
    for anchor in members.get("anchors", []):
        place = numbers(anchor.get("position_m"), 3)
        if place is not None and (identity := name(anchor.get("id"))):
            found[identity] = (place[0], place[1], place[2])
    return found
