// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import Testing
import UWBTestSupport

@testable import UWBLink

@Suite(.timeLimit(.minutes(10))) struct DiscoveryTests {
  @Test func portsWithHardwareAreFoundAndOthersAreNot() throws {
    let machine = try FakeMachine.desk()
    let ports = machine.discovery.ports()
    #expect(
      ports.map { $0.path.lastComponent?.string } == [
        "ttyACM0", "ttyACM1", "ttyACM2", "ttyS0", "ttyUSB0",
      ])
    let kit = try #require(ports.first { $0.path.lastComponent == "ttyACM1" })
    #expect(kit.driver == "cdc_acm")
    #expect(kit.interface == 0)
    #expect(kit.deviceNumbers == "166:1")
    let usb = try #require(kit.usb)
    #expect(usb.ids == "1915:520f")
    #expect(usb.manufacturer == "Nordic Semiconductor")
    #expect(usb.product == "nRF52 USB Product")
    #expect(usb.serial == "E5A1B2C3D4F6")
    #expect(usb.socket == "1-3")
    #expect(usb.deviceNumbers == "189:7")
    #expect(usb.known?.kind == .board)
    // The device is listed by its name before it is listed by its socket.
    #expect(
      kit.stablePaths.compactMap { $0.removingLastComponent().lastComponent?.string } == [
        "by-id", "by-path",
      ])
  }

  @Test func thePortOfABridgeHasItsOwnDriverAndTheBridgesDevice() throws {
    let machine = try FakeMachine.desk()
    let port = try #require(machine.discovery.port(at: FilePath(machine.root + "/dev/ttyUSB0")))
    #expect(port.driver == "ch341-uart")
    #expect(port.interface == 0)
    #expect(port.usb?.ids == "1a86:7523")
    #expect(port.usb?.serial == nil, "the serial number of the hub above is not its own")
    #expect(port.usb?.known?.kind == .bridge)
    #expect(port.endpoint == .serial(path: port.path))
  }

  @Test func aPortOfTheBoardHasNoUSBDevice() throws {
    let machine = try FakeMachine.desk()
    let port = try #require(machine.discovery.port(at: FilePath(machine.root + "/dev/ttyS0")))
    #expect(port.usb == nil)
    #expect(port.interface == nil)
    #expect(port.driver == "serial8250")
  }

  @Test func aLinkLeadsToItsPort() throws {
    let machine = try FakeMachine.desk()
    try machine.link("dev/uwb/anchor", to: "../ttyACM1")
    let port = try #require(machine.discovery.port(at: FilePath(machine.root + "/dev/uwb/anchor")))
    #expect(port.path.string == machine.root + "/dev/ttyACM1")
    #expect(port.stablePaths.first?.string == machine.root + "/dev/uwb/anchor")
    #expect(machine.discovery.port(at: "/dev/no-such-port") == nil)
  }

  @Test func whatADeviceCouldBeCalledIsReadAsThat() throws {
    let machine = try FakeMachine.desk()
    for node in ["srxxx", "sr200", "uci", "uci0", "ucix", "spidev0.0", "null"] {
      try machine.file("dev/\(node)", "")
    }
    let names = machine.discovery.names()
    let dev = machine.root + "/dev/"
    for name in [
      dev + "ttyACM1", "usb:E5A1B2C3D4F6?if=0", "sr1xx:\(dev)srxxx", "sr1xx:\(dev)sr200",
      "uci:\(dev)uci", "uci:\(dev)uci0", "spi:\(dev)spidev0.0?chip=qm35&irq=",
    ] {
      #expect(names.contains(name), "\(name)")
    }
    #expect(!names.contains { $0.contains("ucix") || $0.contains("null") })
    for name in names where !name.hasPrefix("spi:") {
      #expect(throws: Never.self) { try LinkEndpoint(name) }
    }
  }

  @Test func aSerialNumberNamesOnePort() throws {
    let machine = try FakeMachine.desk()
    #expect(
      try machine.discovery.port(serial: "E5A1B2C3D4F6").path.lastComponent == "ttyACM1")
    let endpoint = try LinkEndpoint("usb:000760012345?if=2&baud=921600").resolved(
      with: machine.discovery)
    #expect(
      endpoint == .serial(path: FilePath(machine.root + "/dev/ttyACM2"), baud: 921_600))
  }

  @Test func severalPortsOfOneDeviceAreToldApartByTheirInterface() throws {
    let machine = try FakeMachine.desk()
    let ambiguous = #expect(throws: LinkError.self) {
      try machine.discovery.port(serial: "000760012345")
    }
    #expect(ambiguous?.code == .ambiguous)
    #expect(ambiguous?.description.contains("ttyACM2 (if=2)") == true)
    let missing = #expect(throws: LinkError.self) {
      try machine.discovery.port(serial: "000760012345", interface: 4)
    }
    #expect(missing?.code == .notFound)
    #expect(missing?.description.contains("ttyACM0 (if=0)") == true)
    #expect(missing?.endpoint == "usb:000760012345?if=4")
  }

  @Test func aSerialNumberThatTwoDevicesShareNamesNeither() throws {
    let machine = try FakeMachine.desk()
    for (socket, name) in [("1-6", "ttyUSB1"), ("1-7", "ttyUSB2")] {
      try machine.usbDevice(socket, "10c4", "ea60", ["serial": "0001"])
      try machine.bridgePort(name, socket: socket, driver: "cp210x", numbers: "188:1")
    }
    let error = #expect(throws: LinkError.self) {
      try machine.discovery.port(serial: "0001", interface: 0)
    }
    #expect(error?.code == .ambiguous)
    let path = LinkEndpoint.serial(path: FilePath(machine.root + "/dev/ttyUSB1"))
    #expect(machine.discovery.stableEndpoint(of: path) == path)
  }

  @Test func aPathBecomesANameThatOutlivesAReplug() throws {
    let machine = try FakeMachine.desk()
    let path = FilePath(machine.root + "/dev/ttyACM1")
    #expect(
      machine.discovery.stableEndpoint(of: .serial(path: path, baud: 921_600))
        == .usb(serial: "E5A1B2C3D4F6", interface: 0, baud: 921_600))
    let tcp = LinkEndpoint.tcp(host: "localhost", port: "7000")
    #expect(machine.discovery.stableEndpoint(of: tcp) == tcp)
  }

  @Test func knownDevicesWithoutAPortAreFound() throws {
    let machine = try FakeMachine.desk()
    try machine.usbDevice("1-8", "0403", "601c", ["product": "FT4222"])
    try machine.usbDevice("1-9", "046d", "c31c", ["product": "Keyboard"])
    let found = machine.discovery.knownDevicesWithoutPort()
    #expect(found.map(\.ids) == ["0403:601c"])
    #expect(found.first?.known?.kind == .other)
  }

  @Test func nordicsExampleIsNoKitUnlessItsNameFits() throws {
    let machine = try FakeMachine()
    try machine.usbDevice("1-1", "1915", "520f", ["product": "Somebody's keyboard"])
    try machine.cdcPort("ttyACM0", socket: "1-1", interface: "00", numbers: "166:0")
    #expect(machine.discovery.ports().first?.usb?.known == nil)
  }

  @Test func aMachineWithoutAnythingHasNoPorts() throws {
    let discovery = Discovery(sysfs: "/no-such-sysfs", dev: "/no-such-dev")
    #expect(discovery.ports().isEmpty)
    #expect(discovery.knownDevicesWithoutPort().isEmpty)
  }

  @Test(arguments: [
    ("usb:E5A1", LinkEndpoint.usb(serial: "E5A1")),
    ("usb:E5A1?if=2", .usb(serial: "E5A1", interface: 2)),
    (
      "usb:E5A1?baud=921600&rtscts",
      .usb(serial: "E5A1", baud: 921_600, hardwareFlowControl: true)
    ),
  ])
  func serialNumbersAreRead(_ text: String, _ endpoint: LinkEndpoint) throws {
    #expect(try LinkEndpoint(text) == endpoint)
  }

  @Test(arguments: ["usb:", "usb:?if=1", "usb:E5A1?if=x", "usb:E5A1?if=256", "/dev/ttyACM0?if=1"])
  func impossibleSerialNumbersAreRefused(_ text: String) {
    let error = #expect(throws: LinkError.self) { try LinkEndpoint(text) }
    #expect(error?.code == .invalidEndpoint)
  }

  @Test func openingADeviceThatIsNotPluggedInNamesIt() throws {
    let error = #expect(throws: LinkError.self) { try Link(.usb(serial: "no such number")) }
    #expect(error?.code == .notFound)
    #expect(error?.description == "There is no device at usb:no such number.")
  }
}

@Suite(.timeLimit(.minutes(10))) struct DeviceAccessTests {
  @Test func anotherUserMayNotOpenAPrivateNode() async throws {
    let machine = try FakeMachine()
    try machine.file("dev/ttyACM0", "")
    let path = machine.root + "/dev/ttyACM0"
    #expect(chmod(path, 0o620) == 0)
    let access = try #require(DeviceAccess(of: FilePath(path)))
    #expect(access.mode == 0o620)
    #expect(access.description.hasPrefix("rw--w---- "))
    #expect(access.isAllowed)
    guard geteuid() == 0 else { return }
    // The file system's user id belongs to one thread. Swift's Glibc does not import setfsuid.
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let setfsuid = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> Int32).self)
    let others = await withCheckedContinuation { (continuation: CheckedContinuation<Bool?, _>) in
      Thread {
        _ = setfsuid(65_534)
        continuation.resume(returning: DeviceAccess(of: FilePath(path))?.isAllowed)
      }.start()
    }
    #expect(others == false)
  }

  @Test func holdersAreFoundByTheirOpenFiles() throws {
    let machine = try FakeMachine.desk()
    let path = machine.root + "/dev/ttyACM1"
    try machine.process(812, "ModemManager", open: ["/dev/null", path])
    try machine.process(813, "bash", open: ["/dev/pts/1"])
    try machine.link("dev/uwb/anchor", to: "../ttyACM1")
    for name in [path, machine.root + "/dev/uwb/anchor"] {
      let (holders, someHidden) = machine.processes.holders(of: FilePath(name))
      #expect(holders == [PortHolder(pid: 812, name: "ModemManager")])
      #expect(!someHidden)
    }
    #expect(machine.processes.running("ModemManager").map(\.pid) == [812])
    #expect(machine.processes.running("Modem").isEmpty)
  }

  @Test func whoPlaysTheChipIsNoHolder() throws {
    let machine = try FakeMachine()
    try machine.file("dev/pts/7", "")
    let path = machine.root + "/dev/pts/7"
    try machine.process(900, "simulator", open: [path, "/dev/ptmx"])
    try machine.file("proc/900/fdinfo/1", "pos:\t0\nflags:\t02104002\ntty-index:\t7\n")
    #expect(machine.processes.holders(of: FilePath(path)).holders.isEmpty)
    // A terminal emulator has the master of another terminal open.
    try machine.process(901, "emulator", open: [path, "/dev/ptmx"])
    try machine.file("proc/901/fdinfo/1", "pos:\t0\ntty-index:\t70\n")
    #expect(machine.processes.holders(of: FilePath(path)).holders.map(\.pid) == [901])
  }

  @Test func theRealTableKnowsThisProcessByItsName() throws {
    let own = getpid()
    let comm = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    #expect(ProcessTable().running(comm).map(\.pid).contains(own))
    let holders = ProcessTable().holders(of: "/dev/null").holders.map(\.pid)
    #expect(!holders.contains(own))
  }

  @Test func recordsOfUdevAreRead() throws {
    let machine = try FakeMachine()
    try machine.file(
      "run/udev/data/c166:1",
      "S:serial/by-id/usb-x\nI:123\nE:ID_MM_PORT_IGNORE=1\nE:ID_MODEL=a=b\nG:uaccess\nQ:uaccess\n")
    let record = try #require(UdevRecord(deviceNumbers: "166:1", in: machine.udev))
    #expect(record.isIgnoredByModemManager)
    #expect(record.properties["ID_MODEL"] == "a=b")
    #expect(record.tags == ["uaccess"])
    #expect(UdevRecord(deviceNumbers: "166:2", in: machine.udev) == nil)
    #expect(UdevRecord(deviceNumbers: nil, in: machine.udev) == nil)
    #expect(!UdevRecord("E:ID_MM_PORT_IGNORE=0\n").isIgnoredByModemManager)
  }
}
