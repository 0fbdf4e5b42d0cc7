# SPDX-License-Identifier: Apache-2.0
"""The description of the app for Home Assistant, by the rules of its developers' pages."""

from __future__ import annotations

import pathlib
import re
import unittest

import jsonschema
import yaml

import uwb

FOLDER = pathlib.Path(__file__).parents[3] / "packaging" / "homeassistant"
TEXT = {"type": "string", "minLength": 1}
SCHEMA = {
    "type": "object", "additionalProperties": False,
    "required": ["name", "version", "slug", "description", "arch"],
    "properties": {
        "name": TEXT, "version": TEXT, "slug": {"type": "string", "pattern": "^[-_.A-Za-z0-9]+$"},
        "description": TEXT, "url": {"type": "string", "format": "uri"},
        # Other architectures are warned about.
        "arch": {"type": "array", "minItems": 1, "items": {"enum": ["aarch64", "amd64"]}},
        "init": {"type": "boolean"}, "startup": {"enum": ["initialize", "system", "services", "application", "once"]},
        "boot": {"enum": ["auto", "manual", "manual_only"]}, "uart": {"type": "boolean"}, "udev": {"type": "boolean"},
        "services": {"type": "array", "items": {"type": "string", "pattern": "^(mqtt|mysql):(provide|want|need)$"}},
        "ingress": {"type": "boolean"}, "ingress_port": {"type": "integer", "minimum": 0, "maximum": 65535},
        "panel_icon": {"type": "string", "pattern": "^mdi:[a-z0-9-]+$"}, "panel_title": TEXT,
        "map": {"type": "array", "items": {"type": "string", "pattern": "^[a-z_]+(:(ro|rw))?$"}},
        "options": {"type": "object"}, "schema": {"type": "object"},
    },
}
OPTION = re.compile(r"(str|bool|int|float|email|url|password|port|list\(.+\)|match\(.+\)|device)(\(.*\))?\??")


class AppTests(unittest.TestCase):
    def test_the_description_is_valid(self) -> None:
        config = yaml.safe_load((FOLDER / "uwb" / "config.yaml").read_text())
        jsonschema.validate(config, SCHEMA)
        self.assertEqual(config["version"], uwb.__version__)
        self.assertEqual(set(config["options"]), set(config["schema"]))
        for entry in config["schema"].values():
            self.assertRegex(entry[0] if isinstance(entry, list) else entry, OPTION)
        words = yaml.safe_load((FOLDER / "uwb" / "translations" / "en.yaml").read_text())
        self.assertEqual(set(words["configuration"]), set(config["schema"]))
        jsonschema.validate(yaml.safe_load((FOLDER / "repository.yaml").read_text()), {
            "required": ["name"], "additionalProperties": False,
            "properties": {"name": TEXT, "url": TEXT, "maintainer": TEXT}})

    def test_each_option_is_used(self) -> None:
        script = (FOLDER / "uwb" / "run.sh").read_text()
        config = yaml.safe_load((FOLDER / "uwb" / "config.yaml").read_text())
        for option in config["options"]:
            self.assertIn(f"bashio::config {option}", script)

    def test_the_map_is_for_the_proxy_only(self) -> None:
        config = yaml.safe_load((FOLDER / "uwb" / "config.yaml").read_text())
        script = (FOLDER / "uwb" / "run.sh").read_text()
        self.assertTrue(config["ingress"])
        # The address of the Supervisor's proxy, by the developers' pages.
        self.assertIn(f"--web 0.0.0.0:{config['ingress_port']} --web-proxy 172.30.32.2", script)
        self.assertNotIn("ports", config)


if __name__ == "__main__":
    unittest.main()
