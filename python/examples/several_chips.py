#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges with several chips at once, with asyncio.

    several_chips.py /dev/ttyACM0=door.json /dev/ttyACM1=gate.json
"""

import argparse
import asyncio

import uwb
import uwb.aio

#: Seconds without a distance after which a line is printed.
SILENCE = 5


async def range_with(service: uwb.aio.Client, chip: str, profile: str, count: int | None) -> None:
    async with await service.start(profile, chip=chip) as session, session.measurements() as stream:
        found = 0
        while found != count:
            try:
                # A step that is cancelled by a time-out loses nothing.
                event = await asyncio.wait_for(anext(stream), SILENCE)
            except asyncio.TimeoutError:
                print(f"{chip}: nothing for {SILENCE} s")
                continue
            if isinstance(event, uwb.Interruption):
                print(f"{chip}: interrupted: {event.reason}")
            elif event.distance is not None:
                print(f"{chip}: {event.peer} {event.distance:.3f} m")
                found += 1


async def main() -> None:
    parser = argparse.ArgumentParser(description="Range with several chips at once.")
    parser.add_argument("sessions", nargs="+", metavar="CHIP=PROFILE")
    parser.add_argument("-n", "--count", type=int, help="end after this many distances of each chip")
    options = parser.parse_args()
    async with uwb.aio.connect(timeout=10) as service:
        print("chips:", ", ".join(chip.chip for chip in await service.chips()))
        pairs = [session.split("=", 1) for session in options.sessions]
        await asyncio.gather(
            *(range_with(service, chip, profile, options.count) for chip, profile in pairs)
        )


asyncio.run(main())
