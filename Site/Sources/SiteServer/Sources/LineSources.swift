// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The lines of a running program: from standard input, a pipe or a terminal.
struct LineStream: LiveSource {
  let descriptor: Descriptor
  let parser: LineParser
  /// The greatest number of bytes in a delivery, so that the first line need not wait for many
  /// others.
  private static let chunk = 8192
  /// The pause in microseconds after a read that has emptied the pipe. A sender of 1,000 tags
  /// writes 10,000 times a second, and each delivery wakes the loop: one in a millisecond is
  /// enough.
  private static let pause: UInt32 = 1000

  func run(_ port: SourcePort) {
    var (parser, splitter) = (parser, LineSplitter())
    while !port.isClosed {
      switch descriptor.read(within: 100, most: Self.chunk) {
      case .nothing: continue
      case .bytes(let bytes):
        splitter.add(bytes[...])
        var items: [SourceItem] = []
        while let line = splitter.next() {
          if let item = parser.parse(line) { items.append(item) }
        }
        port.send(items)
        if bytes.count < Self.chunk { usleep(Self.pause) }
      case .end:
        if let line = splitter.rest(), let item = parser.parse(line) { port.send([item]) }
        return port.send(.ended(reason: nil))
      case .failed(let number):
        return port.send(.ended(reason: Descriptor.Failure(number: number).description))
      }
    }
  }
}

/// The lines of a file.
struct LineFile: Recording {
  private let descriptor: Descriptor
  private var parser: LineParser
  private var splitter = LineSplitter()
  private var isEnded = false

  init(_ descriptor: Descriptor, _ parser: LineParser) {
    (self.descriptor, self.parser) = (descriptor, parser)
  }

  mutating func next() -> SourceItem? {
    while true {
      if let line = isEnded ? splitter.next() ?? splitter.rest() : splitter.next() {
        if let item = parser.parse(line) { return item }
        continue
      }
      guard !isEnded else { return nil }
      switch descriptor.read(within: 0) {
      case .bytes(let bytes): splitter.add(bytes[...])
      case .nothing: continue
      case .end: isEnded = true
      case .failed(let number):
        isEnded = true
        return .state(.ended(reason: Descriptor.Failure(number: number).description))
      }
    }
  }
}

/// The lines of a running program whose times are the times of the run.
package struct TimedLines {
  enum Reading: Sendable, Hashable {
    case items([SourceItem])
    /// No whole line is available yet.
    case nothing
    case end
  }

  private let descriptor: Descriptor
  private var parser: LineParser
  private var splitter = LineSplitter()
  private var isRead = true
  private var isEnded = false

  init(_ descriptor: Descriptor, _ parser: LineParser) {
    (self.descriptor, self.parser) = (descriptor, parser)
  }

  /// Returns the items of the available lines. If there are none, waits for at most 0.1 s.
  mutating func next() -> Reading {
    guard !isEnded else { return .end }
    let reading = descriptor.read(within: isRead ? 100 : 0)
    var items: [SourceItem] = []
    isRead = true
    switch reading {
    case .nothing: return .nothing
    case .bytes(let bytes):
      isRead = false
      splitter.add(bytes[...])
      while let line = splitter.next() {
        if let item = parser.parse(line) { items.append(item) }
      }
    case .end:
      isEnded = true
      if let line = splitter.rest(), let item = parser.parse(line) { items.append(item) }
      items.append(.state(.ended(reason: nil)))
    case .failed(let number):
      isEnded = true
      items.append(.state(.ended(reason: Descriptor.Failure(number: number).description)))
    }
    return .items(items)
  }
}

/// The lines of a file or of standard input, for programs without other sources.
package struct LineInput {
  private let descriptor: Descriptor

  package init(_ path: String) throws(SourceFailure) {
    guard path != "-" else {
      descriptor = Descriptor(STDIN_FILENO, isOwned: false)
      return
    }
    do throws(Descriptor.Failure) { descriptor = try Descriptor(opening: path, O_RDONLY) } catch {
      throw SourceFailure(source: path, reason: "\(error)")
    }
    guard descriptor.kind != .folder else {
      throw SourceFailure(source: path, reason: "is a folder; a file belongs here")
    }
  }

  /// Calls a body with each line, and blocks until the end.
  ///
  /// - Returns: the reason of an early end.
  package func forEach(isStopped: () -> Bool, _ body: ([UInt8]) -> Void) -> String? {
    var splitter = LineSplitter()
    while !isStopped() {
      switch descriptor.read(within: 100) {
      case .nothing: continue
      case .bytes(let bytes):
        splitter.add(bytes[...])
        while let line = splitter.next() { body(line) }
      case .end:
        if let line = splitter.rest() { body(line) }
        return nil
      case .failed(let number):
        if let line = splitter.rest() { body(line) }
        return Descriptor.Failure(number: number).description
      }
    }
    return nil
  }
}
