// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SystemPackage
import UCI
import UWB
import UWBSimulator

extension Replay {
  /// Simulates the recorded chip until interrupted, and then prints statistics.
  func simulateDevice() async throws {
    let capture = try CaptureReader.read(file: file)
    for problem in capture.problems { standardError.write("\(file): \(problem)\n") }
    let recording = Recording(capture)
    guard recording.packets > 0 else {
      throw Failure(
        .data, "The capture has no packets of a chip.",
        try: "uwbctl decode --file FILE shows its contents.")
    }
    let device: RecordedDevice
    do {
      device = try RecordedDevice(recording, speed: speed.factor, repeats: `repeat`)
      if let link { try device.link(at: link) }
    } catch {
      throw Failure(
        .cannotCreate,
        "Cannot create \(link ?? "a pseudo-terminal"): \(error) (errno \(error.rawValue)).")
    }
    device.start()
    standardOutput.write(announcement(device, recording))
    try? await Task.sleep(for: time.limit ?? .seconds(1_000_000_000))
    device.stop()
    standardError.write(device.statistics.text(of: recording) + "\n")
  }

  private func announcement(_ device: RecordedDevice, _ recording: Recording) -> String {
    let path = link ?? device.path
    guard format == .json else { return path + "\n" }
    var line = JSONLine()
    line.add("path", path)
    line.add("requests", recording.requests)
    line.add("packets", recording.packets)
    return line.text + "\n"
  }
}

extension Replay.Speed {
  /// How many times faster than recorded.
  var factor: Double {
    switch self {
    case .times(let factor): factor
    case .max: .infinity
    }
  }
}

extension Recording {
  /// The packets of a chip and its host. Packets with unknown direction are taken as the chip's, like
  /// most data.
  init(_ capture: Capture) {
    self.init(
      capture.packets.map {
        Packet(time: $0.time, direction: $0.direction ?? .inbound, bytes: $0.bytes)
      })
  }
}

extension RecordedChip.Statistics {
  /// One line.
  func text(of recording: Recording) -> String {
    func names(_ opcodes: [Opcode: Int]) -> String {
      let list = opcodes.map { opcode, count in
        MessageCatalog.name(type: .command, opcode: opcode) + (count > 1 ? " ×\(count)" : "")
      }
      return "(\(list.sorted().joined(separator: ", ")))"
    }
    let refused = unknown.values.reduce(0, +)
    let filled = invented.values.reduce(0, +)
    return
      "\(exact + similar + refused + filled) requests: \(exact) as recorded, "
      + "\(similar) with other contents, \(refused) not in the capture and rejected"
      + (refused > 0 ? " \(names(unknown))" : "")
      + (filled > 0 ? ", \(filled) answered without a recording \(names(invented))" : "")
      + "; \(packetsSent) packets of \(recording.packets) recorded sent"
  }
}
