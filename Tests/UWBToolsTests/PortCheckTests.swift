// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import SystemPackage
import Testing
import UWBTestSupport
import UWBTools
@testable import UWBLink

/// The doctor's results for a port before it is opened, on simulated machines.
@Suite(.ownThreads) struct PortCheckTests {
  static func checks(_ machine: FakeMachine, _ name: String) -> Checkup {
    var its = Machine(discovery: machine.discovery, processes: machine.processes)
    its.udevRecords = machine.udev
    its.udevRules = [FilePath(machine.root + "/etc/udev/rules.d")]
    return Checkup(
      endpoint: .serial(path: FilePath(machine.root + "/dev/" + name)), machine: its)
  }

  static func port(_ machine: FakeMachine, _ name: String) throws -> SerialPort {
    try #require(machine.discovery.port(at: FilePath(machine.root + "/dev/" + name)))
  }

  private static let ignored = "E:ID_MM_PORT_IGNORE=1\nG:uaccess\n"

  @Test func aBoardWithActiveRulesPasses() throws {
    let machine = try FakeMachine.desk()
    try machine.file("run/udev/data/c166:1", Self.ignored)
    try machine.process(812, "ModemManager", open: [])
    var found: [Finding] = []
    Self.checks(machine, "ttyACM1").checkPort { found.append($0) }
    #expect(
      found.map(\.check) == [.device, .permission, .udevRule, .holder, .modemManager])
    #expect(found.allSatisfy { $0.verdict == .ok })
    #expect(found[0].text.contains("Qorvo DWM3001CDK"))
    #expect(found[0].text.contains("number E5A1B2C3D4F6"))
  }

  @Test func missingOrInactiveRulesAreWarnings() throws {
    let machine = try FakeMachine.desk()
    let checks = Self.checks(machine, "ttyACM1")
    let port = try Self.port(machine, "ttyACM1")
    let missing = checks.udevRule(port)
    #expect(missing.verdict == .warn)
    #expect(missing.advice?.contains("sudo uwbctl setup --install") == true)
    try machine.file("etc/udev/rules.d/60-uwb.rules", "")
    let idle = checks.udevRule(port)
    #expect(idle.verdict == .warn)
    #expect(idle.advice?.contains("udevadm trigger") == true)
    #expect(checks.udevRule(try Self.port(machine, "ttyUSB0")).verdict == .skipped)
  }

  @Test func modemManagerIsAWarning() throws {
    let machine = try FakeMachine.desk()
    let port = try Self.port(machine, "ttyACM1")
    let checks = Self.checks(machine, "ttyACM1")
    #expect(checks.modemManager(port).verdict == .ok)
    try machine.process(812, "ModemManager", open: [])
    let warning = checks.modemManager(port)
    #expect(warning.verdict == .warn)
    #expect(warning.text.contains("process 812"))
    #expect(warning.advice?.contains("ID_MM_DEVICE_IGNORE") == true)
    // A property of the USB device has the same effect as a property of the port.
    try machine.file("run/udev/data/c189:7", "E:ID_MM_DEVICE_IGNORE=1\n")
    #expect(checks.modemManager(port).verdict == .ok)
  }

  @Test func modemManagerOnThePortIsAFailure() throws {
    let machine = try FakeMachine.desk()
    try machine.process(812, "ModemManager", open: [machine.root + "/dev/ttyACM1"])
    let finding = Self.checks(machine, "ttyACM1").holder(
      FilePath(machine.root + "/dev/ttyACM1"))
    #expect(finding.status == .busy)
    #expect(finding.text == "It is open in ModemManager (process 812).")
    #expect(finding.advice?.contains("systemctl stop ModemManager") == true)
  }

  /// Most programs have a memory device open, and ending these programs does not help.
  @Test func memoryDevicesAreNoPorts() throws {
    let machine = try FakeMachine.desk()
    let its = Machine(discovery: machine.discovery, processes: machine.processes)
    var found: [Finding] = []
    Checkup(endpoint: .serial(path: "/dev/null"), machine: its).checkPort { found.append($0) }
    #expect(found.map(\.check) == [.device] && found.first?.status == .usage)
  }

  @Test func theDebugPortSuggestsTheBoardsOwnPort() throws {
    let machine = try FakeMachine.desk()
    let finding = Self.checks(machine, "ttyACM0").device()
    #expect(finding.verdict == .warn)
    #expect(finding.advice == "Use the board's own port: usb:E5A1B2C3D4F6?if=0")
  }

  @Test func aMissingDeviceListsPresentOnes() throws {
    let machine = try FakeMachine.desk()
    let finding = Self.checks(machine, "ttyACM9").device()
    #expect(finding.status == .unavailable)
    #expect(finding.advice?.contains("/dev/ttyACM1") == true)
    let serial = Checkup(
      endpoint: .usb(serial: "no such number"),
      machine: Machine(discovery: machine.discovery)
    ).device()
    #expect(serial.status == .unavailable)
  }

  @Test func missingPermissionsHaveAdvice() throws {
    let machine = try FakeMachine.desk()
    var port = try Self.port(machine, "ttyACM1")
    let checks = Self.checks(machine, "ttyACM1")
    port.access = DeviceAccess(owner: "root", group: "dialout", mode: 0o660, isAllowed: false)
    let refused = checks.permission(port.path, port)
    #expect(refused.status == .permission)
    #expect(refused.text.hasPrefix("rw-rw---- root:dialout"))
    #expect(refused.advice?.contains("uwbctl setup --install") == true)
    #expect(refused.advice?.contains("usermod -aG dialout") == true)
    port.access?.needsNewLogin = true
    let later = checks.permission(port.path, port)
    #expect(later.status == .permission)
    #expect(later.advice?.contains("newgrp dialout") == true)
  }

  /// Where a service shares the device, rules for the device do not help.
  @Test func aSharedDeviceNeedsNoRules() throws {
    let machine = try FakeMachine.desk()
    var port = try Self.port(machine, "ttyACM1")
    let checks = Self.checks(machine, "ttyACM1")
    port.access = DeviceAccess(owner: "root", group: "root", mode: 0o600, isAllowed: false)
    let shared = checks.permission(port.path, port, .shared(name: "ttyACM1"))
    #expect(shared.verdict == .ok && shared.text.contains("uwbd"))
    func refused(_ code: LinkError.Code) -> Finding {
      let error = LinkError(
        code, endpoint: "uwbd:/run/uwbd/control", detail: "no",
        recoverySuggestion: "Join the group.")
      return checks.permission(port.path, port, .unknown(error))
    }
    #expect(refused(.permissionDenied).advice == "Join the group.")
    #expect(refused(.permissionDenied).status == .permission)
    #expect(refused(.timeout).advice?.contains("setup --install") == true)
  }

  @Test func aMachineWithoutABoardMayHaveAService() {
    #expect(Finding.noBoard(shared: .success([])).advice?.contains("uwbctl doctor sim") == true)
    let shared = Finding.noBoard(shared: .success(["tcp:gate:4000", "usb:1"]))
    #expect(shared.text.hasSuffix("shares tcp:gate:4000, usb:1."))
    #expect(shared.advice?.contains("uwbctl doctor tcp:gate:4000 --exclusive") == true)
    let closed = LinkError(
      .permissionDenied, endpoint: "uwbd:/run/uwbd/control", detail: "no",
      recoverySuggestion: "Join the group.")
    #expect(Finding.noBoard(shared: .failure(closed)).advice == "Join the group.")
  }

  /// Members of root's group may do much more than range.
  @Test(arguments: [("root", 0o660), ("wheel", 0o660), ("dialout", 0o600)])
  func nobodyIsAdvisedToJoinAGroupThatDoesNotHelp(_ group: String, _ mode: UInt16) throws {
    let machine = try FakeMachine.desk()
    var port = try Self.port(machine, "ttyACM1")
    let checks = Self.checks(machine, "ttyACM1")
    port.access = DeviceAccess(owner: "root", group: group, mode: mode, isAllowed: false)
    for usb in [port.usb, nil] {
      port.usb = usb
      let advice = try #require(checks.permission(port.path, port).advice)
      #expect(!advice.contains("usermod") && advice.contains("uwbctl setup --install"))
    }
  }
}
