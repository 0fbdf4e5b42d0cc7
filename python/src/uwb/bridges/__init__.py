# SPDX-License-Identifier: Apache-2.0
"""Programs that pass measurements and places on. Most need the extra of their name.

`uwb-mqtt` is in the extra `swift-uwb[mqtt]`, and so on.
"""

from __future__ import annotations

import sys

__all__ = ["run_mavlink", "run_mcap", "run_metrics", "run_mqtt", "run_nats", "run_nats_engine", "run_omlox", "run_ros2"]


def _run(program: str, module: str, extra: str, package: str) -> int:
    try:
        __import__(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("uwb"):
            raise
        ways = [f"pip install 'swift-uwb[{extra}]'"] * bool(extra) + [f"apt install {package}"] * bool(package)
        print(f"{program} needs {error.name}: {', or '.join(ways)}.", file=sys.stderr)
        return 69
    status: int = sys.modules[module].main()
    return status


def run_mavlink() -> int:
    """Runs `uwb-mavlink`."""
    return _run("uwb-mavlink", "uwb.bridges.mavlink", "mavlink", "")


def run_mcap() -> int:
    """Runs `uwb-mcap`."""
    return _run("uwb-mcap", "uwb.bridges.mcap", "mcap", "")


def run_metrics() -> int:
    """Runs `uwb-metrics`."""
    return _run("uwb-metrics", "uwb.bridges.metrics", "metrics", "python3-prometheus-client")


def run_mqtt() -> int:
    """Runs `uwb-mqtt`."""
    return _run("uwb-mqtt", "uwb.bridges.mqtt", "mqtt", "python3-paho-mqtt (2.1 or later)")


def run_nats() -> int:
    """Runs `uwb-nats`. It needs a library for `--credentials` only."""
    return _run("uwb-nats", "uwb.bridges.nats", "nats", "")


def run_nats_engine() -> int:
    """Runs `uwb-nats-engine`. It needs `uwbsite`, and a library for `--credentials` only."""
    return _run("uwb-nats-engine", "uwb.bridges.nats_engine", "nats", "")


def run_omlox() -> int:
    """Runs `uwb-omlox`."""
    return _run("uwb-omlox", "uwb.bridges.omlox", "omlox", "")


def run_ros2() -> int:
    """Runs `uwb-ros2`. Its libraries come with ROS 2."""
    return _run("uwb-ros2", "uwb.bridges.ros2", "", "ros-jazzy-ros-base, and source /opt/ros/jazzy/setup.sh")
