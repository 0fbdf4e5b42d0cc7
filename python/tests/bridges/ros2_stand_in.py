# SPDX-License-Identifier: Apache-2.0
"""A stand-in for rclpy and for messages of ROS 2: neither is on PyPI or in Debian.

Messages have the fields of the releases Humble and Jazzy, as rosbags has them. As in rclpy, an
unknown field is an error, and so is an integer in a floating-point field.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from rosbags.typesys import Stores, get_typestore

#: Values of parameters that a launch file would give, and the node that was made last.
parameters: dict[str, Any] = {}
nodes: list[Any] = []
NOW = 1_900_000_000
NAMES = {
    "builtin_interfaces": ["Time"], "sensor_msgs": ["Range"], "std_msgs": ["Header"], "tf2_msgs": ["TFMessage"],
    "geometry_msgs": ["Point", "Pose", "PoseWithCovariance", "PoseWithCovarianceStamped", "Quaternion", "Transform",
                      "TransformStamped", "Vector3"],
}


def message_class(name: str, fields: list[tuple[str, Any]]) -> type:
    kinds = {field: description for field, description in fields}

    def make(self: Any, **members: Any) -> None:
        for field in kinds:
            object.__setattr__(self, field, None)
        for field, value in members.items():
            setattr(self, field, value)

    def assign(self: Any, field: str, value: Any) -> None:
        if field not in kinds:
            raise AttributeError(field)
        (_, described) = kinds[field]
        if isinstance(described, tuple) and isinstance(described[0], str):
            wanted = {"float32": float, "float64": float, "string": str, "int32": int, "uint32": int, "uint8": int}
            if not isinstance(value, wanted[described[0]]):
                raise TypeError(f"{name}.{field} is {described[0]}")
            limit = {"float32": 3.402823466e38, "int32": 2**31, "uint32": 2**32, "uint8": 256}.get(described[0])
            if limit is not None and isinstance(value, (int, float)) and abs(value) >= limit:
                raise ValueError(f"{name}.{field} has no room for {value}")
        object.__setattr__(self, field, value)

    return type(name, (), {"__init__": make, "__setattr__": assign})


class Publisher:
    def __init__(self, kind: type, topic: str, quality: Any) -> None:
        self.kind, self.topic, self.quality, self.messages = kind, topic, quality, list[Any]()

    def publish(self, message: Any) -> None:
        assert isinstance(message, self.kind)
        self.messages.append(message)


class Node:
    def __init__(self, name: str) -> None:
        self.name, self.publishers, self.timers = name, dict[str, Publisher](), list[Any]()
        self.warnings, self._values = list[str](), dict[str, Any]()
        nodes.append(self)

    def declare_parameter(self, name: str, value: Any) -> None:
        self._values[name] = parameters.get(name, value)

    def get_parameter(self, name: str) -> Any:
        return SimpleNamespace(value=self._values[name])

    def create_publisher(self, kind: type, topic: str, quality: Any) -> Publisher:
        assert topic not in self.publishers
        self.publishers[topic] = Publisher(kind, topic, quality)
        return self.publishers[topic]

    def create_timer(self, period: float, callback: Any) -> None:
        self.timers.append(callback)

    def get_clock(self) -> Any:
        time = sys.modules["builtin_interfaces.msg"].Time
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: time(sec=NOW, nanosec=0)))

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=self.warnings.append)

    def destroy_node(self) -> None:
        self.is_destroyed = True


def spin(node: Node) -> None:
    while True:
        for timer in node.timers:
            timer()


def modules(release: str) -> dict[str, ModuleType]:
    """Returns the modules of a release."""
    store = get_typestore(Stores[f"ROS2_{release.upper()}"])
    found: dict[str, Any] = {}
    for package, names in NAMES.items():
        found[package], module = ModuleType(package), ModuleType(f"{package}.msg")
        for name in names:
            fields: Any = store.fielddefs[f"{package}/msg/{name}"][1]
            setattr(module, name, message_class(name, fields))
        found[f"{package}.msg"] = module
    clients: dict[str, dict[str, Any]] = {
        "rclpy": {"init": lambda args: None, "spin": spin, "try_shutdown": lambda: None},
        "rclpy.node": {"Node": Node},
        "rclpy.executors": {"ExternalShutdownException": type("ExternalShutdownException", (Exception,), {})},
        "rclpy.qos": {"DurabilityPolicy": SimpleNamespace(TRANSIENT_LOCAL="lasting"), "QoSProfile": SimpleNamespace,
                      "qos_profile_sensor_data": "sensor"},
    }
    for name, members in clients.items():
        found[name] = ModuleType(name)
        for member, value in members.items():
            setattr(found[name], member, value)
    return found
