// SPDX-License-Identifier: Apache-2.0
import Accessory
import AccessoryProtocol
import Channels
import Bluetooth
import CUWBTestSupport
import Foundation
import Testing
import UWB

/// Faults while phones use an accessory, repeated many times. After each fault, the accessory
/// serves the next phone. At the end no session ranges, and no descriptors or memory leak. Each
/// test runs in a process of its own, because it counts descriptors and memory of the whole
/// process.
///
/// `UWB_REPETITIONS` gives the number of repetitions (default: 6).
@Suite(.bus, .timeLimit(.minutes(20))) struct BluetoothFaultTests {
  @Test func aLinkIsLostInEachStep() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated { stage, number in
        try await stage.dialogue("AA", until: Step.all[number % Step.all.count])
        stage.leave("AA")
      }
    }
  }

  /// bluetoothd removes phones that it has not received for a while.
  @Test func aPhoneVanishesWithoutAWord() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated { stage, number in
        let phone = "F\(number)"
        let events = stage.accessory.events
        try await stage.dialogue(phone, until: .started)
        stage.forget(phone)
        for await case .stopped(let app, let reason) in events where app.name == phone {
          #expect(reason == .inactivity)
          break
        }
      }
    }
  }

  @Test func bluetoothdIsKilledInEachStep() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated { stage, number in
        try await stage.dialogue("AA", until: Step.all[number % Step.all.count])
        if number % 3 == 0 {
          // The fault happens again while the accessory registers.
          try await stage.restartBlueZ(registered: false)
        }
        try await stage.restartBlueZ()
      }
    }
  }

  @Test func theAdapterIsPulledInEachStep() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated { stage, number in
        try await stage.dialogue("AA", until: Step.all[number % Step.all.count])
        try await stage.replugAdapter()
      }
    }
  }

  @Test func garbageIsWritten() async {
    await #expect(processExitsWith: .success) {
      var random = SystemRandomNumberGenerator()
      try await Faults.repeated { stage, number in
        let phone = "F\(number)"
        try await stage.dialogue(phone, until: Step.all[number % Step.all.count])
        let lengths = [0, 1, 2, 31, 36, 49, 182, 512, 513, 4_096]
        for length in lengths {
          let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
          let known = [0x01, 0x02, 0x03, 0x0A, 0x0B, 0x0C].map { [$0] + bytes.dropFirst() }
          for message in [bytes] + known {
            for input in [Stage.uart.0, Stage.qnis.0] {
              try? await stage.write(Array(message), phone, input)
            }
          }
        }
        // The options are missing, unknown, or of the wrong type.
        let several: [[(String, DBusValue)]] = [
          [], [("device", .string(phone))], [("mtu", .path("/"))], [("x", .byte(1))],
        ]
        for options in several.map(DBusValue.properties) {
          for uuid in [Stage.uart.0, Stage.uart.1, Stage.data] {
            _ = try? await stage.ask(uuid, "WriteValue", [.bytes([0x0A]), options])
            _ = try? await stage.ask(uuid, "ReadValue", [options])
            _ = try? await stage.ask(uuid, "AcquireNotify", [options])
            _ = try? await stage.ask(uuid, "WriteValue", [options])
            _ = try? await stage.ask(uuid, "ReadValue", [])
          }
        }
        stage.forget(phone)
      }
    }
  }

  /// The phone does not read the answers either.
  @Test func aPhoneWritesMoreThanIsAnswered() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated { stage, number in
        let phone = "F\(number)"
        stage.connect(phone)
        let socket = try await stage.subscribe(phone)
        await withTaskGroup { group in
          for count in 0..<300 {
            group.addTask {
              try? await stage.write([count % 2 == 0 ? 0x0A : 0xEE], phone)
            }
          }
        }
        withExtendedLifetime(socket) {}
        stage.forget(phone)
      }
    }
  }

  /// BlueZ before 5.76 serves one phone at a time.
  @Test func aSecondPhoneWantsThePlace() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated(version: 0x0542) { stage, number in
        let phone = "F\(number)"
        try await stage.dialogue("AA", until: .started) {
          stage.connect(phone)
          await #expect(throws: BluetoothError.self) { try await stage.write([0x0A], phone) }
          #expect(await stage.blueZ.called("Disconnect").path.hasSuffix(phone))
          stage.forget(phone)
        }
        stage.leave("AA")
      }
    }
  }

  @Test func pairingIsRefused() async {
    await #expect(processExitsWith: .success) {
      try await Faults.repeated(pairing: .refused) { stage, number in
        let phone = "F\(number)"
        stage.connect(phone)
        await #expect(throws: BluetoothError.self) { try await stage.authorize(phone) }
        try await stage.dialogue(phone, until: Step.all[number % Step.all.count])
        stage.forget(phone)
      }
    }
  }
}

/// The steps of an app.
private enum Step: Int {
  case connected, subscribed, asked, offered, configured, started, stopping, stopped
  static let all: [Step] = (0...7).map { Step(rawValue: $0)! }
}

@BluetoothActor private enum Faults {
  private static let repetitions =
    ProcessInfo.processInfo.environment["UWB_REPETITIONS"].flatMap { Int($0) } ?? 6

  /// The descriptors and bytes of the process.
  private static func usage() throws -> (descriptors: Int, bytes: Int64) {
    (
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
      cuwb_test_bytes_in_use()
    )
  }

  static func repeated(
    version: UInt16 = 0x0552, pairing: BluetoothPeripheral.Pairing = .allowed,
    _ fault: @BluetoothActor (Stage, Int) async throws -> Void
  ) async throws {
    var options = Accessory.Options()
    options.inactivityTimeout = .milliseconds(50)
    let stage = try await Stage(version: version, options: options, pairing: pairing)
    // All objects that exist only once exist after these repetitions.
    let early = max(1, repetitions / 4)
    var before = (descriptors: 0, bytes: Int64(0))
    for number in 0..<repetitions {
      try await fault(stage, number)
      // The app resumes the previous session, if there is one.
      try await stage.dialogue("AA", until: .stopped)
      stage.leave("AA")
      stage.blueZ.forgetCalls()
      if number == early { before = try usage() }
    }
    let events = stage.accessory.events
    if !stage.accessory.rangingApps.isEmpty {
      for await case .stopped in events where stage.accessory.rangingApps.isEmpty { break }
    }
    let after = try usage()
    // One or two descriptors may be about to be closed.
    #expect(after.descriptors <= before.descriptors + 2, "\(before), \(after)")
    // Cancelled timers keep their memory until they would have fired, some for five minutes.
    let timers = Int64(20_000 * (repetitions - early))
    #expect(after.bytes < before.bytes + 500_000 + timers, "\(before), \(after)")
    await stage.end()
  }
}

extension Stage {
  /// Runs the steps of an app, up to a step.
  fileprivate func dialogue(
    _ phone: String, until last: Step, meanwhile: @BluetoothActor () async throws -> Void = {}
  ) async throws {
    connect(phone)
    guard last != .connected else { return }
    let socket = try await subscribe(phone)
    defer { withExtendedLifetime(socket) {} }
    guard last != .subscribed else { return }
    try await write(AppMessage.initialize.bytes, phone)
    guard last != .asked else { return }
    // Answers to the previous app may arrive before the configuration.
    let configuration = try #require(try await hears(socket) { try? Self.configuration($0) })
    guard last != .offered else { return }
    var data = ShareableConfigurationData.answering(configuration)
    data.interval = 20
    data.slotDuration = 2_400
    try await write(AppMessage.configureAndStart(data.bytes).bytes, phone)
    guard last != .configured else { return }
    try await expect(AccessoryMessage.accessoryUwbDidStart, socket)
    try await meanwhile()
    guard last != .started else { return }
    try await write(AppMessage.stop.bytes, phone)
    guard last != .stopping else { return }
    try await expect(AccessoryMessage.accessoryUwbDidStop, socket)
  }

  private func expect(_ message: AccessoryMessage, _ socket: OwnedDescriptor) async throws {
    let heard = try await hears(socket) { $0 == message.bytes ? $0 : nil }
    #expect(heard == message.bytes)
  }

  private func hears<Value>(
    _ socket: OwnedDescriptor, _ body: ([UInt8]) throws -> Value?
  ) async throws -> Value? {
    while let message = await socket.next() {
      if let value = try body(message) { return value }
    }
    return nil
  }
}
