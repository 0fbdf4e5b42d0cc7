# SPDX-License-Identifier: Apache-2.0
"""The programs of the bridges without their extras; tests/bridges has the tests with them."""

from __future__ import annotations

import contextlib
import io
import sys
import unittest
from unittest.mock import patch

import uwb.bridges


class MissingExtraTests(unittest.TestCase):
    def test_a_program_names_the_extra_that_it_needs(self) -> None:
        for run, package, extra in (
            (uwb.bridges.run_mqtt, "paho", "swift-uwb[mqtt]"),
            (uwb.bridges.run_mcap, "rosbags", "swift-uwb[mcap]"),
            (uwb.bridges.run_metrics, "prometheus_client", "swift-uwb[metrics]"),
        ):
            sys.modules.pop(f"uwb.bridges.{extra[10:-1]}", None)
            output = io.StringIO()
            with patch.dict(sys.modules, {package: None}), contextlib.redirect_stderr(output):
                self.assertEqual(run(), 69)
            self.assertIn(extra, output.getvalue())

    def test_the_program_for_clusters_needs_no_library(self) -> None:
        sys.modules.pop("uwb.bridges.nats", None)
        output = io.StringIO()
        with patch.dict(sys.modules, {"nats": None, "nkeys": None}), patch.object(sys, "argv", ["uwb-nats"]):
            with contextlib.redirect_stderr(output), self.assertRaises(SystemExit) as end:
                uwb.bridges.run_nats()
        # It has read its options, and lacks one.
        self.assertEqual(end.exception.code, 2)
        self.assertIn("--site", output.getvalue())


if __name__ == "__main__":
    unittest.main()
