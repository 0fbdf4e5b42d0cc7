// SPDX-License-Identifier: Apache-2.0

import ChipModels

/// A model of `Tests/ChipModels` behind the bench's device, in real time.
struct ChipModel {
  private let raw: OpaquePointer
  private let device: BenchDevice
  private let answersWrites: Bool

  /// Returns nil if there is no such chip or fault.
  init?(_ kind: String, _ faults: String, startsInLoader: Bool, _ device: BenchDevice) {
    guard let raw = chip_model_create(kind, startsInLoader, faults, device.callbacks) else {
      return nil
    }
    self.raw = raw
    self.device = device
    // A write to Qorvo's driver waits for the chip.
    answersWrites = kind == "uci"
  }

  /// The time at which the model has to be advanced next, in nanoseconds of CLOCK_MONOTONIC; nil:
  /// none.
  var due: UInt64? {
    let due = chip_model_due(raw)
    return due == .max ? nil : due
  }

  /// The counts of the model: one line, and one for each violation.
  var ledger: String { String(cString: chip_model_ledger(raw)) }

  func advance() { chip_model_advance(raw, monotonic()) }

  func say(_ packet: [UInt8]) { chip_model_say(raw, packet, packet.count) }

  func handle(_ event: BenchDevice.Event) {
    advance()
    switch event {
    case .selected(let bytes, var selection):
      var answer = [UInt8](repeating: 0, count: bytes.count)
      chip_model_selected(raw, &selection, bytes, &answer)
      device.answer(answer)
      // The selection may cause changes, which happen now.
      advance()
    case .line(let line, let high, let time): chip_model_driven(raw, line, high, time)
    case .control(let number, let value): chip_model_control(raw, number, value)
    case .written(let bytes):
      chip_model_written(raw, bytes, bytes.count)
      if answersWrites { device.answer([]) }
    }
  }

  /// Returns the packets from the host since the last call.
  func takePackets() -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var buffer = [UInt8](repeating: 0, count: 8_192)
    while case let length = chip_model_take_packet(raw, &buffer, buffer.count), length > 0 {
      packets.append(Array(buffer[..<length]))
    }
    return packets
  }

  /// Returns whether the firmware has started or the chip was switched off; nil: neither.
  func takePowerChange() -> Bool? {
    let change = chip_model_take_power_change(raw)
    return change < 0 ? nil : change == 1
  }
}
