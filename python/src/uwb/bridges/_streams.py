# SPDX-License-Identifier: Apache-2.0
"""The streams of a site in JetStream: makes them, and finds their problems."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

from ._nats import Client, NatsError

HOUR = 3_600
#: The kinds of messages, with the age of the oldest one that is kept, seconds.
AGES = {"range": HOUR, "place": 7 * 24 * HOUR, "event": 365 * 24 * HOUR, "host": 24 * HOUR, "lease": 3,
        "state": 24 * HOUR}
#: The kinds of which only the last message of a subject is kept, with the bytes of their streams.
NEWEST = {"host": 1 << 24, "lease": 1 << 24, "state": 1 << 28}
#: The time in which a repeated message is recognised, seconds.
WINDOW = 120
#: Seconds after which a host is silent, and messages that a consumer may be late.
SILENT, LATE = 20, 10_000
#: The largest error of a host's clock that joins measurements of hosts, microseconds.
WRONG_US = 100_000


def stream(site: str, kind: str) -> str:
    """Returns the name of the stream of a kind."""
    return f"uwb-{site}-{kind}"


def wanted(site: str, kind: str, replicas: int, size: int) -> dict[str, Any]:
    """Returns the configuration of a stream."""
    found: dict[str, Any] = {
        "name": stream(site, kind), "subjects": [f"uwb.{site}.*.{kind}.*"], "storage": "file",
        "retention": "limits", "discard": "old", "num_replicas": replicas, "max_age": AGES[kind] * 10**9,
        "max_bytes": size, "duplicate_window": min(WINDOW, AGES[kind]) * 10**9}
    if kind in NEWEST:
        found.update(max_msgs_per_subject=1, max_bytes=min(size, NEWEST[kind]))
    return found


async def call(client: Client, name: str, members: object = None, timeout: float = 5) -> dict[str, Any]:
    """Calls the API of JetStream, and returns its reply; `NatsError` if there is none."""
    payload = b"" if members is None else json.dumps(members).encode()
    reply = await client.request(f"$JS.API.{name}", payload, timeout)
    if reply.status == 503:
        raise NatsError("JetStream is off, or its cluster has no leader: add jetstream {} to the configuration of "
                        "each server, and start most of them.")
    try:
        found = json.loads(reply.data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NatsError(f"The answer to {name} cannot be read.")
    return found


async def make(client: Client, site: str, replicas: int, size: int, texts: list[str]) -> None:
    """Makes the streams of a site, or changes their limits; `texts` gets one for each."""
    for kind in AGES:
        name, want = stream(site, kind), wanted(site, kind, replicas, size)
        info = await call(client, f"STREAM.INFO.{name}")
        if "error" in info:
            step, done = "CREATE", "made"
            config = want
        else:
            step, done = "UPDATE", "changed"
            config = {**info["config"], **want}
            if config == info["config"]:
                texts.append(f"{name}: as it was")
                continue
        reply = await call(client, f"STREAM.{step}.{name}", config)
        if "error" in reply:
            raise NatsError(f"{name} cannot be {done}: {explained(reply['error'])}")
        texts.append(f"{name}: {done}")


def explained(error: dict[str, Any]) -> str:
    """Returns an error of JetStream with its next step."""
    text, code = str(error.get("description", "unknown error")), error.get("err_code")
    if code == 10074 or code == 10005:
        return (f"{text}. Use --replicas 1 for one server, start all servers of the cluster, or use a smaller "
                "--stream-size.")
    if code in (10023, 10028, 10047):
        return f"{text}. Use a smaller --stream-size, or raise max_file_store of the servers."
    return f"{text}."


async def find_problems(client: Client, site: str, replicas: int, texts: list[str], found: list[str]) -> None:
    """Adds the problems of a site, each with its next step; `texts` gets the rest."""
    account = await call(client, "INFO")
    if "error" in account:
        raise NatsError(f"JetStream: {explained(account['error'])}")
    now = time.time()
    for kind in AGES:
        name = stream(site, kind)
        info = await call(client, f"STREAM.INFO.{name}")
        if "error" in info:
            found.append(f"{name}: {info['error'].get('description', 'unknown error')}. Make it: uwb-nats "
                         f"--site {site} --make-streams.")
            continue
        state = info.get("state") or {}
        texts.append(f"{name}: {state.get('messages', 0)} messages, {state.get('bytes', 0)} bytes, "
                     f"{info['config'].get('num_replicas', 1)} replicas")
        found += _stream_problems(name, info, wanted(site, kind, replicas, info["config"].get("max_bytes", -1)), now)
        consumers = await call(client, f"CONSUMER.LIST.{name}", {"offset": 0})
        found += _consumer_problems(name, consumers, texts)
    found += await _host_problems(client, site, texts, now)


def _stream_problems(name: str, info: dict[str, Any], want: dict[str, Any], now: float) -> Iterator[str]:
    config, state, cluster = info["config"], info.get("state") or {}, info.get("cluster") or {}
    again = f"Change it: uwb-nats --make-streams --replicas {want['num_replicas']}."
    for key in ("subjects", "num_replicas", "max_age", "discard", "duplicate_window"):
        if config.get(key) != want[key]:
            yield f"{name}: {key} is {config.get(key)}, not {want[key]}. {again}"
    if cluster and not cluster.get("leader"):
        yield f"{name}: there is no leader, so that nothing is stored. Start most of the servers."
    for replica in cluster.get("replicas") or []:
        # Since its last message, nanoseconds.
        age = replica.get("active", 0) / 1e9
        if replica.get("offline") or not replica.get("current") and age > 5:
            yield f"{name}: {replica.get('name')} is away. Start it, or look at its log."
        elif not replica.get("current"):
            yield (f"{name}: {replica.get('name')} is {replica.get('lag', 0)} messages late. Wait, and restart no "
                   "other server; if it stays, look at its disk.")
    most, used = config.get("max_bytes", -1), state.get("bytes", 0)
    if most > 0 and used > 0.9 * most:
        yield f"{name}: it is full, and drops messages before their age. Raise --stream-size with --make-streams."


def _consumer_problems(name: str, reply: dict[str, Any], texts: list[str]) -> Iterator[str]:
    for consumer in reply.get("consumers") or []:
        pending, taken = consumer.get("num_pending", 0), consumer.get("num_ack_pending", 0)
        texts.append(f"{name}: consumer {consumer.get('name')} has {pending} messages to read, {taken} in work")
        if pending > LATE:
            yield f"{name}: consumer {consumer.get('name')} is {pending} messages late. Start it, or remove it."


async def _host_problems(client: Client, site: str, texts: list[str], now: float) -> list[str]:
    """Returns the problems of clocks and stores, from the last report of each host."""
    found: list[str] = []
    name = stream(site, "host")
    subjects = await _subjects(client, name)
    held = {subject.split(".")[2] for subject in await _subjects(client, stream(site, "lease"))}
    for area in sorted({subject.split(".")[2] for subject in subjects if ".host.engine_" in subject} - held):
        found.append(f"area {area}: no engine computes its places. Start uwb-nats-engine, or look at its log.")
    for subject in subjects:
        reply = await call(client, f"STREAM.MSG.GET.{name}", {"last_by_subj": subject})
        try:
            report = json.loads(base64.b64decode(reply["message"]["data"]))
            found += host_problems(report, texts, now)
        except (KeyError, TypeError, ValueError):
            found.append(f"{subject}: the report of the host cannot be read. Update uwb-nats there.")
    return found


async def _subjects(client: Client, name: str) -> list[str]:
    info = await call(client, f"STREAM.INFO.{name}", {"subjects_filter": ">"})
    return sorted((info.get("state") or {}).get("subjects") or {})


def host_problems(report: dict[str, Any], texts: list[str], now: float) -> Iterator[str]:
    """Returns the problems in the report of a host."""
    host, error = f"host {report['host']}", report["utc_max_error_us"]
    quality = "not synchronised" if error is None else f"within {error / 1_000:.1f} ms"
    texts.append(f"{host}: clock {quality}, {report['waiting']} messages wait, {report['dropped']} dropped")
    age = now - report["utc_us"] / 1e6
    if age > SILENT:
        yield f"{host}: its last report is {age:.0f} s old. Start uwb-nats there, or look at its network and clock."
    if age < -1:
        yield f"{host}: its clock is {-age:.0f} s ahead of the clock here. Correct the one that is wrong."
    if error is None:
        yield f"{host}: its clock is not synchronised. Start chrony or systemd-timesyncd there."
    elif error > WRONG_US:
        yield f"{host}: its clock may be wrong by {error / 1_000:.0f} ms. Use chrony with a nearer server there."
    if host.startswith("host engine ") and report["waiting"] > LATE:
        yield f"{host}: it is {report['waiting']} measurements late. Give it a faster machine, or divide the area."
    for other, ahead in (report.get("wrong_clocks_s") or {}).items():
        yield (f"host {other}: its clock is {abs(ahead):.2f} s {'ahead of' if ahead > 0 else 'behind'} the servers', beyond "
               "the error that it reports. Correct the one that is wrong.")
    if report["size"] > 0.8 * report["most"]:
        yield f"{host}: its store is {100 * report['size'] / report['most']:.0f} % full. Bring its link back soon."
    if report["dropped"]:
        yield f"{host}: it has dropped {report['dropped']} messages. Raise --store-size there."
    if report["unsaved"]:
        yield f"{host}: its disk was full for {report['unsaved']} messages. Free it."
