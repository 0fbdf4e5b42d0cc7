#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges with several peers in one session, and prints the newest distance of each.

The profile names the peers: "MULTI_NODE_MODE": "one to many", NUMBER_OF_CONTROLEES and their
addresses in DST_MAC_ADDRESS.

    uwbctl profile --preset fira-static --one-to-many > session.json
    one_to_many.py session.json
"""

import argparse

import uwb

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("profile", help="a file of uwbctl profile --one-to-many")
parser.add_argument("--chip", help="the chip, if there are several")
parser.add_argument("-n", "--count", type=int, help="end after this many rounds")
options = parser.parse_args()

newest: dict[str, float] = {}
with uwb.connect() as service, service.start(options.profile, chip=options.chip) as session:
    sequence = None
    # A slow terminal delays nothing: the service keeps the newest measurement of each peer.
    for event in session.measurements(keep="newest"):
        if isinstance(event, uwb.Interruption):
            newest.clear()
            continue
        if event.sequence != sequence and newest:
            print("  ".join(f"{peer} {distance:.2f} m" for peer, distance in sorted(newest.items())))
            if options.count is not None:
                options.count -= 1
                if options.count <= 0:
                    break
        sequence = event.sequence
        if event.distance is not None:
            newest[event.peer] = event.distance
