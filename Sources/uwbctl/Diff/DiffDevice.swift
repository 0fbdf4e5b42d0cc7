// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UCI
import UCIReference
import UWB

/// A device as a side of a comparison: asked without a reset, so that what runs on it goes on.
struct DiffDevice {
  var options: DeviceOptions

  /// A device rather than a file: what `--device` takes, and any path below /dev.
  static func isNamed(by text: String) -> Bool {
    if text == DeviceOptions.simulated { return true }
    if ["tcp:", "usb:", "/dev/"].contains(where: text.hasPrefix) { return true }
    var status = stat()
    return unsafe stat(String(text.prefix { $0 != "?" }), &status) == 0
      && status.st_mode & S_IFMT == S_IFCHR
  }

  init(_ name: String, _ chip: ChipOptions) throws {
    options = try DeviceOptions.parse(["--device", name])
    options.chip = chip
  }

  /// - Parameters:
  ///   - session: what names the session on the chip; nil: it is looked for.
  ///   - ids: of the sessions at the other side, which older chips know theirs by.
  func side(
    capabilities: Bool, session: UInt32?, ids: [UInt32]
  ) async throws -> DiffSide {
    let content = try await options.withDevice(
      try CaptureOptions.parse([]), opening: .asFound
    ) { chip, _ in
      capabilities
        ? .capabilities(chip.capabilities, chip.dialect)
        : DiffSide.Content.sessions(try await Self.sessions(on: chip, session, ids))
    }
    return DiffSide(name: options.device, content)
  }

  /// Handles are counted from 0 or 1; nothing tells which there are.
  private static let likelyHandles: [UInt32] = Array(0...16)

  static func sessions(
    on chip: UWBDevice, _ session: UInt32?, _ ids: [UInt32]
  ) async throws -> [SessionEnd] {
    var tokens = session.map { [$0] } ?? []
    if session == nil {
      let count = try await chip.send(GetSessionCount()).count
      for token in ids + likelyHandles.filter({ !ids.contains($0) })
      where tokens.count < count.map(Int.init) ?? .max {
        if try await chip.send(GetSessionState(sessionToken: token)).status == .ok {
          tokens.append(token)
        }
      }
    }
    var ends: [SessionEnd] = []
    for token in tokens {
      let parameters = ChipParameters(chip: chip, session: token)
      let list = try await parameters.read(parameters.all).found
      guard !list.isEmpty else { continue }
      // Since FiRa 2.0 a handle of the chip's stands for the id, which it does not tell.
      let isID = chip.dialect.generation == .fira1
      ends.append(
        SessionEnd(
          sessionID: isID ? token : nil,
          parameters: SessionParameters(list, dialect: chip.dialect), isReadBack: true))
    }
    return ends
  }
}
