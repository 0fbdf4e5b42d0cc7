// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UCI
import UCIReference
import UWB

/// A device as a side of a comparison. It is not reset, so that its sessions continue.
struct DiffDevice {
  var options: DeviceOptions

  /// Whether a text names a device rather than a file: as for `--device`, or a path below /dev.
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
  ///   - session: the handle or id of the session on the chip; nil: search for it.
  ///   - ids: of the sessions of the other side, which older chips use as handles.
  func side(
    capabilities: Bool, session: UInt32?, ids: [UInt32]
  ) async throws -> DiffSide {
    let content = try await options.withDevice(
      try CaptureOptions.parse([]), resetPolicy: .keepState
    ) { chip, _ in
      capabilities
        ? .capabilities(chip.capabilities, chip.dialect)
        : DiffSide.Content.sessions(try await Self.sessions(on: chip, session, ids))
    }
    return DiffSide(name: options.device, content)
  }

  /// Handles are counted from 0 or 1; there is no command that lists them.
  private static let likelyHandles: [UInt32] = Array(0...16)

  static func sessions(
    on chip: UWBDevice, _ session: UInt32?, _ ids: [UInt32]
  ) async throws -> [SessionPeerConfiguration] {
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
    var ends: [SessionPeerConfiguration] = []
    for token in tokens {
      let parameters = ChipParameters(chip: chip, session: token)
      let list = try await parameters.read(parameters.all).found
      guard !list.isEmpty else { continue }
      // Since FiRa 2.0 the chip has a handle instead, and does not tell the id.
      let isID = chip.dialect.generation == .fira1
      ends.append(
        SessionPeerConfiguration(
          sessionID: isID ? token : nil,
          parameters: SessionParameters(list, dialect: chip.dialect), isReadBack: true))
    }
    return ends
  }
}
