# SPDX-License-Identifier: Apache-2.0
"""Discovery messages of Home Assistant: a device for each tag, and one for the site.

A room is a sensor, a zone is a binary sensor, and a tracker is at home or not. Places do not
become attributes, because each change of an attribute is a row in the recorder.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._house import House, Tag

Component = dict[str, Any]


def identity(house: House, name: str = "") -> str:
    """Returns a lasting name for Home Assistant; several sites have different base topics."""
    base = re.sub(r"[^A-Za-z0-9_-]", "_", house.settings.base)
    return f"{base}_{name}" if name else f"{base}_site"


def _config(house: House, unique: str, device: Component, components: Component) -> None:
    message = {
        "device": {"identifiers": [unique], "manufacturer": "swift-uwb", **device},
        "origin": {
            "name": "uwb-mqtt",
            "sw_version": house.settings.version,
            "support_url": "https://github.com/swift-uwb/swift-uwb",
        },
        "availability": [{"topic": f"{house.settings.base}/bridge/state"}],
        "components": components,
    }
    # No state topic here: a tracker would inherit it.
    house.outbox.state(f"{house.settings.discovery}/device/{unique}/config", message)


def _measured(topic: str, base: str, key: str, unit: str, **more: Any) -> Component:
    """Returns a sensor that is available only while the tag is measured."""
    return {
        "platform": "sensor",
        "state_topic": topic,
        "value_template": "{{ value_json.%s }}" % key,
        "unit_of_measurement": unit,
        "state_class": "measurement",
        "availability": [{"topic": f"{base}/bridge/state"}, {"topic": f"{topic}/availability"}],
        "availability_mode": "all",
        **more,
    }


def discover_site(house: House) -> None:
    """Publishes the device of the site with its zones."""
    base, unique = house.settings.base, identity(house)
    components: Component = {
        "connection": {
            "platform": "binary_sensor", "name": "Bridge", "unique_id": f"{unique}_connection",
            "device_class": "connectivity", "entity_category": "diagnostic",
            "state_topic": f"{base}/bridge/state", "payload_on": "online", "payload_off": "offline",
            # It shows the loss of the bridge itself.
            "availability": [],
        }
    }
    for key, zone in house.zones.items():
        topic, name = f"{base}/zone/{key}", zone
        components[f"zone_{key}"] = {
            "platform": "binary_sensor", "name": name, "unique_id": f"{unique}_zone_{key}",
            "device_class": "occupancy", "state_topic": topic, "json_attributes_topic": topic,
            "value_template": "{{ 'ON' if value_json.occupied else 'OFF' }}",
        }
        components[f"count_{key}"] = {
            "platform": "sensor", "name": f"{name} count", "unique_id": f"{unique}_count_{key}",
            "state_class": "measurement", "state_topic": topic,
            "value_template": "{{ value_json.count }}",
        }
    device = {"name": "UWB" if base == "uwb" else f"UWB {base}", "sw_version": house.settings.version}
    _config(house, unique, device, components)


def discover_tag(house: House, tag: Tag) -> None:
    """Publishes the device of a tag, with an entity for each kind of value that it has."""
    base = house.settings.base
    topic, unique = f"{base}/tag/{tag.slug}", identity(house, f"tag_{tag.slug}")
    components: Component = {
        "presence": {
            "platform": "binary_sensor", "name": "Presence", "unique_id": f"{unique}_presence",
            "device_class": "presence", "state_topic": f"{topic}/presence",
            "payload_on": "home", "payload_off": "not_home",
        }
    }
    if tag.ranges:
        components["distance"] = _measured(
            topic, base, "distance", "m", name="Distance", unique_id=f"{unique}_distance",
            device_class="distance", suggested_display_precision=2)
    if tag.place:
        for axis in "xy":
            components[axis] = _measured(
                topic, base, axis, "m", name=axis.upper(), unique_id=f"{unique}_{axis}",
                enabled_by_default=False, suggested_display_precision=2)
    if tag.room is not None:
        # A value that is not in the list would be ignored, and the former room kept.
        components["room"] = {
            "platform": "sensor", "name": "Room", "unique_id": f"{unique}_room", "device_class": "enum",
            "options": [*sorted(set(house.zones.values()) - {"away", "elsewhere"}), "elsewhere", "away"],
            "state_topic": f"{topic}/room",
        }
    if house.settings.tracker != "off":
        components["tracker"] = {
            "platform": "device_tracker", "name": None, "unique_id": f"{unique}_tracker",
            "source_type": "router", "json_attributes_topic": f"{topic}/presence/attributes",
        }
        if house.settings.tracker == "both":
            components["tracker"]["state_topic"] = f"{topic}/presence"
    _config(house, unique, {"name": tag.name, "via_device": identity(house)}, components)
