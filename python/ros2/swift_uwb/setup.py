# SPDX-License-Identifier: Apache-2.0
"""The package of ROS 2. The node is in the Python package swift-uwb: pip install swift-uwb."""

from setuptools import setup

NAME = "swift_uwb"

setup(
    name=NAME,
    version="0.1.0",
    packages=[],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/uwb.launch.py"]),
        (f"share/{NAME}/config", ["config/uwb.yaml"]),
    ],
    install_requires=["setuptools", "swift-uwb"],
    entry_points={"console_scripts": ["uwb-ros2 = uwb.bridges:run_ros2"]},
)
