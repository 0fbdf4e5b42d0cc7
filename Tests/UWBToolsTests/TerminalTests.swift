// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBTools

/// Text from devices and files never contains control characters of a terminal, in either format;
/// and the JSON is valid.
@Suite(.ownThreads) struct TerminalTests {
  /// The frames that the fuzzers start from.
  private static let frames: [[UInt8]] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = folder.appendingPathComponent("Fuzz/Frames.txt").path
    return (try? CaptureReader.read(file: path))?.packets.map(\.bytes) ?? []
  }()

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  private func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    // Lines end with a line feed, and contain no other character of the sets C0 and C1.
    scalar != "\n" && (scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value))
  }

  /// Unchanged frames, and frames with bytes of escape sequences inserted, in hexadecimal.
  private static let lines: [String] = {
    var generator = Generator(state: 0x1B)
    let sequences: [[UInt8]] = [
      Array("\u{1B}[2J".utf8), [0x9B, 0x32, 0x4A], [0xC2, 0x9B], [0x07], [0x0D], [0x00],
      Array("\u{1B}]0;x\u{07}".utf8),
    ]
    return frames.flatMap { frame -> [[UInt8]] in
      var inputs = [frame]
      for _ in 0..<40 where frame.count > 6 {
        var changed = frame
        let sequence = sequences.randomElement(using: &generator)!
        let at = Int.random(in: 4..<frame.count, using: &generator)
        for (offset, byte) in sequence.enumerated() where at + offset < changed.count {
          changed[at + offset] = byte
        }
        inputs.append(changed)
      }
      return inputs
    }.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
  }()

  @Test(arguments: [true, false], [Dialect.Vendor.unknown, .qorvo, .nxp, .android])
  func decodedFrames(_ isJSON: Bool, _ vendor: Dialect.Vendor) throws {
    #expect(Self.frames.count > 100)
    final class Lines { var all: [String] = [] }
    let written = Lines()
    var session = DecodeSession(
      decoder: FrameDecoder(vendor: vendor), format: FrameFormat(showSecrets: true),
      isJSON: isJSON, write: { written.all.append($0) }, complain: { written.all.append($0) })
    for (index, line) in Self.lines.enumerated() {
      try session.takeLine(line, number: index + 1)
    }
    try session.takeLine("60 01 \u{1B}[2J", number: 1)
    session.finish()
    #expect(written.all.count > 1_000)
    for line in written.all {
      if let scalar = line.unicodeScalars.first(where: isObeyed) {
        Issue.record("\(scalar.value) in \(line.debugDescription)")
      }
      if isJSON, line.hasPrefix("{") {
        let isObject =
          (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] != nil
        #expect(isObject, "\(line.debugDescription)")
      }
    }
  }
}
