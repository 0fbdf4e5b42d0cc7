# SPDX-License-Identifier: Apache-2.0
"""uwb-metrics with promtool, InfluxDB and VictoriaMetrics."""

from __future__ import annotations

import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

import uwb
from uwb.bridges.metrics import MOST_VALUES, Metrics, influx, line
from brokers import change, free_port, place, wait

START = datetime.now(timezone.utc).replace(microsecond=123_456) - timedelta(minutes=10)
HOSTILE = 'a,b =c"d\\e\n<img>+#/ä\\'


def measured(index: int, **more: Any) -> dict[str, Any]:
    """Returns a line as the service sends it."""
    values: dict[str, Any] = {
        "chip": "hall", "session_id": 42, "time": START + timedelta(milliseconds=100 * index),
        "monotonic_ns": 100_000_000 * index, "peer": "0x0001", "status": "ok", "estimate_m": 3 + index / 1_000,
        "estimate_sd_m": 0.31, "lost_before": 0}
    return uwb.Measurement(**{**values, **more}).to_json()


def get(url: str, data: bytes | None = None) -> tuple[str, str]:
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=10) as answer:
        return answer.read().decode(), answer.headers.get("Content-Type", "")


def answers(url: str) -> bool:
    try:
        get(url)
    except OSError:
        return False
    return True


class Server:
    """InfluxDB or VictoriaMetrics with an empty folder."""

    def __init__(self, folder: pathlib.Path, kind: str) -> None:
        self.port = free_port()
        self.url, self.kind = f"http://127.0.0.1:{self.port}", kind
        if kind == "influxd":
            config = folder / "influx.conf"
            config.write_text(
                f'reporting-disabled = true\nbind-address = "127.0.0.1:{free_port()}"\n'
                f'[meta]\ndir = "{folder}/meta"\n[data]\ndir = "{folder}/data"\nwal-dir = "{folder}/wal"\n'
                f'[http]\nbind-address = "127.0.0.1:{self.port}"\n')
            self._command = ["influxd", "-config", str(config)]
        else:
            self._command = [shutil.which("victoria-metrics") or "victoria-metrics", f"-storageDataPath={folder}/vm",
                             f"-httpListenAddr=127.0.0.1:{self.port}"]
        self._log = open(folder / f"{kind}.log", "ab")
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=subprocess.STDOUT)
        path = "/ping" if self.kind == "influxd" else "/health"
        assert wait(lambda: answers(self.url + path), 30), f"{self.kind} does not start"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        self._log.close()

    def query(self, text: str) -> Any:
        path = "/query?db=uwb&epoch=ns&q=" if self.kind == "influxd" else "/api/v1/export?match[]="
        answer = get(self.url + path + urllib.parse.quote(text))[0]
        return json.loads(answer) if self.kind == "influxd" else [json.loads(row) for row in answer.splitlines()]


class ProgramTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, *arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "uwb.bridges.metrics", *map(str, arguments), "-"]
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def close() -> None:
            program.kill()
            program.communicate()
        self.addCleanup(close)
        return program

    def send(self, program: "subprocess.Popen[bytes]", *lines: dict[str, Any]) -> None:
        assert program.stdin is not None
        program.stdin.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in lines))
        program.stdin.flush()

    def test_promtool_accepts_the_metrics(self) -> None:
        port = free_port()
        program = self.program("--listen", f"127.0.0.1:{port}", "--textfile", self.folder / "uwb.prom")
        self.send(program, *(measured(index, lost_before=index % 2) for index in range(20)))
        self.send(program, measured(21, peer=HOSTILE, chip=HOSTILE, status="rx_timeout"))
        self.send(program, place("cat", 1), change("cat", "entered", HOSTILE))
        url = f"http://127.0.0.1:{port}/metrics"
        self.assertTrue(wait(lambda: answers(url) and "uwb_zone_tags{" in get(url)[0]))
        text, kind = get(url)
        # Prometheus 3 refuses other types.
        self.assertTrue(kind.startswith("text/plain; version="), kind)
        found = {sample.name + json.dumps(sample.labels, sort_keys=True): sample.value
                 for family in text_string_to_metric_families(text) for sample in family.samples}
        rounds = json.dumps({"chip": "hall", "peer": "0x0001", "session": "42", "status": "ok"}, sort_keys=True)
        self.assertEqual(found["uwb_rounds_total" + rounds], 20)
        self.assertEqual(found['uwb_lost_total{"where": "air"}'], 10)
        self.assertEqual(found['uwb_interval_seconds_count{"chip": "hall"}'], 19)
        self.assertEqual(found["uwb_zone_tags" + json.dumps({"zone": HOSTILE})], 1)
        self.check(text)
        program.communicate()
        self.assertEqual(program.returncode, 0)
        self.check((self.folder / "uwb.prom").read_text())

    def check(self, text: str) -> None:
        result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""), text)

    def test_databases_have_each_value(self) -> None:
        for kind in "influxd", "victoria-metrics":
            with self.subTest(kind=kind):
                server = Server(self.folder, kind)
                self.addCleanup(server.close)
                if kind == "influxd":
                    get(f"{server.url}/query", b"q=CREATE+DATABASE+uwb")
                program = self.program("--influx", server.url)
                lines = [measured(index) for index in range(2_500)]
                self.send(program, *lines[:1_500])
                self.assertTrue(wait(lambda: self.count(server) >= 1_000))
                if kind == "influxd":
                    # VictoriaMetrics keeps confirmed values in its memory for some seconds.
                    server.kill()
                self.send(program, *lines[1_500:], measured(2_600, peer=HOSTILE, estimate_sd_m=None), place("cat", 1.5))
                if kind == "influxd":
                    server.start()
                _, errors = program.communicate()
                self.assertEqual(program.returncode, 0)
                self.assertNotIn(b"refuses", errors)
                self.assertTrue(wait(lambda: self.count(server) == 2_501), errors.decode())
                first = self.first(server)
                self.assertEqual(first, (round(START.timestamp() * 1e6) // 1_000, 3.0))

    def count(self, server: Server) -> int:
        if server.kind == "influxd":
            found = server.query('SELECT count("distance") FROM "uwb_range"')
            return int(found["results"][0]["series"][0]["values"][0][1]) if "series" in found["results"][0] else 0
        get(f"{server.url}/internal/force_flush")
        return sum(len(row["values"]) for row in server.query("uwb_range_distance"))

    def first(self, server: Server) -> tuple[int, float]:
        """Returns the first value of the peer, with its time in milliseconds."""
        if server.kind == "influxd":
            found = server.query("""SELECT distance FROM uwb_range WHERE peer='0x0001' LIMIT 1""")
            moment, value = found["results"][0]["series"][0]["values"][0]
            return moment // 1_000_000, value
        rows = server.query('uwb_range_distance{peer="0x0001"}')
        return min((moment, value) for row in rows for moment, value in zip(row["timestamps"], row["values"]))

    def test_a_password_stays_out_of_the_command_line(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "uwb.bridges.metrics", "--influx", "http://a:hunter2@localhost"],
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("hunter2", result.stderr)


class ValueTests(unittest.TestCase):
    def test_unknown_values_are_left_out(self) -> None:
        found = line("uwb", {"b": "x y", "a": ""}, {"n": math.nan, "i": 1, "f": 0.5, "t": 'a"\\', "o": None}, 7)
        self.assertEqual(found, 'uwb,a=none,b=x\\ y i=1i,f=0.5,t="a\\"\\\\" 7')
        self.assertIsNone(line("uwb", {}, {"n": math.inf}, 7))

    def test_times_of_recordings_are_not_used(self) -> None:
        from uwb.bridges._input import parse
        live, recorded = (parse(json.dumps(place("cat", 1, moment)).encode()) for moment in (1.75e9, 12.5))
        self.assertTrue(str(influx(live, 9)).endswith(" 1750000000000000000"))
        self.assertTrue(str(influx(recorded, 9)).endswith(" 9"))

    def test_rotating_addresses_are_one_series(self) -> None:
        metrics = Metrics()
        for index in range(MOST_VALUES + 100):
            metrics.receive(uwb.Measurement.from_json(measured(index, peer=f"0x{index:04x}")))
        samples = [s for family in metrics.rounds.collect() for s in family.samples if s.name.endswith("_total")]
        self.assertEqual(len(samples), MOST_VALUES + 1)
        self.assertEqual(sum(sample.value for sample in samples if sample.labels["peer"] == "other"), 100)


if __name__ == "__main__":
    unittest.main()
