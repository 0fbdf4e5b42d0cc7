#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Publishes the measurements of all sessions, as JSON in UDP datagrams.

    publish.py 239.1.2.3 5000

It starts no session, so it needs no more than the right to connect. For MQTT, replace `send`.
"""

import argparse
import json
import socket

import uwb

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("host", help="a name or an address, also a multicast one")
parser.add_argument("port", type=int)
parser.add_argument("-n", "--count", type=int, help="end after this many datagrams")
options = parser.parse_args()

target = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_DGRAM)[0]
output = socket.socket(target[0], socket.SOCK_DGRAM)


def send(message: dict[str, object]) -> None:
    output.sendto(json.dumps(message).encode(), target[4])


with uwb.connect() as service:
    # A network that is slow does not delay the measurements of the others.
    for number, event in enumerate(service.measurements(keep="newest"), 1):
        if isinstance(event, uwb.Interruption):
            send({"interruption": event.cause, "reason": event.reason})
        else:
            send(event.to_json())
        if number == options.count:
            break
