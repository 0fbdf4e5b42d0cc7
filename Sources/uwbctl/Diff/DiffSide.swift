// SPDX-License-Identifier: Apache-2.0

import SessionProfiles
import SystemPackage
import UCI
import UWBCapture

/// One side of a comparison: the last configuration of each session in a file.
struct DiffSide {
  var name: String
  var ends: [SessionEnd]

  /// A profile where the file reads as one, a capture otherwise.
  init(file path: String) throws {
    name = path
    let octets = try CaptureReader.contents(ofFile: path)
    // A profile begins with a brace or a comment; nothing a capture begins with does.
    let first = octets.first { !" \t\r\n".utf8.contains($0) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "/") {
      let profile = try SessionProfile(octets)
      ends = [
        SessionEnd(sessionID: profile.sessionID, parameters: profile.parameters(for: .assumed))
      ]
    } else {
      var sessions = CapturedSessions()
      for packet in try CaptureReader.read(octets).packets { sessions.take(packet) }
      ends = sessions.ends
    }
  }
}
