#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the service of a site with two libraries for varlink that others have written.

clients.py SOCKET    see .ci/site-service
"""
import asyncio
import sys

import asyncvarlink
import varlink

PATH, = sys.argv[1:]
INTERFACE = "org.swift-uwb.Site"


def check(holds, what):
    if not holds:
        sys.exit(f"varlink: {what}")


def with_varlink():
    with varlink.Client.new_with_address(f"unix:{PATH}") as client:
        with client.open(INTERFACE) as site, client.open(INTERFACE) as listening:
            info = site.GetInfo()
            check(info["protocol"] == 1, info)
            state = site.List()
            check([tag["tag"] for tag in state["tags"]] == ["T", "U"], state)
            places = 0
            for reply in listening.Watch(after=0, tags=["T"], _more=True):
                places += len(reply["places"])
                check(reply["run"] == info["run"], reply)
                if places >= 5:
                    break
            try:
                site.Watch(tags=["X"])
                check(False, "an unknown tag is accepted")
            except varlink.VarlinkError as error:
                check(error.error() == f"{INTERFACE}.NoTag", error)
    print(f"varlink: description, calls, {places} places, errors")


async def with_asyncvarlink():
    transport, protocol = await asyncvarlink.connect_unix_varlink(
        asyncvarlink.VarlinkClientProtocol, PATH
    )
    watch = protocol.call_more(
        asyncvarlink.VarlinkMethodCall(f"{INTERFACE}.Watch", {"every_ms": 50}, more=True)
    )
    count = 0
    async for reply, _ in watch:
        check(reply.error is None and reply.parameters["lost"] == 0, reply)
        count += 1
        if count == 5:
            break
    transport.close()
    print(f"asyncvarlink: {count} replies")


with_varlink()
asyncio.run(with_asyncvarlink())
