#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges by a profile, and prints the distances.

    uwbctl profile --preset fira-static > session.json
    range.py session.json
"""

import argparse

import uwb

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("profile", help="a file of uwbctl profile")
parser.add_argument("--chip", help="the chip, if there are several")
parser.add_argument("-n", "--count", type=int, help="end after this many distances")
options = parser.parse_args()

with uwb.connect() as service, service.start(options.profile, chip=options.chip) as session:
    print(f"session {session.session_id} on {session.chip}")
    count = 0
    for event in session.measurements():
        if isinstance(event, uwb.Interruption):
            print(f"interrupted: {event.reason}")
        elif event.distance is None or event.sigma is None:
            print(f"{event.peer}  {event.status}")
        else:
            print(f"{event.peer}  {event.distance:6.2f} ± {event.sigma:.2f} m")
            count += 1
            if count == options.count:
                break
