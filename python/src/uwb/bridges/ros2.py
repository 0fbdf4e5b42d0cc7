# SPDX-License-Identifier: Apache-2.0
"""A node of ROS 2 that publishes distances, poses and frames.

    uwb-ros2 --ros-args -p sources:="['site:/run/uwb-site/control']" -p site:=/etc/uwb/site.json
    ros2 launch swift_uwb uwb.launch.py

Its parameters are `sources`, `frame`, `site`, `publish_tf` and `maximum_range`.
"""

from __future__ import annotations

import math
import queue
import sys
from collections.abc import Mapping
from typing import Any

import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, PoseWithCovariance, PoseWithCovarianceStamped, Quaternion
from geometry_msgs.msg import Transform, TransformStamped, Vector3
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import Range
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

import uwb

from ._input import Ended, Feed, Place, since_epoch
from ._topics import Vector, flat_topic, is_sane, pose_covariance, site_anchors

#: Topics of a kind. Rotating addresses would be a topic each.
MOST_TOPICS = 200
#: The seconds between two looks at the queue; ranges of one chip come at 10 to 100 Hz.
PERIOD = 0.005


class UwbNode(Node):  # type: ignore[misc]
    """Publishes the inputs of its sources."""

    def __init__(self) -> None:
        super().__init__("uwb")
        self.declare_parameter("sources", ["chips"])
        self.declare_parameter("frame", "map")
        self.declare_parameter("site", "")
        self.declare_parameter("publish_tf", True)
        self.declare_parameter("maximum_range", 300.0)
        self._frame: str = self.get_parameter("frame").value
        self._has_frames: bool = self.get_parameter("publish_tf").value
        self._farthest: float = self.get_parameter("maximum_range").value
        self._topics: dict[tuple[Any, str], Any] = {}
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        if path := self.get_parameter("site").value:
            # Kept for nodes that start later.
            lasting = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self._tf_static = self.create_publisher(TFMessage, "/tf_static", lasting)
            self._tf_static.publish(self._frames(site_anchors(path), self.get_clock().now().to_msg()))
        sources: list[str] = list(self.get_parameter("sources").value)
        self._feed, self._left = Feed(sources), len(sources)
        self._feed.start()
        self.create_timer(PERIOD, self.drain)

    def drain(self) -> None:
        """Publishes what has come; ends the program after its sources."""
        for _ in range(self._feed.queue.maxsize):
            try:
                value = self._feed.queue.get_nowait()
            except queue.Empty:
                break
            self.receive(value)
        if self._left == 0:
            raise SystemExit(0)

    def receive(self, value: object) -> None:
        """Publishes an input."""
        if isinstance(value, Ended):
            self._left -= 1
        elif isinstance(value, uwb.Interruption):
            self.get_logger().warning(f"{value.cause}: {value.reason}")
        elif isinstance(value, uwb.Measurement):
            if value.distance is None or not is_sane(value.distance, value.sigma or 0):
                return
            self._publish(Range, f"uwb/range/{flat_topic(value.peer)}", self._range(value), qos_profile_sensor_data)
        elif isinstance(value, Place) and is_sane(*value.position):
            stamp = self._time(value.time)
            pose = Pose(position=Point(**_members(value.position)), orientation=_unturned())
            stamped = PoseWithCovarianceStamped(
                header=Header(stamp=stamp, frame_id=self._frame),
                pose=PoseWithCovariance(pose=pose, covariance=pose_covariance(value)))
            self._publish(PoseWithCovarianceStamped, f"uwb/pose/{flat_topic(value.tag)}", stamped, 10)
            if self._has_frames:
                self._tf.publish(self._frames({value.tag: value.position}, stamp))

    def _range(self, value: uwb.Measurement) -> Any:
        # No kind of radiation is radio: 0 is ultrasound.
        message = Range(
            header=Header(stamp=self._time(value.time.timestamp()), frame_id=value.chip), radiation_type=0,
            field_of_view=2 * math.pi, min_range=0.0, max_range=self._farthest, range=float(value.distance or 0))
        # Since Jazzy; 0 is unknown there.
        if hasattr(message, "variance"):
            message.variance = (value.sigma or 0.0) ** 2
        return message

    def _publish(self, kind: Any, topic: str, message: Any, quality: Any) -> None:
        if (publisher := self._topics.get((kind, topic))) is None:
            if sum(known is kind for known, _ in self._topics) >= MOST_TOPICS:
                return
            publisher = self._topics[kind, topic] = self.create_publisher(kind, topic, quality)
        publisher.publish(message)

    def _frames(self, places: Mapping[str, Vector], stamp: Any) -> Any:
        return TFMessage(transforms=[TransformStamped(
            header=Header(stamp=stamp, frame_id=self._frame), child_frame_id=name,
            transform=Transform(translation=Vector3(**_members(place)), rotation=_unturned()))
            for name, place in places.items()])

    def _time(self, seconds: float) -> Any:
        """Returns a time since 1970, or the present where the time has another origin."""
        # The time of ROS has 32 bits.
        if not since_epoch(seconds) or seconds >= 1 << 31:
            return self.get_clock().now().to_msg()
        second, microseconds = divmod(round(seconds * 1e6), 10**6)
        return Time(sec=second, nanosec=1_000 * microseconds)


def _unturned() -> Any:
    return Quaternion(x=0.0, y=0.0, z=0.0, w=1.0)


def _members(place: Vector) -> dict[str, float]:
    return dict(zip("xyz", map(float, place)))


def main(arguments: list[str] | None = None) -> int:
    """Runs the node, and returns its exit status."""
    rclpy.init(args=sys.argv if arguments is None else arguments)
    node = None
    try:
        node = UwbNode()
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except SystemExit as end:
        return int(end.code or 0)
    except (OSError, ValueError) as error:
        print(f"uwb-ros2: {error}", file=sys.stderr)
        return 66
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
