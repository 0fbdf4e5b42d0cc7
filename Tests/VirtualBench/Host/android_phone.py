# SPDX-License-Identifier: Apache-2.0
#
# android_phone.py --self-test
# android_phone.py tcp:HOST:PORT|unix:PATH [--uwb COMMAND | --faults COUNT]
#
# An Android phone as the initiator of the out-of-band ranging protocol (versions 1 to 3), written
# from public facts about the protocol and not from this package's accessory: AOSP's
# packages/modules/Uwb (ranging: its tests, the state of Android 16 and later, oob_packets.pdl), and
# the Find Hub Network Accessory Specification. Checks each message octet by octet, and prints a
# line for each check, as the stages of the bench do. phone.py uses it over Bluetooth LE; over a
# socket, each message follows its length in two bytes, little-endian.
#
# COMMAND is run as the phone's UWB chip for each session, with the path of a session profile as its
# last argument: `uwbctl range --device /tmp/chip-b -n 50 --profile`.
#
# COUNT is the number of visits with each fault: a phone that ends without a word, repeats itself,
# stops in the middle of a message, or sends garbage.
import asyncio
import hashlib
import hmac
import json
import os
import random
import shlex
import struct
import sys
import tempfile
import time

UWB = 1 << 0
REQUEST, RESPONSE, CONFIGURE, CONFIGURED, STOP, STOPPED, MOTION = 0, 1, 2, 3, 6, 7, 8
INITIATOR, RESPONDER = 1, 2
# A phone gives up when the answer to its request takes longer, or when the link is lost for longer.
ANSWER_LIMIT, LINK_LIMIT = 4, 5
# For a busy or emulated machine; the times are printed.
PATIENCE = 300
# By config id of this protocol: STS_CONFIG, MULTI_NODE_MODE, slots of a round, and the intervals
# in milliseconds, the fastest first.
CONFIGURATIONS = {
    1: (0, 0, 6, (120, 240, 600)), 2: (0, 1, 20, (120, 200, 600)),
    3: (3, 0, 6, (120, 240, 600)), 4: (3, 1, 20, (120, 200, 600)),
    5: (4, 1, 20, (120, 200, 600)), 6: (3, 0, 6, (96, 240, 600)),
}

failed = 0


def check(name, holds, more=""):
    global failed
    failed += not holds
    more = str(more)
    print(f"{'ok   ' if holds else 'FAIL '} {name}" + (f" ({more})" if more else ""), flush=True)
    return holds


class Refused(Exception):
    """A message that a phone does not accept."""


def bits(value):
    return {bit for bit in range(32) if value >> bit & 1}


def mask(*numbers):
    return sum(1 << number for number in numbers)


# Messages.

def header(data, kind, newest):
    """Returns the version."""
    if len(data) < 2:
        raise Refused("shorter than a header")
    if data[1] != kind:
        raise Refused(f"message 0x{data[1]:02X} in place of 0x{kind:02X}")
    if not 1 <= data[0] <= newest:
        raise Refused(f"version {data[0]}")
    return data[0]


def request(version, technologies=UWB):
    return struct.pack("<BBH", version, REQUEST, technologies)


def blocks(data, technologies):
    """Returns the block of each technology, without its two octets in front, and the rest."""
    found = {}
    for _ in bits(technologies):
        if len(data) < 2:
            raise Refused("a block is missing")
        technology, size = data[0], data[1]
        if size < 2 or size > len(data):
            raise Refused(f"a block of {size} octets where {len(data)} are left")
        if technology in found:
            raise Refused(f"two blocks of technology {technology}")
        found[technology], data = data[2:size], data[size:]
    if set(found) != bits(technologies):
        raise Refused("the blocks are of other technologies than the set")
    return found, data


class Capabilities:
    """The UWB block of a response: 18 octets after its own two in front."""

    FORM = struct.Struct("<2sIIIHBB")

    def __init__(self, address, channels, preambles, ids, interval, slot, roles):
        self.address, self.interval, self.slot, self.roles = address, interval, slot, roles
        self.channels, self.preambles, self.ids = set(channels), set(preambles), set(ids)

    @classmethod
    def decode(cls, block):
        if len(block) != cls.FORM.size:
            raise Refused(f"capabilities of {len(block) + 2} octets, not 20")
        address, channels, preambles, ids, interval, slot, roles = cls.FORM.unpack(block)
        return cls(address, bits(channels), {bit + 1 for bit in bits(preambles)}, bits(ids),
                   interval, slot, roles)

    def encode(self):
        return bytes((0, 20)) + self.FORM.pack(
            self.address, mask(*self.channels), mask(*(index - 1 for index in self.preambles)),
            mask(*self.ids), self.interval, self.slot, self.roles)


def response(data, version, requested=UWB):
    """Returns the peer's version, its capabilities, and (transitioning, device type) or None."""
    agreed = header(data, RESPONSE, version)
    if len(data) < 4:
        raise Refused("no technologies")
    technologies, = struct.unpack_from("<H", data, 2)
    if technologies & ~requested:
        raise Refused(f"technologies 0x{technologies:04X}, which were not requested")
    found, rest = blocks(data[4:], technologies)
    kind = None
    if agreed >= 2:
        if len(rest) != 3:
            raise Refused(f"{len(rest)} octets after the blocks, not 3")
        kind = struct.unpack("<BH", rest)
        if kind[0] > 1:
            raise Refused(f"transitioning {kind[0]}")
    elif rest:
        raise Refused(f"{len(rest)} octets after the blocks of version 1")
    return agreed, Capabilities.decode(found[0]) if 0 in found else None, kind


class Configuration:
    """The UWB block of a configuration, with the phone's address."""

    def __init__(self, address, session, identifier, channel, preamble, interval, slot, key,
                 country=b"US", role=INITIATOR, mode=1):
        self.address, self.session, self.identifier = address, session, identifier
        self.channel, self.preamble, self.interval = channel, preamble, interval
        self.slot, self.key, self.country = slot, key, country
        self.role, self.mode = role, mode

    def block(self):
        data = struct.pack("<2sIBBBHBB", self.address, self.session, self.identifier, self.channel,
                           self.preamble, self.interval, self.slot, len(self.key))
        data += self.key + self.country + bytes((self.role, self.mode))
        return bytes((0, len(data) + 2)) + data

    def message(self, peer, own=3):
        """A phone of version 3 sends the form of version 1 to each peer that did not answer 3
        exactly; a phone before sends its only form with the peer's version."""
        version = peer if own < 3 or peer == 3 else 1
        motion = b"\x01" if version == 3 else b""
        return struct.pack("<BBHH", version, CONFIGURE, UWB, UWB) + self.block() + motion

    def profile(self, peer):
        """The phone's own session, as a profile of uwbctl with the octets of each parameter."""
        sts, multicast, slots, _ = CONFIGURATIONS[self.identifier]
        # The role in the message is the receiver's; the controller initiates.
        end = 0 if self.role == INITIATOR else 1
        parameters = {
            0x00: bytes((end,)), 0x01: b"\x02", 0x02: bytes((sts,)), 0x03: bytes((multicast,)),
            0x04: bytes((self.channel,)), 0x05: b"\x01", 0x06: self.address, 0x07: peer,
            0x08: struct.pack("<H", self.slot * 1200), 0x09: struct.pack("<I", self.interval),
            0x0B: b"\x00", 0x0C: b"\x03", 0x0D: b"\x01", 0x11: bytes((end,)), 0x12: b"\x03",
            0x13: b"\x01", 0x14: bytes((self.preamble,)), 0x15: b"\x02", 0x16: b"\x00",
            0x17: b"\x01", 0x1A: b"\x01", 0x1B: bytes((slots,)),
            0x1F: bytes((self.preamble >= 25,)), 0x22: b"\x01", 0x23: bytes((sts == 3,)),
            0x24: b"\x00", 0x25: b"\x32", 0x26: b"\x00", 0x29: b"\x01", 0x2A: b"\x00\x00",
            0x2C: b"\x01", 0x2D: b"\x00", 0x2E: b"\x01", 0x2F: b"\x03", 0x35: b"\x01",
        }
        if self.preamble < 25:
            parameters[0x31] = b"\x00"
        if sts == 0:
            parameters |= {0x27: self.key[:2], 0x28: self.key[2:]}
        else:
            parameters[0x45] = self.key
        return json.dumps({
            "session_id": self.session,
            "parameters": {f"0x{number:02X}": "hex:" + value.hex(":")
                           for number, value in parameters.items()}})


def confirmation(data, kind, version, technologies=UWB):
    """Checks the response to a configuration or to a stop."""
    header(data, kind, version)
    if data[2:] != struct.pack("<H", technologies):
        raise Refused(f"0x{kind:02X} with {data[2:].hex()}, not {technologies:04x}")


def stop(version, technologies=UWB):
    return struct.pack("<BBH", version, STOP, technologies)


def select(peer, *, secure, role, own_ids=(1, 3, 6), own_preambles=range(9, 13), own_interval=96,
           own_slot=1, allowed=(96, 5000), mode=1):
    """Returns the configuration that a phone selects, or refuses the peer."""
    if not peer.roles & role:
        raise Refused(f"the peer does not offer the role {role}")
    common = peer.ids & set(own_ids)
    identifier = next((number for number in ((6, 3) if secure else (1,)) if number in common), None)
    if identifier is None:
        raise Refused(f"no common configuration: {sorted(peer.ids)}")
    channel = next((number for number in (9, 5) if number in peer.channels), None)
    if channel is None:
        raise Refused(f"no common channel: {sorted(peer.channels)}")
    preambles = peer.preambles & set(own_preambles)
    hprf = {index for index in preambles if index >= 25}
    if not preambles:
        raise Refused(f"no common preamble: {sorted(peer.preambles)}")
    interval = next((time for time in CONFIGURATIONS[identifier][3]
                     if time >= max(peer.interval, own_interval)
                     and allowed[0] <= time <= allowed[1]), None)
    if interval is None:
        raise Refused(f"no interval of {peer.interval} ms or more")
    return Configuration(
        random.randbytes(2), random.getrandbits(32), identifier, channel,
        random.choice(sorted(hprf or preambles)), interval, max(peer.slot, own_slot),
        random.randbytes(16 if secure else 8), role=role, mode=mode)


def frame(key, nonce, kind, message, is_response=False):
    """Find Hub's frame around a message, authenticated by the account key."""
    body = bytes((kind, 8 + len(message)))
    signed = b"\x01" + nonce + body + message + (b"\x01" if is_response else b"")
    return body + hmac.new(key, signed, hashlib.sha256).digest()[:8] + message


# The dialogue.

class Phone:
    """A phone of a version; the peer's role is 1 (initiator) or 2 (responder). `channel` sends a
    message, and receives one within a time."""

    def __init__(self, channel, version, role=INITIATOR, secure=False, uwb=None):
        self.channel, self.version, self.role, self.secure = channel, version, role, secure
        self.uwb = uwb
        self.name = (f"Android, version {version}, the accessory as "
                     f"{'initiator' if role == INITIATOR else 'responder'}, "
                     f"{'secure' if secure else 'basic'}")

    async def ask(self):
        """Requests the capabilities. Returns whether a phone would go on."""
        start = time.monotonic()
        await self.channel.send(request(self.version))
        try:
            data = await self.channel.receive(self.channel.limit)
        except (TimeoutError, asyncio.TimeoutError):
            return check(f"{self.name}: capabilities", False, f"none in {self.channel.limit} s")
        took = time.monotonic() - start
        try:
            self.peer_version, self.peer, kind = response(data, self.version)
            if self.peer is None:
                raise Refused("no UWB")
            if self.peer.address == b"\xFF\xFF":
                raise Refused("the address FF FF")
        except Refused as error:
            return check(f"{self.name}: capabilities", False, f"{error}: {data.hex(' ')}")
        return check(f"{self.name}: capabilities", True,
                     f"{took * 1000:.0f} ms; version {self.peer_version}, {len(data)} octets, "
                     f"ids {sorted(self.peer.ids)}, {self.peer.interval} ms, {kind}")

    async def configure(self):
        try:
            self.own = select(self.peer, secure=self.secure, role=self.role)
        except Refused as error:
            return check(f"{self.name}: a configuration", False, error)
        await self.channel.send(self.own.message(self.peer_version, self.version))
        return True

    async def confirmed(self, technologies=UWB):
        """Awaits the response to the configuration, which a phone does not need."""
        data = await self.next(MOTION)
        try:
            confirmation(data, CONFIGURED, self.version, technologies)
        except Refused as error:
            return check(f"{self.name}: 0x02 and 0x03", False, error)
        return check(f"{self.name}: 0x02 and 0x03", True, f"id {self.own.identifier}, "
                     f"{self.own.interval} ms, preamble {self.own.preamble}")

    async def next(self, *others):
        """Returns the next message that is not one of these."""
        while True:
            data = await self.channel.receive(PATIENCE)
            if len(data) < 2 or data[1] not in others:
                return data

    async def ranges(self):
        """Ranges with the phone's own chip, if there is one."""
        if not self.uwb:
            return
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(self.own.profile(self.peer.address))
            file.flush()
            process = await asyncio.create_subprocess_exec(
                *self.uwb, file.name, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE)
            out, complaints = await asyncio.wait_for(process.communicate(), PATIENCE)
        lines = out.decode().strip().splitlines()
        check(f"{self.name}: the phone's chip ranges", process.returncode == 0,
              lines[-1] if process.returncode == 0 and lines else complaints.decode()[-400:])

    async def stop(self):
        # A stop has the peer's version.
        await self.channel.send(stop(self.peer_version))
        data = await self.next(MOTION)
        # The phone's chip, if it is the controller, may have ended the session of both.
        ended = self.uwb and self.role == RESPONDER and data[2:] == bytes(2)
        try:
            confirmation(data, STOPPED, self.version, 0 if ended else UWB)
            check(f"{self.name}: 0x06 and 0x07", True)
        except Refused as error:
            check(f"{self.name}: 0x06 and 0x07", False, error)

    async def whole(self):
        if await self.ask() and await self.configure() and await self.confirmed():
            await self.ranges()
            await self.stop()


async def dialogues(connect, kinds, uwb=None):
    """A visit for each kind: the version, the role of the accessory, and whether it is secure.
    `connect` returns a channel."""
    for version, role, secure in kinds:
        channel = await connect()
        await Phone(channel, version, role, secure, uwb).whole()
        await channel.close()
    await faults(connect)


async def faults(connect):
    """Phones that ask twice, configure again while they range, or are wrong."""
    channel = await connect()
    phone = Phone(channel, 3)
    phone.name = "a phone that asks three times"
    addresses = set()
    for _ in range(3):
        if not await phone.ask():
            break
        addresses.add(phone.peer.address)
    check("… finds one address in its visit", len(addresses) == 1)
    phone.name = "a phone that configures again while it ranges"
    for _ in range(2):
        if await phone.configure():
            await phone.confirmed()
    await phone.stop()
    # The session of another id, channel, key length: refused as a whole, and nothing starts.
    for name, change in (("channel", {"channel": 7}), ("role", {"role": 3}),
                         ("key", {"key": bytes(9)}), ("config id", {"identifier": 7})):
        wrong = select(phone.peer, secure=False, role=INITIATOR)
        vars(wrong).update(change)
        await channel.send(wrong.message(phone.peer_version))
        data = await phone.next(MOTION)
        try:
            confirmation(data, CONFIGURED, 3, technologies=0)
            check(f"another {name} is refused", True)
        except Refused as error:
            check(f"another {name} is refused", False, error)
    phone.name = "a phone, after its refused configurations"
    await phone.whole()
    await channel.close()


class SocketChannel:
    limit = ANSWER_LIMIT

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, message):
        self.writer.write(struct.pack("<H", len(message)) + message)
        await self.writer.drain()

    async def receive(self, limit):
        async def message():
            length, = struct.unpack("<H", await self.reader.readexactly(2))
            return await self.reader.readexactly(length)
        return await asyncio.wait_for(message(), limit)

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


def connector(address):
    async def connect():
        kind, _, place = address.partition(":")
        if kind == "unix":
            return SocketChannel(*await asyncio.open_unix_connection(place))
        host, _, port = place.rpartition(":")
        return SocketChannel(*await asyncio.open_connection(host or "127.0.0.1", int(port)))
    return connect


async def over_sockets(address, uwb):
    await dialogues(connector(address), [(version, role, secure) for version in (1, 2, 3)
                              for role in (INITIATOR, RESPONDER) for secure in (False, True)], uwb)


async def repeated_faults(address, count):
    """Visits with each fault, and a visit without one at their end."""
    dice = random.Random(7)
    answered = {}

    async def begin(channel):
        phone = Phone(channel, dice.randrange(1, 4))
        data = None
        for _ in range(2):
            await channel.send(request(phone.version))
            data = await channel.receive(PATIENCE)
        agreed, peer, _ = response(data, phone.version)
        own = select(peer, secure=dice.random() < 0.5, role=INITIATOR)
        return own.message(agreed, phone.version)

    async def silent(channel):
        await channel.send(await begin(channel))
        return await channel.receive(PATIENCE)

    async def repeating(channel):
        message = await begin(channel)
        for _ in range(3):
            await channel.send(message)
            data = await channel.receive(PATIENCE)
        await channel.send(stop(1))
        return await channel.receive(PATIENCE) and data

    async def cut(channel):
        message = await begin(channel)
        channel.writer.write(struct.pack("<H", len(message)) + message[:dice.randrange(len(message))])
        await channel.writer.drain()

    async def garbage(channel):
        for _ in range(10):
            await channel.send(dice.randbytes(dice.randrange(1, 300)))
        await channel.send(request(3))
        while True:
            data = await channel.receive(PATIENCE)
            if data[1:2] == bytes((RESPONSE,)):
                return data

    connect = connector(address)
    for name, fault in (("ends without a word", silent), ("repeats itself", repeating),
                        ("stops in the middle of a message", cut), ("sends garbage", garbage)):
        for _ in range(count):
            channel = await connect()
            data = await fault(channel)
            kind = "no answer" if data is None else data[1:3].hex()
            answered[kind] = answered.get(kind, 0) + 1
            await channel.close()
        check(f"a phone that {name}, {count} times", True, answered)
        answered = {}
    # Sessions of phones that ended without a word end when nothing is measured.
    for attempt in range(100):
        channel = await connect()
        await channel.send(await begin(channel))
        data = await channel.receive(PATIENCE)
        await channel.send(stop(1))
        await channel.receive(PATIENCE)
        await channel.close()
        if data[2]:
            break
        await asyncio.sleep(0.5)
    check("… and the next phone ranges", bool(data[2]), f"attempt {attempt + 1}")


class BluetoothChannel:
    """A visit of a phone of phone.py. A write has one message, and so has a notification."""

    limit = PATIENCE

    def __init__(self, phone, write, notify):
        self.phone, self.write, self.notify = phone, write, notify

    async def open(self):
        self.messages = asyncio.Queue()
        await self.phone.peer.subscribe(
            self.phone.characteristic(self.notify), self.messages.put_nowait)
        return self

    async def send(self, message):
        await self.phone.characteristic(self.write).write_value(message, with_response=True)

    async def receive(self, limit):
        return bytes(await asyncio.wait_for(self.messages.get(), limit))

    async def close(self):
        await self.phone.leave()


async def over_bluetooth(phone, service, write, notify):
    """All dialogues of a phone that finds the accessory by its service."""
    address = await phone.find(service)
    check("an Android phone finds the accessory by its service", True)

    async def connect():
        await phone.connect(address)
        return await BluetoothChannel(phone, write, notify).open()

    await dialogues(connect, [(1, INITIATOR, False), (2, RESPONDER, True), (3, INITIATOR, True),
                              (3, RESPONDER, False)])
    lost = Phone(await connect(), 3)
    lost.name = "an Android phone whose link is lost while it ranges"
    if await lost.ask() and await lost.configure():
        await lost.confirmed()
    await phone.vanish()
    start = time.monotonic()
    back = Phone(await connect(), 3)
    back.name = "… and which is back"
    check(back.name, True, f"after {time.monotonic() - start:.1f} s; a phone waits {LINK_LIMIT} s")
    await back.whole()
    await phone.leave()


# The vectors.

def refuses(call, *arguments):
    try:
        call(*arguments)
    except Refused:
        return True
    return False


def self_test():
    # AOSP's unit tests of its messages, with values that are odd on purpose.
    check("a request", request(1) == bytes.fromhex("01000100")
          and request(1, 3) == bytes.fromhex("01000300"))
    odd = bytes.fromhex("0101010000140809200200000100008080800000E8031403")
    version, peer, kind = response(odd, 3)
    check("a response of version 1", (version, kind) == (1, None)
          and peer.address == b"\x08\x09" and peer.channels == {5, 9}
          and peer.preambles == {1, 32} and peer.ids == {7, 15}
          and (peer.interval, peer.slot, peer.roles) == (1000, 20, 3))
    check("… is encoded as it was", bytes.fromhex("01010100") + peer.encode() == odd)
    configuration = Configuration(b"\x02\x04", 672, 12, 3, 4, 500, 15, bytes(range(1, 9)))
    check("a configuration", configuration.message(1) == bytes.fromhex(
        "010201000100001B0204A00200000C0304F4010F08010203040506070855530101"))
    check("a stop", stop(1) == bytes.fromhex("01060100")
          and stop(1, 3) == bytes.fromhex("01060300"))
    for wrong in ("0A", "01", "01010100" + "0714" + "00" * 18, "0101010000140001",
                  "01010100" + "0001", "01010100" + "0015" + "00" * 18, odd.hex() + "000300",
                  "0201" + odd.hex()[4:], "04" + odd.hex()[2:]):
        check(f"{wrong[:12]}… is refused", refuses(response, bytes.fromhex(wrong), 3))

    # A plausible session.
    block = "0014A1B200020000000F00004A0000006000" "0103"
    version, peer, kind = response(bytes.fromhex("03010100" + block + "000300"), 3)
    check("a response of version 3", version == 3 and kind == (0, 3) and peer.channels == {9}
          and peer.preambles == {9, 10, 11, 12} and peer.ids == {1, 3, 6}
          and (peer.interval, peer.slot, peer.roles) == (96, 1, 3))
    check("… and as version 1", response(bytes.fromhex("01010100" + block), 3)[0] == 1)
    check("version 3 is too new for a phone of version 1",
          refuses(response, bytes.fromhex("03010100" + block + "000300"), 1))
    own = Configuration(b"\xC3\xD4", 0x12345678, 6, 9, 11, 96, 1, bytes(range(0x10, 0x20)))
    expected = bytes.fromhex("010201000100" "0023C3D4785634120609" "0B60000110") + own.key
    check("its configuration", own.message(1) == expected + b"US\x01\x01"
          and own.message(2) == own.message(1))
    check("… from a phone of version 2", own.message(2, 2) == b"\x02" + own.message(1)[1:])
    check("… and as version 3", own.message(3) == b"\x03" + own.message(1)[1:] + b"\x01")
    check("the sizes", [len(Configuration(b"AB", 1, 1, 9, 9, 96, 1, bytes(size)).message(version))
                        for version in (1, 3) for size in (8, 16, 32)] == [33, 41, 57, 34, 42, 58])
    confirmation(bytes.fromhex("01030100"), CONFIGURED, 3)
    check("a refusal is not a confirmation",
          refuses(confirmation, bytes.fromhex("01030000"), CONFIGURED, 3))
    # The UWB parameters of the box, which is the controller, apart from the two ends.
    ends = {0x00: b"\x00", 0x11: b"\x00", 0x06: b"\xC3\xD4", 0x07: b"\xA1\xB2"}
    expected = dict(item.split("=") for item in (
        "01=02 02=03 03=00 04=09 05=01 08=b004 09=60000000 0C=03 12=03 14=0B 15=02 1B=06 1F=00 "
        "22=01 23=01 24=00 2C=01 2E=01 35=01 45=101112131415161718191a1b1c1d1e1f").split())
    expected = {int(number, 16): bytes.fromhex(value) for number, value in expected.items()}
    profile = json.loads(own.profile(peer.address))
    parameters = {int(number, 16): bytes.fromhex(value[4:].replace(":", ""))
                  for number, value in profile["parameters"].items()}
    check("the phone's own session", profile["session_id"] == 0x12345678
          and (expected | ends).items() <= parameters.items())

    # Find Hub's frame.
    account, nonce = bytes([4, *range(1, 16)]), bytes.fromhex("0011223344556677")
    check("Find Hub's request", frame(account, nonce, 0x0A, request(1)) == bytes.fromhex(
        "0A0C3AA7371678 32D0DF01000100"))
    check("Find Hub's response", frame(
        account, nonce, 0x0A, bytes.fromhex("01010100" + block), True) == bytes.fromhex(
            "0A202A8AFFD2A49BFE7B01010100" + block))

    # The selection.
    for secure, allowed, wanted in ((False, (96, 5000), (1, 120)), (True, (96, 5000), (6, 96)),
                                    (True, (100, 5000), (6, 240)), (False, (500, 700), (1, 600))):
        picked = select(peer, secure=secure, role=INITIATOR, allowed=allowed)
        check(f"{'secure' if secure else 'basic'}, {allowed[0]}…{allowed[1]} ms: "
              f"id {wanted[0]}, {wanted[1]} ms", (picked.identifier, picked.interval) == wanted
              and picked.preamble in range(9, 13) and len(picked.key) == (16 if secure else 8))
    peer.ids = {1, 3}
    check("without id 6: id 3", select(peer, secure=True, role=RESPONDER).identifier == 3)
    peer.slot, peer.channels = 2, {5}
    picked = select(peer, secure=False, role=RESPONDER)
    check("the larger slot, channel 5", (picked.slot, picked.channel) == (2, 5))
    peer.preambles |= set(range(25, 33))
    check("HPRF first", select(peer, secure=False, role=INITIATOR,
                               own_preambles=range(9, 33)).preamble >= 25)
    for name, value in (("ids", {2, 4, 5}), ("channels", {8}), ("preambles", {1}),
                        ("interval", 601), ("roles", 2)):
        before = getattr(peer, name)
        setattr(peer, name, value)
        check(f"{name} {value}: no session", refuses(
            lambda: select(peer, secure=False, role=INITIATOR)))
        setattr(peer, name, before)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 4 and sys.argv[2] == "--faults":
        asyncio.run(repeated_faults(sys.argv[1], int(sys.argv[3])))
    elif len(sys.argv) == 2 or len(sys.argv) == 4 and sys.argv[2] == "--uwb":
        asyncio.run(over_sockets(
            sys.argv[1], shlex.split(sys.argv[3]) if len(sys.argv) == 4 else None))
    else:
        sys.exit("usage: android_phone.py --self-test | tcp:HOST:PORT "
                 "[--uwb COMMAND | --faults COUNT]")
    sys.exit(1 if failed else 0)
