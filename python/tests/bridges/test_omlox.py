# SPDX-License-Identifier: Apache-2.0
"""uwb-omlox with mosquitto, and with a hub of this test that checks each object."""

from __future__ import annotations

import json
import math
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jsonschema
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from uwb.bridges._input import Place, parse
from uwb.bridges.omlox import lasting, location, zone_of
from brokers import Broker, Subscriber, free_port, mutated, place, wait

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
POINT = {"type": "object", "required": ["type", "coordinates"], "properties": {
    "type": {"const": "Point"}, "coordinates": {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 3}}}
UUID = {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
#: The members of version 2, as specifications/openapi/omlox-hub.v0.yaml of Open-Location-Stack has them. An unknown
#: member would be a mistake.
LOCATION = {
    "type": "object", "required": ["position", "source", "provider_type", "provider_id"],
    "additionalProperties": False, "properties": {
        "position": POINT, "source": TEXT, "provider_type": TEXT, "provider_id": TEXT,
        "trackables": {"type": "array", "items": UUID}, "timestamp_generated": TIME, "timestamp_sent": TIME,
        "crs": {"type": "string", "pattern": r"^(local|EPSG:\d+)$"}, "associated": {"type": "boolean"},
        "accuracy": {"type": "number", "minimum": 0}, "floor": NUMBER, "true_heading": NUMBER,
        "magnetic_heading": NUMBER, "heading_accuracy": NUMBER, "elevation_ref": {"enum": ["floor", "wgs84"]},
        "speed": NUMBER, "course": NUMBER, "properties": {"type": "object"}}}
OBJECTS: dict[str, dict[str, Any]] = {
    "providers": {"required": ["id", "type"], "properties": {"id": TEXT, "type": TEXT, "name": TEXT}},
    "trackables": {"required": ["type"], "properties": {
        "id": UUID, "type": {"enum": ["omlox", "virtual"]}, "name": TEXT,
        "location_providers": {"type": "array", "items": TEXT}}},
    "zones": {"required": ["type", "ground_control_points"], "properties": {
        "id": UUID, "type": TEXT, "name": TEXT, "ground_control_points": {"type": "array", "items": {
            "type": "object", "required": ["wgs84", "local"], "properties": {"wgs84": POINT, "local": POINT}}}}}}
TOKEN = "correct horse"
HOSTILE = "a/b+#\0<img>ä"


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _object(self) -> tuple[str, str] | None:
        """Returns the collection and the identifier of a request with the token."""
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401)
            return None
        parts = self.path.split("/")
        return parts[2], urllib.parse.unquote(parts[3]) if len(parts) > 3 else ""

    def do_GET(self) -> None:
        if self.path == "/v2/ws/socket":
            self._socket()
        elif found := self._object():
            self._answer(200 if found in self.server.objects else 404)

    def do_POST(self) -> None:
        if found := self._object():
            members = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            jsonschema.validate(members, {"additionalProperties": False, **OBJECTS[found[0]]})
            self.server.objects[found[0], members["id"]] = members
            self._answer(201)

    def _socket(self) -> None:
        """Receives messages by the protocol of `websockets`."""
        self.close_connection = True
        self.server.sockets.append(self.connection)
        protocol = ServerProtocol()
        head = "".join(f"{key}: {value}\r\n" for key, value in self.headers.items())
        data = f"{self.requestline}\r\n{head}\r\n".encode()
        while data:
            protocol.receive_data(data)
            for event in protocol.events_received():
                if isinstance(event, Request):
                    protocol.send_response(protocol.accept(event))
                elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                    if answer := self.server.receive(json.loads(bytes(event.data))):
                        protocol.send_text(json.dumps(answer).encode())
            try:
                for part in protocol.data_to_send():
                    self.wfile.write(part)
                data = self.connection.recv(1 << 16)
            except OSError:
                return


class Hub(ThreadingHTTPServer):
    """A hub at a port. It keeps objects and the places that it has received."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.objects: dict[tuple[str, str], Any] = {}
        self.locations: list[dict[str, Any]] = []
        self.sockets: list[socket.socket] = []
        self.problems: list[str] = []
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def receive(self, message: Any) -> Any:
        if message.get("params") != {"token": TOKEN}:
            return {"event": "error", "code": 10004, "description": "not authorized"}
        for entry in message["payload"]:
            try:
                jsonschema.validate(entry, LOCATION)
            except jsonschema.ValidationError as error:
                self.problems.append(str(error))
            if ("providers", entry["provider_id"]) not in self.objects:
                self.problems.append("a provider is not registered")
        if (message["event"], message["topic"]) != ("message", "location_updates"):
            self.problems.append(message["event"])
        self.locations += message["payload"]
        return None

    def kill(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in self.sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class OmloxTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o777)
        self.token = self.folder / "token"
        self.token.write_text(TOKEN + "\n")
        self.site = self.folder / "site.json"
        self.site.write_text(json.dumps({"name": "Home", "gauge": {"origin_wgs84": {
            "latitude_deg": 48.0, "longitude_deg": 11.0, "height_m": 500, "heading_deg": 90}}}))

    def program(self, *arguments: object) -> "subprocess.Popen[bytes]":
        program = subprocess.Popen([sys.executable, "-m", "uwb.bridges.omlox", *map(str, arguments), "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def close() -> None:
            program.kill()
            for file in program.stdin, program.stdout, program.stderr:
                assert file is not None
                file.close()
            program.wait()
        self.addCleanup(close)
        return program

    def send(self, program: "subprocess.Popen[bytes]", *lines: dict[str, Any]) -> None:
        assert program.stdin is not None
        program.stdin.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in lines))
        program.stdin.flush()

    def hub(self, port: int = 0) -> Hub:
        hub = Hub(port or free_port())
        self.addCleanup(hub.kill)
        return hub

    def test_a_hub_that_is_killed(self) -> None:
        hub = self.hub()
        port = hub.server_address[1]
        program = self.program(
            "--hub", f"http://127.0.0.1:{port}", "--token-file", self.token, "--site", self.site, "--floor", "attic=2")
        self.send(program, {**place("cat", 1), "floor": "attic"}, place(HOSTILE, 2))
        self.assertTrue(wait(lambda: len(hub.locations) == 2))
        self.assertEqual(hub.problems, [])
        first = {entry["properties"]["tag"]: entry for entry in hub.locations}
        self.assertEqual((first["cat"]["floor"], first["cat"]["accuracy"], first["cat"]["position"]["coordinates"]),
                         (2.0, 0.03, [1, 0, 1]))
        self.assertEqual(first["cat"]["source"], lasting("zone", "Home"))
        kinds = sorted(kind for kind, _ in hub.objects)
        self.assertEqual(kinds, ["providers", "providers", "trackables", "trackables", "zones"])
        hub.kill()
        self.send(program, place("cat", 3))
        again, began = self.hub(port), time.monotonic()
        newest = {"cat": 3, HOSTILE: 2}
        self.assertTrue(wait(lambda: {entry["properties"]["tag"]: entry["position"]["coordinates"][0]
                                      for entry in again.locations} == newest))
        print(f"omlox: resent {time.monotonic() - began:.1f} s after the return of the hub", flush=True)
        self.assertEqual({entry["provider_id"]: entry["trackables"] for entry in again.locations},
                         {entry["provider_id"]: entry["trackables"] for entry in first.values()})
        self.assertEqual((again.problems, set(again.objects)), ([], set(hub.objects)))
        assert program.stdin is not None
        program.stdin.close()
        self.assertEqual(program.wait(10), 0)

    def test_a_wrong_token_is_in_the_log(self) -> None:
        hub = self.hub()
        self.token.write_text("guess")
        program = self.program("--hub", f"http://127.0.0.1:{hub.server_address[1]}", "--token-file", self.token,
                               "--zone", "hall")
        self.send(program, place("cat", 1))
        assert program.stderr is not None
        line = program.stderr.readline()
        self.assertIn(b"401", line)
        self.assertNotIn(b"guess", line)

    def test_a_broker_that_is_killed(self) -> None:
        broker = Broker(self.folder)
        self.addCleanup(broker.close)
        subscriber = Subscriber(broker.port)
        self.addCleanup(subscriber.close)
        program = self.program("--broker", f"mqtt://127.0.0.1:{broker.port}", "--zone", "hall")
        self.send(program, place("cat", 1), place(HOSTILE, 2))
        self.assertTrue(wait(lambda: len(subscriber.newest) == 2))
        topic = "/omlox/json/location_updates/pub/cat"
        for text in subscriber.newest.values():
            jsonschema.validate(json.loads(text), LOCATION)
        self.assertEqual({part.count("/") for part in subscriber.newest}, {5})
        subscriber.newest.clear()
        broker.kill()
        broker.start()
        self.assertTrue(wait(lambda: len(subscriber.newest) == 2))
        self.assertEqual(subscriber.state(topic)["provider_id"], "cat")

    def test_each_location_has_its_form(self) -> None:
        unknown = (math.nan,) * 6
        values = [
            Place("1", 5, (1, 2, 3), unknown), Place("2", 1.8e9, (1, 2, 3), (0.04, 0, 0, 0.01, 0, 1), floor="2"),
            Place("3", 0, (1, 2, 3), unknown, (3, 4, 0), 0.5, "inf"), Place("\0", -5, (1e9, 0, 0), (1, 9, 0, 1, 0, -1))]
        made = [location(value, "hall", {}, 1.7e9) for value in values]
        for entry in made:
            jsonschema.validate(entry, LOCATION)
            json.dumps(entry, allow_nan=False)
        self.assertEqual([entry.get("floor") for entry in made], [None, 2, None, None])
        self.assertEqual([entry.get("speed") for entry in made], [None, None, 5, None])
        self.assertEqual([entry["timestamp_generated"][:4] for entry in made], ["2023", "2027", "2023", "2023"])
        self.assertAlmostEqual(made[1]["accuracy"], 2.4477 * 0.2, 4)

    def test_mutated_lines_do_no_harm(self) -> None:
        rng, made = random.Random(5), 0
        lines = [json.dumps({**place("cat", 1, 1.8e9), "floor": "1"}).encode()]
        for _ in range(2_000):
            value = parse(mutated(rng, lines))
            if isinstance(value, Place):
                made += 1
                entry = location(value, "hall", {"1": "2"}, 1.7e9)
                jsonschema.validate(json.loads(json.dumps(entry, allow_nan=False)), LOCATION)
                self.assertRegex(entry["provider_id"], r"\A[A-Za-z0-9_-]{1,60}\Z")
        self.assertGreater(made, 200)

    def test_the_zone_of_a_site(self) -> None:
        # x points east, and y points north: 100 m are 100 / 111,190 degrees of the meridian at 48°.
        points = {tuple(entry["local"]["coordinates"]): entry["wgs84"]["coordinates"]
                  for entry in zone_of(str(self.site))["ground_control_points"]}
        self.assertAlmostEqual(points[0, 100][1] - 48, 100 / 111_190.4, 7)
        self.assertAlmostEqual(points[100, 0][0] - 11, 100 / 74_625, 6)
        self.assertEqual((round(points[0, 100][0] - 11, 9), round(points[100, 0][1] - 48, 9)), (0, 0))
        self.site.write_text("{}")
        with self.assertRaises(ValueError):
            zone_of(str(self.site))


if __name__ == "__main__":
    unittest.main()
