# SPDX-License-Identifier: Apache-2.0
"""Home Assistant in a process of the test, with uwb-mqtt and mosquitto.

It needs the package homeassistant, which is too large for .ci/bridges (5 minutes, 1 GB):

    python3.13 -m venv ha && ha/bin/pip install homeassistant==2025.4.4 paho-mqtt==2.1.0 \\
      home-assistant-frontend aiohasupervisor
    PYTHONPATH=python/src ha/bin/python python/tests/bridges/homeassistant_run.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from homeassistant import auth, bootstrap, const, core, loader
from homeassistant.config_entries import ConfigEntries, ConfigEntry
from homeassistant.helpers import entity_registry
from homeassistant.setup import async_setup_component

sys.path.insert(0, os.path.dirname(__file__))
from brokers import Broker, Program, Subscriber, change, free_port, place, run  # noqa: E402

ZONES = ["kitchen", "hall", "sofa", "living room"]
ZONE_ENTITIES = [f"binary_sensor.uwb_{zone.replace(' ', '_')}" for zone in ZONES]


class Warnings(logging.Handler):
    """Keeps the warnings of Home Assistant."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name}: {record.getMessage()}")


async def started(folder: str, port: int) -> core.HomeAssistant:
    """Starts Home Assistant with MQTT, persons and zones."""
    pathlib.Path(folder, "configuration.yaml").touch()
    hass = core.HomeAssistant(folder)
    hass.config.config_dir = folder
    hass.config.skip_pip = True
    hass.config.latitude, hass.config.longitude = 52.5, 13.4
    hass.config_entries = ConfigEntries(hass, {})
    loader.async_setup(hass)
    await bootstrap.async_load_base_functionality(hass)
    hass.auth = await auth.auth_manager_from_config(hass, [], [])
    await hass.config_entries.async_initialize()
    assert await async_setup_component(hass, "http", {
        "http": {"server_host": ["127.0.0.1"], "server_port": free_port()}})
    from homeassistant.components.mqtt.config_flow import FlowHandler
    entry: dict[str, Any] = dict(
        data={"broker": "127.0.0.1", "port": port, "discovery": True, "discovery_prefix": "homeassistant"},
        domain="mqtt", entry_id="mqtt", minor_version=getattr(FlowHandler, "MINOR_VERSION", 1), options={},
        source="user", title="MQTT", unique_id=None, version=FlowHandler.VERSION, discovery_keys={},
        subentries_data=())
    await hass.config_entries.async_add(ConfigEntry(**entry))
    # Home Assistant gives a tracker of the device "Cat" this name.
    assert await async_setup_component(hass, "person", {"person": [
        {"name": "Cat owner", "id": "owner", "device_trackers": ["device_tracker.cat"]}]})
    assert await async_setup_component(hass, "zone", {})
    await hass.async_start()
    return hass


async def wait(condition: Callable[[], object], text: str, seconds: float = 60) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < end, text
        await asyncio.sleep(0.02)


async def expect(hass: core.HomeAssistant, **states: str) -> None:
    """Waits until entities have states; `a__b` is the entity `a.b`."""
    wanted = {name.replace("__", "."): value for name, value in states.items()}

    def found() -> dict[str, Any]:
        return {name: getattr(hass.states.get(name), "state", None) for name in wanted}

    try:
        await wait(lambda: found() == wanted, "")
    except AssertionError:
        raise AssertionError(f"{found()}, not {wanted}") from None


async def check(hass: core.HomeAssistant, broker: Broker) -> int:
    """Runs the whole story, and returns the number of entities."""
    loop = asyncio.get_running_loop()
    arguments = ["--name", "t1=Cat", "--name", "t2=Dog", "--lost-after", "2", "--left-after", "5"]
    program = Program(*arguments, port=broker.port)
    tags = ["t1", "t2", "t3"]

    async def keep(*silent: str) -> None:
        program.send(*(place(tag, 1 + index) for index, tag in enumerate(tags) if tag not in silent))

    await keep()
    for zone in ZONES:
        program.send(change("t1", "entered", zone), change("t1", "left", zone))
    program.send(change("t1", "entered", "kitchen"), change("t2", "entered", "kitchen"))

    async def present() -> None:
        while True:
            await keep(*away)
            await asyncio.sleep(0.5)

    away: set[str] = set()
    task = loop.create_task(present())
    await expect(
        hass, sensor__cat_room="kitchen", sensor__dog_room="kitchen", sensor__t3_room="elsewhere",
        device_tracker__cat="home", binary_sensor__cat_presence="on", binary_sensor__uwb_kitchen="on",
        sensor__uwb_kitchen_count="2", binary_sensor__uwb_hall="off", person__cat_owner="home",
        binary_sensor__uwb_bridge="on")
    await wait(lambda: hass.states.get("zone.home").state == "1", "the person is at home")
    entities = entity_registry.async_get(hass).entities
    own = {name: entry for name, entry in entities.items() if entry.platform == "mqtt"}
    room = hass.states.get("sensor.cat_room")
    assert room is not None and set(room.attributes["options"]) == {*ZONES, "elsewhere", "away"}, room
    assert not {"x", "y", "distance"} & set(hass.states.get("device_tracker.cat").attributes)
    disabled = sorted(name for name, entry in own.items() if entry.disabled_by)
    assert disabled == sorted(f"sensor.{tag}_{axis}" for tag in ("cat", "dog", "t3") for axis in "xy"), disabled
    # 3 tags with presence, room, tracker, x and y; 4 zones with their counts; the bridge.
    assert len(own) == 3 * 5 + 4 * 2 + 1, sorted(own)

    program.send(change("t1", "left", "kitchen"), change("t1", "entered", "garden"))
    await expect(hass, sensor__cat_room="garden", sensor__uwb_kitchen_count="1", binary_sensor__uwb_garden="on")

    away.add("t1")
    await expect(hass, device_tracker__cat="not_home", sensor__cat_room="away", person__cat_owner="not_home",
                 binary_sensor__uwb_garden="off", device_tracker__dog="home")
    await wait(lambda: hass.states.get("zone.home").state == "0", "nobody is at home")
    away.clear()
    await expect(hass, device_tracker__cat="home", sensor__cat_room="garden", person__cat_owner="home")

    task.cancel()
    await loop.run_in_executor(None, program.kill)
    await expect(hass, device_tracker__cat="unavailable", sensor__cat_room="unavailable", binary_sensor__uwb_bridge="off")
    program = Program(*arguments, port=broker.port)
    task = loop.create_task(present())
    program.send(change("t1", "entered", "sofa"))
    await expect(hass, device_tracker__cat="home", sensor__cat_room="sofa", binary_sensor__uwb_bridge="on")
    task.cancel()
    await loop.run_in_executor(None, program.close)
    result = await loop.run_in_executor(None, run, "--broker", f"mqtt://127.0.0.1:{broker.port}", "--remove")
    assert result.returncode == 0, result.stderr
    await wait(lambda: not [entry for entry in entities.values() if entry.platform == "mqtt"],
               f"{[name for name, entry in entities.items() if entry.platform == 'mqtt']} are left")
    return len(own)


async def main() -> None:
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        broker = Broker(pathlib.Path(folder))
        subscriber = Subscriber(broker.port)
        hass = await started(tempfile.mkdtemp(dir=folder), broker.port)
        try:
            count = await check(hass, broker)
        finally:
            subscriber.close()
            await hass.async_stop(force=True)
            broker.close()
    # Home Assistant itself removes each topic again, and then finds nothing: uwb-mqtt does so once.
    removals = [topic for _, topic, text, _ in subscriber.messages if topic.endswith("/config") and not text]
    again = [text for text in warnings.texts if "No device components to cleanup" in text]
    assert len(again) <= len(removals) - len(set(removals)), (again, removals)
    ours = [text for text in warnings.texts if "uwb" in text and text not in again]
    assert not ours, ours
    print(f"{len(removals)} removals of {len(set(removals))} topics, {len(again)} warnings about them")
    print(f"Home Assistant {const.__version__}: {count} entities, no other warning")


if __name__ == "__main__":
    asyncio.run(main())
