# SPDX-License-Identifier: Apache-2.0
"""Starts the node: ros2 launch swift_uwb uwb.launch.py parameters:=FILE"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

DEFAULT = Path(__file__).resolve().parent.parent / "config" / "uwb.yaml"


def generate_launch_description() -> LaunchDescription:
    """Returns the node and its argument."""
    return LaunchDescription([
        DeclareLaunchArgument("parameters", default_value=str(DEFAULT), description="a file of parameters"),
        Node(package="swift_uwb", executable="uwb-ros2", name="uwb", output="screen", respawn=True, respawn_delay=2.0,
             parameters=[LaunchConfiguration("parameters")]),
    ])
