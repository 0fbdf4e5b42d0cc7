#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges for days: over restarts of the service, and boards that are unplugged.

    reconnect.py session.json

The stream itself goes on after an interruption. This program also waits for a service that was
away for longer, and starts a session again that has ended. Its log has the times.
"""

import argparse
import logging
import time

import uwb

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("profile", help="a file of uwbctl profile")
parser.add_argument("--chip", help="the chip, if there are several")
parser.add_argument("--interruptions", type=int, help="end with the measurement after this many")
options = parser.parse_args()
logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO)


def range_until_it_ends() -> bool:
    """Whether this was the last interruption that was asked for."""
    interruptions = 0
    with uwb.connect() as service, service.start(options.profile, chip=options.chip) as session:
        for event in session.measurements(reconnect=300):
            if isinstance(event, uwb.Interruption):
                interruptions += 1
                print(f"interrupted ({event.cause}): {event.reason}", flush=True)
            else:
                gap = "after the interruption: " if event.after_interruption else ""
                print(f"{gap}{event.peer} {event.status} {event.distance}", flush=True)
                if interruptions == options.interruptions:
                    return True
    return False


while True:
    try:
        if range_until_it_ends():
            break
    except (uwb.ConnectionLost, uwb.ServiceError, TimeoutError) as error:
        if isinstance(error, (uwb.Denied, uwb.InvalidProfile, uwb.Conflict)):
            # These do not pass by themselves.
            raise SystemExit(str(error))
        logging.warning("%s", error)
        time.sleep(5)
