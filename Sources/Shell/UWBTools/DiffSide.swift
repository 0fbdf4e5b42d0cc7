// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandSupport
import Glibc
import JSON
import SystemPackage
package import UCI
package import UCIReference
import UWB
import UWBLink

package struct DiffSide {
  package enum Content {
    /// The last configuration of each session.
    case sessions([SessionPeerConfiguration])
    case capabilities([TLV], Dialect)
  }

  package var name: String
  package var content: Content

  /// Reads a profile, the log of an Android phone, the output of `caps --format json`, or a
  /// capture.
  package init(file path: String) throws {
    name = path
    content = try Self.content(ofFile: path)
  }

  private static func content(ofFile path: String) throws -> Content {
    let bytes = try CaptureReader.contents(ofFile: path)
    // Profiles begin with a brace or a comment, captures do not.
    let text = bytes.drop { " \t\r\n".utf8.contains($0) }
    if text.starts(with: #"{"id":"#.utf8) {
      return .capabilities(try printedCapabilities(bytes), .assumed)
    }
    if text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "/") {
      return sessions(try SessionProfile(bytes))
    }
    // A log with packets shows the bytes that the chip received.
    if try CaptureReader.format(of: bytes) == .hexText,
      let profile = try SessionProfile(androidLog: bytes)
    {
      return sessions(profile)
    }
    var sessions = CapturedSessions()
    for packet in try CaptureReader.read(bytes).packets { sessions.take(packet) }
    guard let list = sessions.capabilities, sessions.ends.isEmpty else {
      return .sessions(sessions.ends)
    }
    return .capabilities(list, sessions.dialect)
  }

  private static func sessions(_ profile: SessionProfile) -> Content {
    .sessions([
      SessionPeerConfiguration(
        sessionID: profile.sessionID, parameters: profile.parameters(for: .assumed))
    ])
  }

  /// Returns the text in place of a value that this side lacks; nil to omit it. Capabilities do not
  /// have the values of sessions.
  package func missing(against other: DiffSide) -> String? {
    switch (content, other.content) {
    case (.capabilities, .sessions): nil
    case (.capabilities, .capabilities): "not reported"
    case (.sessions(let ends), _): ends.contains(where: \.isReadBack) ? "not reported" : "not set"
    }
  }

  /// A line of `caps --format json`.
  private struct Line: Decodable {
    var id: UInt8
    var subID: UInt8?
    var bytes: String

    enum CodingKeys: String, CodingKey {
      case id
      case subID = "sub_id"
      case bytes = "octets"
    }
  }

  private static func printedCapabilities(_ bytes: [UInt8]) throws -> [TLV] {
    try bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { text in
      guard let line = try? JSONNode(Array(text), .strict).decode(Line.self, ignoresUnknown: true),
        let value = try? FrameText.bytes(line.bytes)
      else { throw CaptureError.notACapture }
      return TLV(line.id, value, subID: line.subID)
    }
  }
}

extension DiffSide {
  /// Reports whether a text names a device rather than a file: a form of `--device`, or a path
  /// below /dev.
  package static func isDevice(_ text: String) -> Bool {
    if text == DeviceOptions.simulated { return true }
    if LinkEndpoint.schemes.contains(where: { text.hasPrefix($0 + ":") }) { return true }
    var status = stat()
    guard unsafe stat(String(text.prefix { $0 != "?" }), &status) == 0 else {
      return text.hasPrefix("/dev/")
    }
    return status.st_mode & S_IFMT == S_IFCHR
  }

  /// Reads the sessions of this user's running `range` commands with a device; nil without any.
  package init?(runningOn device: String, session: UInt32?) {
    guard device != DeviceOptions.simulated else { return nil }
    let ends = RunningRanges().ends(on: device, session: session)
    guard !ends.isEmpty else { return nil }
    (name, content) = (device, .sessions(ends))
  }

  /// Reads the sessions or capabilities of a device. Without a reset, its sessions continue.
  ///
  /// - Parameters:
  ///   - session: The handle or ID of the session on the chip; nil to search for it.
  ///   - ids: The session IDs of the other side, which older chips use as handles.
  package init(
    device: String, _ chip: ChipOptions, capabilities: Bool, resets: Bool, session: UInt32?,
    ids: [UInt32]
  ) async throws {
    name = device
    content = try await DeviceOptions.naming(device, chip).withDevice(
      resetPolicy: resets ? .reset : .keepState,
      resetAdvice: capabilities
        ? nil : "Its sessions are lost; its capabilities can be compared: --capabilities --reset."
    ) { chip, _ in
      capabilities
        ? .capabilities(chip.capabilities, chip.dialect)
        : Content.sessions(try await Self.sessions(on: chip, session, ids))
    }
  }

  /// The handles to try. Chips count from 0 or 1, and no command lists the handles.
  private static let likelyHandles: [UInt32] = Array(0...16)

  private static func sessions(
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
      // Since FiRa 2.0 the chip uses a handle, and does not report the ID.
      let isID = chip.dialect.generation == .fira1
      ends.append(
        SessionPeerConfiguration(
          sessionID: isID ? token : nil,
          parameters: SessionParameters(list, dialect: chip.dialect), isReadBack: true))
    }
    return ends
  }
}
