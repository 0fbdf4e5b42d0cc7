# SPDX-License-Identifier: Apache-2.0
"""Faults in messages."""
import contextlib
import json
import random
import time

from board import LIMIT, check, wait_until
from uwb import Protocol

INTERFACE = "org.swift-uwb.Chips."


def pieces(bench, count):
    """calls that come octet by octet, and many in one piece"""
    calls = [("org.varlink.service.GetInfo", {}), ("List", {}), ("Start", {"profile_text": bench.profile}),
             ("Describe", {}), ("Monitor", {}), ("Stop", {"session_id": 42})]
    text = b"".join(Protocol().call(method, **parameters) for method, parameters in calls)
    for size in (1, 2, 7, 65536):
        with bench.connect() as connection:
            for start in range(0, len(text), size):
                connection.sendall(text[start:start + size])
            for method, _ in calls:
                reply = connection.receive()
                check(reply and not reply.error, f"{method} in pieces of {size}: {reply}")
    return f"{len(calls)} calls in pieces of 1, 2, 7 and 65536 octets"


def seeds(bench):
    """Returns calls to be changed: quick calls, and calls that occupy the chip."""
    quick = [
        {"method": "org.varlink.service.GetInfo"},
        {"method": "org.varlink.service.GetInterfaceDescription",
         "parameters": {"interface": INTERFACE[:-1]}},
        {"method": INTERFACE + "List", "parameters": {}},
        {"method": INTERFACE + "Describe", "parameters": {"chip": bench.link}},
        {"method": INTERFACE + "Stop", "parameters": {"chip": None, "session_id": 42}},
        {"method": INTERFACE + "Start", "parameters": {"profile": {}, "linger_ms": -1}},
        {"method": INTERFACE + "Monitor", "parameters": {"session_id": 7, "keep": "newest"}},
        {"method": INTERFACE + "Borrow", "parameters": {"reason": ""}},
    ]
    slow = [
        {"method": INTERFACE + "Start", "parameters": {"profile_text": bench.profile, "share": "user"}},
        {"method": INTERFACE + "Monitor", "parameters": {"queue": 3}, "more": True},
        {"method": INTERFACE + "Attach", "parameters": {}, "upgrade": True},
        {"method": INTERFACE + "Borrow", "parameters": {"reason": "faults"}},
    ]
    return [[json.dumps(call).encode() for call in calls] for calls in (quick, slow)]


PARTS = [b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u", b"\\ud800", b"null", b"true", b"-0",
         b"1e999", b"-1e999", b"9223372036854775808", b"-9223372036854775809", b"0.1e-400", b"\xff",
         b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b" ", b"\t", b"\n", b"{" * 40, b"[" * 40,
         b'"parameters":{}', b'"method":', b'"more":true', b'"oneway":true', b'"upgrade":true']


def changed(choice, data):
    data = bytearray(data)
    for _ in range(choice.choice((1, 1, 1, 2, 3, 8))):
        place = choice.randrange(len(data) + 1)
        way = choice.randrange(6)
        if way == 0 and data:
            data[place % len(data)] = choice.randrange(1, 256)
        elif way == 1:
            data[place:place] = choice.choice(PARTS)
        elif way == 2:
            del data[place:place + choice.randrange(1, 12)]
        elif way == 3:
            data[place:place + 4] = choice.choice(PARTS)
        elif way == 4:
            other = choice.randrange(len(data) + 1)
            data[place:place] = data[min(place, other):max(place, other)][:200]
        else:
            data[place:place] = choice.randbytes(choice.randrange(1, 9)).replace(b"\0", b"x")
    return bytes(data)


def objects(bench, count):
    """random and changed objects"""
    choice = random.Random(7)
    quick, slow = seeds(bench)
    total = 5_000 * count
    begin, sent, connections = time.monotonic(), 0, 0
    warm = None
    while sent < total:
        with contextlib.suppress(ConnectionError, TimeoutError), bench.connect() as connection:
            connections += 1
            connection.settimeout(0.5)
            while sent < total:
                batch = b""
                for _ in range(20):
                    one = choice.random()
                    if one < 0.1:
                        data = choice.randbytes(choice.randrange(1, 60)).replace(b"\0", b"x")
                    else:
                        data = changed(choice, choice.choice(slow if one > 0.999 else quick))
                    batch += data + b"\0"
                    sent += 1
                connection.sendall(batch)
                if not connection.recv(65536):
                    break
        if warm is None and sent > total / 2:
            warm = bench.memory()
    seconds = time.monotonic() - begin
    wait_until(lambda: not bench.sessions(), "a session stays", 2 * LIMIT)
    grown = bench.memory() - warm
    check(grown < 2048, f"the second half took {grown} KiB")
    return (f"{total} objects on {connections} connections, {total / seconds:.0f} a second; "
            f"the second half took {grown} KiB")


def odd(bench, count):
    """depth, invalid UTF-8, keys twice, odd numbers"""
    name = json.dumps(INTERFACE + "Monitor").encode()
    deep = 100_000
    refused = [
        b"[" * deep, b'{"method":' * deep, b'{"a":' * 9_000, b"[" * 60_000,
        b'{"method":"\xff\xfe"}', b'{"method":"\xed\xa0\x80"}', b'{"method":"\\ud800"}',
        b'{"method":' + name + b',"method":' + name + b"}",
        b'{"method":' + name + b',"parameters":{"queue":1e999}}',
        b'{"method":' + name + b',"parameters":{"queue":01}}', b"{}", b"null", b"",
        b'{"method":1}', b'{"method":' + name + b',"more":1}',
    ]
    # The service answers on a connection that stays open.
    answered = [
        (b'{"queue":9223372036854775808}', "InvalidParameter"),
        (b'{"queue":-9223372036854775809}', "InvalidParameter"), (b'{"queue":-0}', "InvalidParameter"),
        (b'{"queue":1e3}', None), (b'{"queue":0.5}', "InvalidParameter"),
        (b'{"session_id":4294967296}', "InvalidParameter"), (b'{"session_id":-1}', "InvalidParameter"),
        (b'{"keep":"none"}', "InvalidParameter"), (b'{"qeue":1}', "InvalidParameter"),
    ]
    for data in refused:
        with bench.connect() as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data + b"\0")
            reply = connection.receive()
            check(reply and (reply.error or "").endswith("InvalidMessage"), f"{data[:60]}: {reply}")
            check(connection.receive() is None, f"{data[:60]} leaves the connection")
    for parameters, error in answered:
        with bench.connect() as connection:
            connection.sendall(
                b'{"method":' + name + b',"oneway":false,"parameters":' + parameters + b"}\0")
            if error is None:
                continue
            reply = connection.receive()
            check(reply and (reply.error or "").endswith(error), f"{parameters}: {reply}")
            check(not connection.call("List").error, "the connection is of no use any more")
    return f"{len(refused)} refused, {len(answered)} answered"


def long(bench, count):
    """a string that never ends (1 GB with 200)"""
    size = 5_000_000 * count
    before = bench.memory()
    sent = 0
    with bench.connect() as connection:
        piece = b"x" * 1_000_000
        connection.sendall(b'{"method":"')
        with contextlib.suppress(ConnectionError):
            while sent < size:
                sent += connection.send(piece)
    with bench.connect() as connection:
        connection.ask("Attach")
    grown = bench.memory() - before
    check(grown < 2048, f"it took {grown} KiB")
    return f"cut off after {sent} of {size} octets; memory {grown:+d} KiB"
