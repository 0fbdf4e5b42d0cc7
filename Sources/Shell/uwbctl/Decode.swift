// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import System
import UCI
import UCIReference
import UWB
import UWBLink

struct Decode: ReportingCommand {
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

  @Option(help: "Output format; json is one object a line.")
  var format = OutputFormat.text

  @Option(help: "The vendor of vendor messages; auto uses the chip's device information.")
  var vendor = VendorChoice.auto

  @Flag(help: "Show keys and initialisation vectors.")
  var showSecrets = false

  func validate() throws {
    if file != nil && !hex.isEmpty {
      throw ValidationError("Give frames as arguments or a file, not both.")
    }
  }

  func execute() throws {
    var session = DecodeSession(
      decoder: FrameDecoder(vendor: Dialect.Vendor(rawValue: vendor.rawValue)),
      format: FrameFormat(showSecrets: showSecrets), isJSON: format == .json,
      write: {
        standardOutput.write($0 + "\n")
        if Ending.isOutputLost { throw CancellationError() }
      },
      complain: { note($0) })
    if !hex.isEmpty {
      for (index, text) in FrameText.lines(arguments: hex).enumerated() {
        try session.take(text, at: FrameOrigin(name: "argument", number: index + 1))
      }
    } else if let file {
      try readFile(file, &session)
    } else {
      try readStandardInput(&session)
    }
    session.finish()
    if session.failures > 0 { throw Failure(.data) }
  }

  /// Decodes a file while it grows, so that the output of a running program is decoded at once.
  private func readFile(_ file: String, _ session: inout DecodeSession) throws {
    var number = 0
    do {
      try CaptureReader.read(asItComes: file) {
        try session.take($0)
      } line: { line in
        number += 1
        try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
      }
    } catch CaptureError.empty {}
  }

  /// Decodes standard input, in which each line is a frame or an error.
  private func readStandardInput(_ session: inout DecodeSession) throws {
    do {
      var lines = try InputLines("-")
      var number = 0
      while let line = try lines.next() {
        number += 1
        try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
      }
    } catch let error as FileError {
      if case .tooLong(let limit) = error {
        throw Failure(.noInput, "A line of standard input has more than \(limit) bytes.")
      }
      throw Failure(.noInput, "Standard input cannot be read: \(error).")
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
  private(set) var packets = 0

  /// Decodes a line of a file, which may be blank or a comment.
  mutating func takeLine(_ line: String, number: Int) throws {
    guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return }
    try take(line, at: FrameOrigin(name: "line", number: number))
  }

  /// Decodes the next packets of a capture. Problems of the capture are printed, but are not
  /// failures.
  mutating func take(_ capture: Capture) throws {
    for problem in capture.problems { complain("\(problem)") }
    for packet in capture.packets {
      packets += 1
      guard packet.isWhole else {
        try fail(
          "Its length differs from the one that its header announces.",
          at: FrameOrigin(name: "packet", number: packets))
        continue
      }
      try take(packet.bytes)
    }
  }

  mutating func take(_ text: String, at origin: FrameOrigin) throws {
    do { for frame in try FrameText.frames(text) { try take(frame) } } catch {
      guard let error = error as? FrameTextError else { throw error }
      try fail(error.description, at: origin)
    }
  }

  private mutating func take(_ frame: [UInt8]) throws {
    let decoded = try decoder.decode(frame)
    try write(isJSON ? format.json(decoded) : format.text(decoded))
  }

  private mutating func fail(_ error: String, at origin: FrameOrigin) throws {
    failures += 1
    if isJSON {
      try write(format.json(error: error, at: origin))
    } else {
      complain("\(origin): error: \(error)")
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

struct DecodedFrame {
  var header: PacketHeader
  var name: String
  /// The fields of the frame or, at the end of a segmented message, of the whole message.
  var fields: [Field]
  /// The payload length of the whole message, if this frame ends a segmented one.
  var messageLength: Int?
}

/// Decodes frames in order: joins segments, and detects the dialect from the chip's messages.
struct FrameDecoder {
  private(set) var dialect: Dialect
  private let learnsVendor: Bool
  /// A reassembler for each direction, because a notification may come between the segments of a
  /// command.
  private var fromChip = Reassembler()
  private var toChip = Reassembler()
  /// The number of segmented messages without a last segment.
  private var endless = 0

  /// Creates a decoder.
  ///
  /// - Parameter vendor: The vendor of vendor messages; nil to use the device information.
  init(vendor: Dialect.Vendor? = nil) {
    dialect = Dialect(vendor: vendor ?? .unknown)
    learnsVendor = vendor == nil
  }

  /// The number of segmented messages with missing segments.
  var incompleteMessages: Int {
    var copies = [fromChip, toChip]
    for index in copies.indices { copies[index].reset() }
    return copies.reduce(endless) { $0 + $1.dropped }
  }

  /// Decodes one frame.
  ///
  /// - Parameter frame: Exactly one frame, with its header.
  mutating func decode(_ frame: [UInt8]) throws -> DecodedFrame {
    let bytes = frame.span.bytes
    var header = try PacketHeader(parsing: bytes)
    header.payloadLength = frame.count - PacketHeader.length
    let payload = bytes.extracting(PacketHeader.length..<bytes.byteCount)
    func message(_ payload: RawSpan) -> Message {
      Message(type: header.type, opcode: header.opcode, payload: payload, dialect: dialect)
    }
    let isToChip =
      header.type == .command || header.type == .data && header.opcode == DataMessageSend.opcode
    let joined =
      isToChip
      ? toChip.take(header, whole: payload) { (message($0), $0.byteCount) }
      : fromChip.take(header, whole: payload) { (message($0), $0.byteCount) }
    guard let (whole, length) = joined else {
      let bytes = Array(frame.dropFirst(PacketHeader.length))
      let isSecret = Message.canCarryKeys(
        type: header.type, opcode: header.opcode, dialect: dialect)
      return DecodedFrame(
        header: header, name: name(header),
        fields: [Field("payload", isSecret ? .secret(bytes) : .bytes(bytes))])
    }
    var decoded = DecodedFrame(header: header, name: "", fields: [])
    var found = whole
    if length > payload.byteCount {
      // Frames of a log may be incomplete. A frame that decodes on its own, but not as the end of a
      // message, is a message of its own.
      let alone = message(payload)
      if alone.isExact, !whole.isExact {
        endless += 1
        found = alone
      } else {
        decoded.messageLength = length
      }
    }
    learn(from: found)
    decoded.name = name(header)
    decoded.fields = found.fields(dialect: dialect)
    return decoded
  }

  private func name(_ header: PacketHeader) -> String {
    MessageCatalog.name(type: header.type, opcode: header.opcode, dialect: dialect)
  }

  private mutating func learn(from message: Message) {
    let vendor = dialect.vendor
    dialect.learn(from: message)
    if !learnsVendor { dialect.vendor = vendor }
  }
}

extension Message {
  /// Whether the bytes match the layout exactly.
  fileprivate var isExact: Bool {
    if case .opaque = content { return false }
    return trailing.isEmpty
  }
}

extension Reassembler {
  /// Passes the payload of a complete message to `body`; returns nil while the message is
  /// incomplete.
  mutating func take<R>(
    _ header: PacketHeader, whole payload: RawSpan, _ body: (RawSpan) -> R
  ) -> R? {
    switch take(header, payload: payload) {
    case .incomplete: nil
    case .whole: body(payload)
    case .completed: withPayload(of: header.type, body)
    }
  }
}

/// The reason why a line of text does not consist of whole frames.
struct FrameTextError: Error, CustomStringConvertible {
  /// The cause in one sentence, without the line itself, which may contain keys.
  let description: String

  init(_ description: String) { self.description = description }
}

enum FrameText {
  /// Parses hexadecimal digits. Skips spaces, colons, dots, commas, dashes, bars and `0x`.
  static func bytes(_ text: some StringProtocol) throws(FrameTextError) -> [UInt8] {
    var digits: [UInt8] = []
    for character in text {
      // The "0" of "0x" already counts as a digit.
      if character == "x" || character == "X", digits.last == 0 {
        digits.removeLast()
        continue
      }
      if character.isWhitespace || ":.,-|_".contains(character) { continue }
      guard character.isASCII, let digit = character.hexDigitValue else {
        throw FrameTextError(
          "\"\(printable(String(character)))\" is not a hexadecimal digit; write each byte as two "
            + "digits, 0 to f.")
      }
      digits.append(UInt8(digit))
    }
    guard !digits.isEmpty else {
      throw FrameTextError("The line is empty; a frame has at least 4 bytes.")
    }
    guard digits.count.isMultiple(of: 2) else {
      throw FrameTextError(
        "The number of hexadecimal digits is odd (\(digits.count)); each byte has two.")
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Splits a line into frames, without remaining bytes.
  static func frames(_ text: some StringProtocol) throws(FrameTextError) -> [[UInt8]] {
    var rest = try bytes(text)[...]
    var frames: [[UInt8]] = []
    while !rest.isEmpty {
      guard let length = length(of: rest), length <= rest.count,
        frames.isEmpty || isPlausible(rest)
      else {
        // An error in the first frame is more helpful than one in the rest.
        let whole = frames.reduce(0) { $0 + $1.count }
        let announced = { (count: Int) in
          "The header announces a frame of \(count) bytes, but there"
        }
        if whole > 0 {
          throw FrameTextError(
            announced(whole) + " are \(whole + rest.count), and the rest is not a whole frame.")
        }
        guard let length = length(of: rest) else {
          throw FrameTextError(
            "The line has \(rest.count) bytes; the header of a frame alone has 4.")
        }
        throw FrameTextError(announced(length) + " are only \(rest.count).")
      }
      frames.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return frames
  }

  /// Returns the length of the first frame, or nil if its header is incomplete.
  private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(bytes)
    guard let header = try? PacketHeader(parsing: bytes.span.bytes) else { return nil }
    let announced = PacketHeader.length + header.payloadLength
    return announced > bytes.count && header.hasShortLength(of: bytes.span.bytes)
      ? bytes.count : announced
  }

  /// Reports whether the bytes after a whole frame look like another frame.
  private static func isPlausible(_ bytes: ArraySlice<UInt8>) -> Bool {
    let first = bytes.startIndex
    switch bytes[first] >> 5 {
    case 0: return bytes[first] & 15 != 0
    case 1...3: return bytes[first + 2] == 0 || bytes[first + 1] & 0x80 != 0
    default: return false
    }
  }

  /// Returns the arguments as lines: one line each, or one line of all arguments if each is a
  /// single byte.
  static func lines(arguments: [String]) -> [String] {
    let areBytes = arguments.allSatisfy { argument in
      let digits = argument.hasPrefix("0x") ? argument.dropFirst(2) : argument[...]
      return digits.count == 2 && digits.allSatisfy(\.isHexDigit)
    }
    return areBytes ? [arguments.joined()] : arguments
  }
}
