// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import System
import UCI
import UCIReference
package import UWB
import UWBLink

/// Decodes the input line by line.
package struct DecodeSession {
  package var decoder: FrameDecoder
  package var format: FrameFormat
  package var isJSON: Bool
  package var write: (String) throws -> Void
  package var complain: (String) -> Void
  /// The number of lines that are not frames.
  package private(set) var failures = 0
  package private(set) var packets = 0
  /// Whether the input had neither a frame nor an error.
  package private(set) var isEmpty = true

  package init(
    decoder: FrameDecoder, format: FrameFormat, isJSON: Bool,
    write: @escaping (String) throws -> Void, complain: @escaping (String) -> Void
  ) {
    self.decoder = decoder
    self.format = format
    self.isJSON = isJSON
    self.write = write
    self.complain = complain
  }

  /// Decodes a line of a file, which may be blank or a comment.
  package mutating func takeLine(_ line: String, number: Int) throws {
    guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return }
    try take(line, at: FrameOrigin(name: "line", number: number))
  }

  /// Decodes the next packets of a capture. Problems of the capture are printed, but are not
  /// failures.
  package mutating func take(_ capture: Capture) throws {
    for problem in capture.problems { complain("\(problem)") }
    var messages = capture.messages[...]
    for (index, packet) in capture.packets.enumerated() {
      while let message = messages.first, message.packets <= index {
        try take(messages.removeFirst())
      }
      packets += 1
      guard packet.isWhole else {
        try fail(
          "Its length differs from the one that its header announces.",
          at: FrameOrigin(name: "packet", number: packets))
        continue
      }
      try take(packet.bytes)
    }
    for message in messages { try take(message) }
  }

  private mutating func take(_ captured: CapturedMessage) throws {
    isEmpty = false
    let message = RecordedMessage(captured)
    try write(
      isJSON
        ? format.json(message.fields(showingSecrets: format.showSecrets)) : message.description)
  }

  package mutating func take(_ text: String, at origin: FrameOrigin) throws {
    do { for frame in try FrameText.frames(text) { try take(frame) } } catch {
      guard let error = error as? FrameTextError else { throw error }
      try fail(error.description, at: origin)
    }
  }

  private mutating func take(_ frame: [UInt8]) throws {
    isEmpty = false
    let decoded = try decoder.decode(frame)
    try write(isJSON ? format.json(decoded) : format.text(decoded))
  }

  private mutating func fail(_ error: String, at origin: FrameOrigin) throws {
    failures += 1
    isEmpty = false
    if isJSON {
      try write(format.json(error: error, at: origin))
    } else {
      complain("\(origin): error: \(error)")
    }
  }

  package func finish() {
    let count = decoder.incompleteMessages
    guard count > 0 else { return }
    complain(
      count == 1
        ? "The last segment of a message is missing."
        : "The last segments of \(count) messages are missing.")
  }
}
