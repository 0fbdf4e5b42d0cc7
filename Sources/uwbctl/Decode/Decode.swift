// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SystemPackage
import UCI
import UWB

struct Decode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decode UCI frames given in hexadecimal, or in a capture.",
    discussion: """
      Frames are read from the arguments, from a file, or else from standard input: one frame, or \
      several in a row, on a line. Blank lines and lines that begin with # are skipped. A file may \
      also be a capture (pcapng) or a log of NXP's or Android's stack. Spaces, colons, dots, dashes, \
      bars and 0x between digits are ignored. Segmented messages are joined.

      Keys are shown as <redacted>. The exit status is 65 when a line was not a whole frame, and 66 \
      when the file could not be read.
      """)

  enum VendorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp, android
  }

  @Argument(help: "Frames in hexadecimal, or the bytes of one frame.")
  var hex: [String] = []

  @Option(name: .shortAndLong, help: "Read frames from this file.", completion: .file())
  var file: String?

  @Option(help: "Output format: text, or json (one object a line).")
  var format = OutputFormat.text

  @Option(help: "Whose vendor messages these are; auto uses the chip's device information.")
  var vendor = VendorChoice.auto

  @Flag(help: "Show keys and initialisation vectors.")
  var showSecrets = false

  func validate() throws {
    if file != nil && !hex.isEmpty {
      throw ValidationError("Give frames as arguments or a file, not both.")
    }
  }

  func run() async throws {
    var session = DecodeSession(
      decoder: FrameDecoder(vendor: Dialect.Vendor(rawValue: vendor.rawValue)),
      format: FrameFormat(showSecrets: showSecrets), isJSON: format == .json,
      write: { try FileDescriptor.standardOutput.writeAll(($0 + "\n").utf8) },
      complain: { _ = try? FileDescriptor.standardError.writeAll(($0 + "\n").utf8) })
    try reporting {
      var number = 0
      if !hex.isEmpty {
        for text in FrameText.lines(arguments: hex) {
          number += 1
          try session.take(text, at: .argument(number))
        }
      } else if let file {
        let bytes = try CaptureReader.contents(ofFile: file)
        if let format = try? CaptureReader.format(of: bytes), format != .hexText {
          try session.take(CaptureReader.read(bytes))
        } else {
          for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
          }
        }
      } else {
        while let line = readLine() {
          number += 1
          try session.takeLine(line, number: number)
        }
      }
      session.finish()
      if session.failures > 0 { throw Failure(.data) }
    }
  }
}

/// Decodes the input line by line.
struct DecodeSession {
  var decoder: FrameDecoder
  var format: FrameFormat
  var isJSON: Bool
  var write: (String) throws -> Void
  var complain: (String) -> Void
  /// The number of lines that are not frames.
  private(set) var failures = 0

  /// A line of a file, which may be blank or a comment.
  mutating func takeLine(_ line: String, number: Int) throws {
    guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return }
    try take(line, at: .line(number))
  }

  /// Decodes all packets of a capture; its problems are printed, but are not failures.
  mutating func take(_ capture: Capture) throws {
    for problem in capture.problems { complain("\(problem)") }
    for (index, packet) in capture.packets.enumerated() {
      guard packet.isWhole else {
        failures += 1
        let error = "Its length differs from the one that its header announces."
        if isJSON {
          try write(format.json(error: error, at: .packet(index + 1)))
        } else {
          complain("\(FrameOrigin.packet(index + 1)): error: \(error)")
        }
        continue
      }
      let decoded = try decoder.decode(packet.bytes)
      try write(isJSON ? format.json(decoded) : format.text(decoded))
    }
  }

  mutating func take(_ text: String, at origin: FrameOrigin) throws {
    do {
      for frame in try FrameText.frames(text) {
        let decoded = try decoder.decode(frame)
        try write(isJSON ? format.json(decoded) : format.text(decoded))
      }
    } catch let error as FrameTextError {
      failures += 1
      if isJSON {
        try write(format.json(error: error.description, at: origin))
      } else {
        complain("\(origin): error: \(error)")
      }
    }
  }

  func finish() {
    let count = decoder.incompleteMessages
    guard count > 0 else { return }
    complain(
      count == 1
        ? "The last segment of a message is missing."
        : "The last segments of \(count) messages are missing.")
  }
}
