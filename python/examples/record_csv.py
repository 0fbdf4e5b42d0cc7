#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the measurements of all sessions for some seconds, as CSV.

    record_csv.py --seconds 30 walk.csv

A program with pandas writes all fields: service.record(seconds=30).to_pandas().to_csv("walk.csv")
"""

import argparse
import csv

import uwb

COLUMNS = ["time", "session_id", "peer", "distance_cm", "estimate_m", "estimate_sd_m", "after_interruption"]

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("file", help="the file to write")
parser.add_argument("--seconds", type=float, help="end after this time")
parser.add_argument("-n", "--count", type=int, help="end after this many measurements")
options = parser.parse_args()
if options.seconds is None and options.count is None:
    parser.error("Name the end: --seconds 30, or --count 100.")

with uwb.connect() as service:
    found = service.record(seconds=options.seconds, count=options.count)
with open(options.file, "w", encoding="utf-8", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    for m in found:
        # An unknown value is an empty field.
        rows.writerow([m.time.isoformat()] + [getattr(m, name) for name in COLUMNS[1:]])
print(f"{len(found)} measurements in {options.file}")
