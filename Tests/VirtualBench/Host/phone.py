# SPDX-License-Identifier: Apache-2.0
#
# phone.py SOCKET BLUEZ [VISITS [SERVICE WRITE NOTIFY]]: simulates a Bluetooth controller for the
# virtual machine at the socket, kits that its app finds, and phones that find the accessory in it,
# as iPhones do: with private addresses that change, an MTU of their own, and keys that they keep or
# forget; and at SOCKET0 to SOCKET3 four controllers that receive each other's packets. BLUEZ is the
# version of bluetoothd in the machine. With the UUIDs of the accessory's service for Android phones
# and of its two characteristics, an Android phone comes last (android_phone.py). Needs bumble
# 0.0.236 (PyPI). Prints a line for each check, as the stages do, and exits with 1 if one failed.
import asyncio
import contextlib
import dataclasses
import os
import secrets
import struct
import sys
import time

from bumble import att, controller, core, device, gatt, hci, host, keys, link, pairing
from bumble.transport import common, open_transport

import android_phone

UART, RX, TX = (core.UUID(f"6E40000{n}-B5A3-F393-E0A9-E50E24DCCA9E") for n in (1, 2, 3))
QNIS, QNIS_RX, QNIS_TX = (core.UUID(f"{n}-6A61-11ED-A1EB-0242AC120002")
                          for n in ("2E938FD0", "2E93998A", "2E939AF2"))
SECURE = core.UUID("2E93941C-6A61-11ED-A1EB-0242AC120002")
NEARBY = core.UUID("48FE3E40-0817-4BB2-8633-3073689C2DBA")
DATA = core.UUID("95E8D9D5-D8EF-4721-9A4E-807375F53328")
# Messages of the accessory protocol.
CONFIGURATION, STARTED, STOPPED = 0x01, 0x02, 0x03
INITIALIZE, CONFIGURE, STOP = 0x0A, 0x0B, 0x0C
# The time limit for a busy machine; nothing here is a measurement.
PATIENCE = 300

failed = 0


def check(name, holds, more=""):
    global failed
    failed += not holds
    more = str(more)
    print(f"{'ok   ' if holds else 'FAIL '} {name}" + (f" ({more})" if more else ""), flush=True)


class Link(link.LocalLink):
    """Names a sender by the address of its connection, also where that is its public one."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        receiver = self.find_le_controller(destination_address)
        own = sender_controller.le_connections.get(destination_address)
        if receiver is not None and own is not None:
            asyncio.get_running_loop().call_soon(
                lambda: receiver.on_link_acl_data(own.self_address, transport, data))


class Controller(controller.Controller):
    """Says when it is used, and when a connection that was cancelled is not made. What it hears in answer to
    a scan is the answer, not the advertisement once more."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.started = asyncio.Event()
        # The time of the last reception of each advertisement.
        self.heard = {}

    def on_hci_reset_command(self, command):
        self.started.set()
        return super().on_hci_reset_command(command)

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event):
            # The address type of legacy advertising; otherwise Linux does not combine the two.
            report = dataclasses.replace(packet.reports[0], event_type=0x13)
            if packet.reports[0].event_type & packet.EventType.SCAN_RESPONSE:
                sender = self.link.find_le_controller(report.address)
                answers = [advertising.scan_response_data for advertising in
                           (*sender.advertising_sets.values(), sender.le_legacy_advertiser)
                           if advertising.enabled and advertising.address == report.address]
                report.event_type, report.data = 0x1B, bytes(answers[0] if answers else b"")
            # A slow machine would only process advertisements if they came every 20 ms.
            key = (bytes(report.address), report.event_type, bytes(report.data))
            if time.monotonic() < self.heard.get(key, 0) + 0.2:
                return
            self.heard[key] = time.monotonic()
            packet = hci.HCI_LE_Extended_Advertising_Report_Event([report])
        super().send_hci_packet(packet)

    def on_hci_le_create_connection_cancel_command(self, _command):
        if (pending := self.pending_le_connection) is not None:
            self.pending_le_connection = None
            asyncio.get_running_loop().call_soon(lambda: self.send_hci_packet(
                hci.HCI_LE_Connection_Complete_Event(
                    status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
                    connection_handle=0, role=hci.Role.CENTRAL,
                    peer_address_type=pending.peer_address.address_type,
                    peer_address=pending.peer_address, connection_interval=0,
                    peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0)))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)


class Phone:
    def __init__(self, air, machine, name, mtu=185):
        self.machine, self.mtu = machine, mtu
        self.controller = Controller(name, link=air)
        self.device = device.Device(
            config=device.DeviceConfiguration(
                name=name, le_privacy_enabled=True, irk=secrets.token_bytes(16),
                identity_address_type=pairing.PairingConfig.AddressType.RANDOM,
                address=hci.Address.generate_static_address(), keystore=None),
            host=host.Host(self.controller, common.AsyncPipeSink(self.controller)))
        # BlueZ requests a larger MTU itself.
        self.device.gatt_server.max_mtu = max(mtu, 23)
        self.messages = asyncio.Queue()

    async def on(self):
        await self.device.power_on()
        self.device.keystore = keys.MemoryKeyStore()
        return self

    def forget(self):
        self.device.keystore = keys.MemoryKeyStore()

    async def find(self, service=UART):
        found = asyncio.get_running_loop().create_future()

        def heard(advertisement):
            services = advertisement.data.get(
                core.AdvertisingData.Type.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS) or []
            if service in services and not found.done():
                found.set_result(advertisement.address)

        self.device.on("advertisement", heard)
        await self.device.start_scanning(filter_duplicates=False)
        try:
            return await asyncio.wait_for(found, PATIENCE)
        finally:
            await self.device.stop_scanning()
            self.device.remove_listener("advertisement", heard)

    async def connect(self, address):
        """As far as knowing its services. bluetoothd 5.66 does not serve a connection that comes before
        it has noticed the end of the one before ("EATT channel limit reached"): apps try again, too."""
        for attempt in range(5):
            await self.reach(address)
            try:
                if await self.device.keystore.get_all():
                    await self.asked()
                    await self.connection.encrypt()
                return await asyncio.wait_for(self.learn(), PATIENCE)
            except (TimeoutError, asyncio.TimeoutError, core.TimeoutError):
                if attempt == 4:
                    raise
                await self.leave()

    async def reach(self, address):
        # A phone receives an advertisement first.
        await asyncio.sleep(1)
        self.device.random_address = hci.Address.generate_private_address(self.device.irk)
        await self.device.send_sync_command(
            hci.HCI_LE_Set_Random_Address_Command(random_address=self.device.random_address))
        loop = asyncio.get_running_loop()
        self.gone, self.security_request = loop.create_future(), loop.create_future()

        def connected(connection):
            connection.on(
                "disconnection", lambda why: self.gone.done() or self.gone.set_result(why))
            connection.on("security_request", lambda _: self.security_request.done()
                          or self.security_request.set_result(True))

        self.device.once("connection", connected)
        self.connection = await self.device.connect(address, timeout=PATIENCE)
        self.peer = device.Peer(self.connection)

    async def asked(self):
        """Until the machine, which has keys, asks for encryption. bluetoothd 5.66 reads the security of
        a connection that it accepts and then raises it, which the kernel refuses (EINVAL) if it has come
        in between; bluetoothd then answers no request on that connection."""
        await asyncio.wait_for(asyncio.shield(self.security_request), PATIENCE / 5)

    async def learn(self):
        if self.mtu > 23:
            await self.peer.request_mtu(self.mtu)
        await self.peer.discover_services()
        for service in self.peer.services:
            await service.discover_characteristics()

    def characteristic(self, uuid):
        return self.peer.get_characteristics_by_uuid(uuid)[0]

    async def listen(self):
        self.messages = asyncio.Queue()
        await self.peer.subscribe(self.characteristic(TX), self.messages.put_nowait)

    async def say(self, *message):
        await self.characteristic(RX).write_value(bytes(message), with_response=True)

    async def hears(self, kind):
        """The next message, or nothing if it is of another kind."""
        message = await asyncio.wait_for(self.messages.get(), PATIENCE)
        return message if message[0] == kind else b""

    async def read(self, uuid):
        """The value, or the number of the error."""
        try:
            return await self.characteristic(uuid).read_value()
        except att.ATT_Error as error:
            return error.error_code

    async def read_again(self, uuid):
        """Right after pairing BlueZ can fail once; phones read again."""
        value = await self.read(uuid)
        return value if isinstance(value, bytes) else await self.read(uuid)

    async def leave(self):
        if not self.gone.done():
            await self.connection.disconnect()
        await asyncio.wait_for(self.gone, PATIENCE)

    async def vanish(self):
        """Without a word: each end notices by itself."""
        for each in (self.controller, self.machine):
            for connection in list(each.le_connections.values()):
                if self.device.random_address in (connection.self_address, connection.peer_address):
                    each.on_le_disconnected(
                        connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
        await asyncio.wait_for(self.gone, PATIENCE)


class Kit:
    """An accessory as Qorvo's and NXP's firmware make them, for the app in the machine: it advertises once
    a second, and has no more than its data channel, QNIS with an encrypted value. What it is told goes to
    the accessory in the machine, by a phone, and back: that has a chip which ranges."""

    def __init__(self, air, name, service, rx, tx, flags):
        self.name, self.service = name, service
        self.controller = Controller(name, link=air)
        self.device = device.Device(
            config=device.DeviceConfiguration(
                name=name, address=hci.Address.generate_static_address(), keystore=None,
                identity_address_type=pairing.PairingConfig.AddressType.RANDOM),
            host=host.Host(self.controller, common.AsyncPipeSink(self.controller)))
        notify, read = gatt.Characteristic.NOTIFY, gatt.Characteristic.READ
        self.messages = asyncio.Queue()
        self.left, self.said = asyncio.Event(), []
        self.output = gatt.Characteristic(tx, notify, gatt.Characteristic.READABLE)
        self.output.on(self.output.EVENT_SUBSCRIPTION,
                       lambda _, notifies, __: notifies or self.left.set())
        characteristics = [
            gatt.Characteristic(
                rx, flags, gatt.Characteristic.WRITEABLE, gatt.CharacteristicValue(
                    write=lambda _, value: self.messages.put_nowait(bytes(value)))),
            self.output]
        if service == QNIS:
            characteristics.append(gatt.Characteristic(
                SECURE, read, gatt.Characteristic.READ_REQUIRES_ENCRYPTION, b"Qorvo\0"))
        self.device.add_service(gatt.Service(service, characteristics))

    async def serve(self, phone, address):
        await self.device.power_on()
        self.device.keystore = keys.MemoryKeyStore()
        await phone.connect(address)
        await phone.listen()
        gone = asyncio.get_running_loop().create_future()

        def connected(connection):
            self.connection = connection
            connection.on("disconnection", lambda why: gone.done() or gone.set_result(why))

        self.device.once("connection", connected)
        # The advertisement contains the name, because bumble's scan response is the same.
        await self.device.start_advertising(
            advertising_data=bytes(core.AdvertisingData([
                (core.AdvertisingData.FLAGS, b"\x06"),
                (core.AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                 bytes(self.service)),
                (core.AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())])),
            advertising_interval_min=1000, advertising_interval_max=1000)

        async def up():
            while True:
                message = await self.messages.get()
                self.said.append(message[0])
                await phone.say(*message)

        async def down():
            while True:
                message = await phone.messages.get()
                self.said.append(message[0])
                await self.device.notify_subscriber(self.connection, self.output, message)

        ways = [asyncio.create_task(way()) for way in (up, down)]
        leaving = asyncio.create_task(self.left.wait())
        await asyncio.wait([*ways, leaving], timeout=PATIENCE * 2,
                           return_when=asyncio.FIRST_COMPLETED)
        check(f"the app in the machine uses {self.name}: 0x0A, 0x01, 0x0B, 0x02",
              leaving.done() and self.said[:4] == [INITIALIZE, CONFIGURATION, CONFIGURE, STARTED],
              " ".join(f"0x{number:02X}" for number in self.said))
        for task in [*ways, leaving]:
            task.cancel()
        # Otherwise the machine's kernel would cancel connecting.
        if not gone.done():
            await self.connection.disconnect()
        await asyncio.wait_for(gone, PATIENCE)
        await phone.leave()


def shareable():
    """Data of version 1.1, with the values of an iPhone."""
    return struct.pack(
        "<HHB2sIBBHHHB6s2sH", 1, 1, 25, b"EU", secrets.randbits(31), 11, 9, 6, 3600, 198, 3,
        secrets.token_bytes(6), secrets.token_bytes(2), 100)


async def talk(phone, name):
    """The whole dialogue. Returns the configuration data."""
    await phone.listen()
    start = time.monotonic()
    await phone.say(INITIALIZE)
    data = (await phone.hears(CONFIGURATION))[1:]
    answered = time.monotonic()
    await phone.say(CONFIGURE, *shareable())
    begun = await phone.hears(STARTED)
    check(f"{name}: 0x0A, 0x01, 0x0B and 0x02", data and begun,
          f"0x0A to 0x01: {(answered - start) * 1000:.0f} ms, 0x0B to 0x02: "
          f"{(time.monotonic() - answered) * 1000:.0f} ms")
    return data


async def stop(phone, name):
    await phone.say(STOP)
    check(f"{name}: 0x0C and 0x03", await phone.hears(STOPPED))


async def one_phone(phone, address):
    await phone.connect(address)
    # The order of the handles, which phones remember.
    own = [service.uuid for service in phone.peer.services if service.uuid in (UART, QNIS, NEARBY)]
    check("a phone finds the three services in their order", own == [UART, QNIS, NEARBY])
    check("an MTU of 185", phone.connection.att_mtu == 185, phone.connection.att_mtu)
    refusals = {att.ATT_INSUFFICIENT_AUTHENTICATION_ERROR, att.ATT_INSUFFICIENT_ENCRYPTION_ERROR}
    for name, uuid in (("QNIS's value", SECURE), ("the configuration data", DATA)):
        check(f"{name} is refused without pairing", await phone.read(uuid) in refusals)
    data = await talk(phone, "not paired")
    await stop(phone, "not paired")
    await phone.connection.pair()
    check("pairs", phone.connection.is_encrypted)
    check("QNIS's value is read", await phone.read_again(SECURE) == b"Qorvo\0")
    check("the configuration data is what 0x01 brought", await phone.read_again(DATA) == data)
    # BlueZ loses the subscription with the private address, so the answer would be lost.
    try:
        await phone.say(INITIALIZE)
    except (att.ATT_Error, core.ConnectionBrokenError, asyncio.CancelledError):
        pass
    await asyncio.wait_for(phone.gone, PATIENCE)
    check("a phone that could not hear an answer is disconnected", phone.messages.empty())

    await phone.connect(address)
    check("another private address: the stored keys hold", phone.connection.is_encrypted)
    data = await talk(phone, "stored keys")
    check("… and the data is read", await phone.read_again(DATA) == data)
    again = await talk(phone, "once more")
    check("… new data each time", again != data and await phone.read_again(DATA) == again)
    await phone.leave()

    phone.forget()
    await phone.reach(address)
    await phone.asked()
    try:
        await phone.connection.pair()
    except Exception as error:
        check("a phone that was told to forget the device pairs again", False, repr(error))
    else:
        await phone.learn()
        check("a phone that was told to forget the device pairs again",
              await phone.read_again(SECURE) == b"Qorvo\0")
    await phone.leave()


async def two_phones(first, second, address):
    await first.connect(address)
    data = await talk(first, "the first of two phones")
    # The accessory does not advertise while it serves a phone, but another phone may have begun to
    # connect before.
    connecting = asyncio.create_task(second.connect(address))
    done, _ = await asyncio.wait({connecting}, timeout=5)
    if done:
        await second.listen()
        await second.say(INITIALIZE)
        await asyncio.wait_for(second.gone, PATIENCE)
        check("a second phone is disconnected", True)
    else:
        check("a second phone does not come in while one is served", True)
    check("… which the first does not notice", first.messages.empty() and not first.gone.done())
    await stop(first, "the first of two phones")
    await first.leave()
    if done:
        await second.connect(address)
    else:
        await asyncio.wait_for(connecting, PATIENCE)
    other = await talk(second, "the second phone, afterwards")
    check("… with data of its own", other != data)
    await second.leave()


async def two_at_once(first, second, address):
    """bluetoothd since 5.76 notifies only the phone that is meant. These two are not paired."""
    await first.connect(address)
    data = await talk(first, "the first of two phones")
    await second.connect(address)
    other = await talk(second, "the second, at the same time")
    check("… with data of its own", other != data)
    await stop(second, "the second")
    await talk(first, "the first, once more")
    check("each hears its own answers only", first.messages.empty() and second.messages.empty())
    await first.leave()
    await talk(second, "the second goes on when the first has left")
    await first.connect(address)
    await talk(first, "the first is back")
    # bluetoothd closes the socket of the phone that subscribed first, whichever phone disconnects.
    await first.leave()
    await talk(second, "the second goes on, without a socket of bluetoothd")
    await first.connect(address)
    await first.listen()
    await asyncio.wait_for(first.gone, PATIENCE)
    check("… and no other phone hears what it is told", first.messages.empty())
    await stop(second, "the second")
    await second.leave()


async def paired(phone, other, address):
    """bluetoothd since 5.69 keeps the subscription of a phone that is paired, but not its socket."""
    for number in range(2):
        await phone.connect(address)
        data = await talk(phone, "a paired phone is back" + ", and again" * number)
        check("… and the data is read", await phone.read_again(DATA) == data)
        if number == 0:
            await phone.leave()
    await other.connect(address)
    await other.listen()
    await asyncio.wait_for(other.gone, PATIENCE)
    check("… another phone is disconnected, and hears nothing of it", other.messages.empty())
    await stop(phone, "a paired phone")
    await phone.leave()


async def small(phone, address):
    await phone.connect(address)
    await phone.listen()
    await phone.say(INITIALIZE)
    await asyncio.wait_for(phone.gone, PATIENCE)
    check("a phone with an MTU of 23 is disconnected, not sent a part", phone.messages.empty())


async def late(phone, address):
    """The MTU grows after the subscription."""
    await phone.connect(address)
    await phone.listen()
    await phone.peer.request_mtu(185)
    await talk(phone, "a greater MTU after the subscription")
    await phone.leave()


async def refused(phone, address):
    """bluetoothd confirms writes before the accessory receives them."""
    await phone.connect(address)
    await phone.listen()
    try:
        await phone.characteristic(TX).write_value(b"\x0A", with_response=True)
        code = 0
    except att.ATT_Error as error:
        code = error.error_code
    check("a write to TX is not permitted", code == att.ATT_WRITE_NOT_PERMITTED_ERROR, code)
    await talk(phone, "after a refused write")
    try:
        await phone.say(*bytes(400))
    except (att.ATT_Error, core.ConnectionBrokenError, asyncio.CancelledError):
        pass
    await asyncio.wait_for(phone.gone, PATIENCE)
    check("a phone that writes too much at once is disconnected", True)


async def garbage(phone, address):
    await phone.connect(address)
    await phone.listen()
    for message in (b"\xEE", bytes(181), b"\x0B", b"\x0B" + bytes(30), secrets.token_bytes(100)):
        try:
            await phone.say(*message)
        except att.ATT_Error:
            pass
        if phone.gone.done():
            await phone.connect(address)
            await phone.listen()
    for _ in range(300):
        await phone.characteristic(RX).write_value(b"\xEE" * 20, with_response=False)
    if not phone.gone.done():
        await phone.leave()
    await phone.connect(address)
    await talk(phone, "after garbage and a flood")
    await phone.leave()


async def visits(phone, address, count):
    """The phone goes, with or without a word, after each step in turn."""
    for number in range(count):
        await phone.connect(address)
        steps = number % 6
        if steps >= 1:
            await phone.listen()
        if steps >= 2:
            await phone.say(INITIALIZE)
        if steps >= 3:
            await phone.hears(CONFIGURATION)
            await phone.say(CONFIGURE, *shareable())
        if steps >= 4:
            await phone.hears(STARTED)
        if steps >= 5:
            await phone.say(STOP)
        await (phone.vanish() if number // 6 % 2 else phone.leave())
    await phone.connect(address)
    await talk(phone, f"after {count} visits that ended in each step")
    await stop(phone, "the last visit")
    await phone.leave()


async def attach(stack, path, air, address):
    """A controller of the machine."""
    # Waits until the machine has created the socket.
    while not os.path.exists(path):
        await asyncio.sleep(0.1)
    transport = await stack.enter_async_context(await open_transport(f"unix:{path}"))
    machine = Controller("machine", host_source=transport.source, host_sink=transport.sink, link=air,
                         public_address=address)
    machine.gone = asyncio.create_task(transport.source.wait_for_termination())
    return machine


async def main(path, bluez, count, android):
    async with contextlib.AsyncExitStack() as stack:
        air, own = Link(), Link()
        machine = await attach(stack, path, air, "F0:F1:F2:F3:F4:F5")
        # Controllers that receive each other's packets, without phones.
        for number in range(4):
            await attach(stack, f"{path}{number}", own, f"F0:F1:F2:F3:F4:0{number}")
        # Other stages run first.
        starting = asyncio.create_task(machine.started.wait())
        await asyncio.wait({starting, machine.gone}, return_when=asyncio.FIRST_COMPLETED)
        if machine.gone.done():
            return 0
        phone = await Phone(air, machine, "phone").on()
        address = await phone.find()
        check("a phone finds the accessory by its service", True)
        written, quickly = gatt.Characteristic.WRITE, gatt.Characteristic.WRITE_WITHOUT_RESPONSE
        for name, channel, flags in (("Kit U", (UART, RX, TX), written),
                                     ("Kit Q", (QNIS, QNIS_RX, QNIS_TX), written | quickly)):
            relay = await Phone(air, machine, name).on()
            await Kit(air, name, *channel, flags).serve(relay, address)
        await one_phone(phone, address)
        others = [await Phone(air, machine, name).on() for name in ("other", "third")]
        if bluez >= (5, 76):
            await two_at_once(*others, address)
            await paired(phone, others[0], address)
        else:
            await two_phones(phone, others[0], address)
        await small(await Phone(air, machine, "small", mtu=23).on(), address)
        await late(await Phone(air, machine, "late", mtu=23).on(), address)
        await refused(await Phone(air, machine, "long", mtu=517).on(), address)
        await garbage(phone, address)
        await visits(phone, address, count)
        if android:
            await android_phone.over_bluetooth(
                await Phone(air, machine, "Android", mtu=517).on(), *map(core.UUID, android))
    return 1 if failed or android_phone.failed else 0


if __name__ == "__main__":
    try:
        version = tuple(int(part) for part in sys.argv[2].split("."))
        sys.exit(asyncio.run(
            main(sys.argv[1], version, int(sys.argv[3]) if len(sys.argv) > 3 else 12,
                 sys.argv[4:7])))
    except Exception as error:
        check("the phone's part came to its end", False, repr(error))
        raise
