# SPDX-License-Identifier: Apache-2.0
"""Programs that pass measurements and places on. Each needs the extra of its name.

`uwb-mqtt` is in the extra `swift-uwb[mqtt]`, and so on.
"""

from __future__ import annotations

import sys

__all__ = ["run_mcap", "run_metrics", "run_mqtt"]


def _run(program: str, module: str, extra: str, package: str) -> int:
    try:
        __import__(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("uwb"):
            raise
        package = f", or apt install {package}" if package else ""
        print(f"{program} needs {error.name}: pip install 'swift-uwb[{extra}]'{package}.", file=sys.stderr)
        return 69
    status: int = sys.modules[module].main()
    return status


def run_mcap() -> int:
    """Runs `uwb-mcap`."""
    return _run("uwb-mcap", "uwb.bridges.mcap", "mcap", "")


def run_metrics() -> int:
    """Runs `uwb-metrics`."""
    return _run("uwb-metrics", "uwb.bridges.metrics", "metrics", "python3-prometheus-client")


def run_mqtt() -> int:
    """Runs `uwb-mqtt`."""
    return _run("uwb-mqtt", "uwb.bridges.mqtt", "mqtt", "python3-paho-mqtt (2.1 or later)")
