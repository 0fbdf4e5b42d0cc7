// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import UWB
import SystemPackage
import UCI
import UCIReference

/// One side of a comparison.
struct DiffSide {
  /// What is compared.
  enum Content {
    /// The last configuration of each session.
    case sessions([SessionPeerConfiguration])
    /// The capabilities of a chip.
    case capabilities([TLV], Dialect)
  }

  var name: String
  var content: Content

  /// Reads a profile, the output of `caps --format json`, or a capture.
  init(file path: String) throws {
    name = path
    let bytes = try CaptureReader.contents(ofFile: path)
    // Profiles begin with a brace or a comment, captures do not.
    let text = bytes.drop { " \t\r\n".utf8.contains($0) }
    if text.starts(with: #"{"id":"#.utf8) {
      content = .capabilities(try Self.printedCapabilities(bytes), .assumed)
    } else if text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "/") {
      let profile = try SessionProfile(bytes)
      content = .sessions([
        SessionPeerConfiguration(
          sessionID: profile.sessionID, parameters: profile.parameters(for: .assumed))
      ])
    } else {
      var sessions = CapturedSessions()
      for packet in try CaptureReader.read(bytes).packets { sessions.take(packet) }
      if let list = sessions.capabilities, sessions.ends.isEmpty {
        content = .capabilities(list, sessions.dialect)
      } else {
        content = .sessions(sessions.ends)
      }
    }
  }

  init(name: String, _ content: Content) {
    self.name = name
    self.content = content
  }

  /// What is printed for a value that this side does not have; nil where capabilities are compared
  /// with a session, as they have no such values.
  func missing(against other: DiffSide) -> String? {
    switch (content, other.content) {
    case (.capabilities, .sessions): nil
    case (.capabilities, .capabilities): "not reported"
    case (.sessions(let ends), _): ends.contains(where: \.isReadBack) ? "not reported" : "not set"
    }
  }

  /// One line of `caps --format json`.
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
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)),
        let value = try? FrameText.bytes(line.bytes)
      else { throw CaptureError.notACapture }
      return TLV(line.id, value, subID: line.subID)
    }
  }
}
