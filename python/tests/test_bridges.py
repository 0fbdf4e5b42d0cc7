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


if __name__ == "__main__":
    unittest.main()
