#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the service with two libraries for varlink that others have written.

clients.py SOCKET PROFILE    see .ci/varlink
"""
import asyncio
import json
import re
import sys

import asyncvarlink
import varlink

PATH, PROFILE = sys.argv[1:]
INTERFACE = "org.swift-uwb.Chips"


def profile():
    """Profiles have comments and trailing commas, which messages have not."""
    text = re.sub(r"//.*", "", open(PROFILE).read())
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def check(holds, what):
    if not holds:
        sys.exit(f"varlink: {what}")


def with_varlink():
    with varlink.Client.new_with_address(f"unix:{PATH}") as client:
        with client.open(INTERFACE) as chips, client.open(INTERFACE) as listening:
            check(chips.Describe()["info"]["channels"] == [5, 9], "Describe differs")
            started = chips.Start(profile=profile(), share="everyone")
            check(started["joined"] is False, "the session was there")
            found = []
            for reply in listening.Monitor(session_id=started["session_id"], _more=True):
                found.append(reply)
                if len(found) == 5:
                    break
            check(all(m["measurement"]["peer"] == "0x0001" for m in found), "another peer")
            changed = profile()
            changed["parameters"]["SLOTS_PER_RR"] = 8
            with client.open(INTERFACE) as other:
                check(other.Start(profile=profile())["joined"] is True, "it was not joined")
                try:
                    other.Start(profile=changed)
                    check(False, "there is no conflict")
                except varlink.VarlinkError as error:
                    check(error.error() == f"{INTERFACE}.Conflict", error)
                    differences = error.parameters()["differences"]
                    check(differences[0]["parameter"] == "SLOTS_PER_RR", differences)
            chips.Stop(session_id=started["session_id"])
    print(f"varlink: description, calls, {len(found)} measurements, errors")


async def with_asyncvarlink():
    transport, protocol = await asyncvarlink.connect_unix_varlink(
        asyncvarlink.VarlinkClientProtocol, PATH
    )

    async def call(method):
        reply, _ = await protocol.call(asyncvarlink.VarlinkMethodCall(method, {}))
        return reply

    info = (await call("org.varlink.service.GetInfo")).parameters
    check(INTERFACE in info["interfaces"], info)
    chips = (await call(f"{INTERFACE}.List")).parameters["chips"]
    check(chips[0]["problem"] is None, chips)
    reply = await call(f"{INTERFACE}.Fly")
    check(reply.error == "org.varlink.service.MethodNotFound", reply)
    monitor = protocol.call_more(
        asyncvarlink.VarlinkMethodCall(f"{INTERFACE}.Monitor", {"session_id": 7}, more=True)
    )
    async for reply, _ in monitor:
        check(reply.error == f"{INTERFACE}.NoSession", reply)
    transport.close()
    print("asyncvarlink: information, calls, errors")


with_varlink()
asyncio.run(with_asyncvarlink())
