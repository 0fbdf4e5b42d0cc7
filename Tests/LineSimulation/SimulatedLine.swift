// SPDX-License-Identifier: Apache-2.0

package import CUWB

/// The way in which bytes reach the reader.
package enum Arrival: CaseIterable {
  /// All bytes at once, in reads as large as the room.
  case atOnce
  /// Bytes without a pause, in reads of 1 to 300 bytes.
  case backToBack
  /// A frame in each read, every 200 ms.
  case slow
  /// A frame in each read, every 20 ms, so that no silence is long.
  case fast
  /// Transfers of up to 64 bytes, 5 ms apart, with a frame every 100 ms.
  case transfers
}

/// Bytes and the time at which they arrive.
package typealias Chunk = (at: UInt64, bytes: ArraySlice<UInt8>)

package let millisecond: UInt64 = 1_000_000

/// A framer fed by a simulated clock.
package struct SimulatedLine: ~Copyable {
  private let framer: OpaquePointer
  package private(set) var now: UInt64 = 1_000 * millisecond
  package private(set) var frames: [[UInt8]] = []
  package private(set) var receptions: [cuwb_frame] = []

  package init(_ framing: cuwb_framing = cuwb_framing_default()) {
    guard let framer = cuwb_framer_create(framing, now) else { fatalError("no memory") }
    self.framer = framer
  }

  deinit {
    cuwb_framer_destroy(framer)
  }

  package var skipped: UInt64 { cuwb_framer_skipped(framer) }
  package var resynchronisations: UInt64 { cuwb_framer_resynchronisations(framer) }

  private mutating func drain() {
    var found = cuwb_found()
    while cuwb_framer_find(framer, &found) {
      let bytes = UnsafeBufferPointer(start: found.bytes, count: Int(found.frame.length))
      frames.append(Array(bytes))
      receptions.append(found.frame)
      cuwb_framer_take(framer)
    }
  }

  /// Lets time pass until `time`, without bytes.
  package mutating func quiet(until time: UInt64) {
    drain()
    while true {
      let deadline = cuwb_framer_deadline(framer)
      guard deadline <= time else { break }
      now = max(now, deadline)
      cuwb_framer_quiet(framer, now)
      drain()
    }
    now = max(now, time)
    cuwb_framer_quiet(framer, now)
    drain()
  }

  package mutating func quiet(milliseconds: UInt64) {
    quiet(until: now + milliseconds * millisecond)
  }

  /// Lets bytes arrive in one read, or in as few reads as they fit into.
  package mutating func arrive(_ bytes: some Sequence<UInt8>) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      var room = 0
      let memory = cuwb_framer_room(framer, &room)
      precondition(room > 0)
      let piece = rest.prefix(room)
      piece.withUnsafeBufferPointer { memory.update(from: $0.baseAddress!, count: $0.count) }
      cuwb_framer_arrived(framer, piece.count, now)
      drain()
      rest = rest.dropFirst(piece.count)
    }
  }

  /// Lets bytes arrive at their times, and then a long silence.
  package mutating func play(_ chunks: [Chunk]) {
    let start = now
    for chunk in chunks {
      quiet(until: start + chunk.at)
      arrive(chunk.bytes)
    }
    quiet(milliseconds: 1_000)
  }
}

/// Returns the bytes of all pieces.
private func joined(_ pieces: [[UInt8]]) -> ArraySlice<UInt8> {
  pieces.reduce(into: []) { $0 += $1 }
}

/// Splits pieces, each a whole or damaged frame, into single reads.
package func chunks(
  of pieces: [[UInt8]], _ arrival: Arrival, using generator: inout SeededGenerator
) -> [Chunk] {
  switch arrival {
  case .atOnce:
    return [(0, joined(pieces))]
  case .backToBack:
    var chunks: [Chunk] = []
    var rest = joined(pieces)
    var at: UInt64 = 0
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...300, using: &generator))
      chunks.append((at, piece))
      rest = rest.dropFirst(piece.count)
      at += 2 * millisecond
    }
    return chunks
  case .slow, .fast:
    let period: UInt64 = arrival == .slow ? 200 : 20
    return pieces.enumerated().map { (UInt64($0.offset) * period * millisecond, $0.element[...]) }
  case .transfers:
    var chunks: [Chunk] = []
    var at: UInt64 = 0
    for piece in pieces {
      var rest = piece[...]
      while !rest.isEmpty {
        chunks.append((at, rest.prefix(64)))
        rest = rest.dropFirst(64)
        at += 5 * millisecond
      }
      at += 100 * millisecond
    }
    return chunks
  }
}

/// Damage on the line.
package enum Damage: CaseIterable {
  case byteDropped
  case byteInserted
  case headerBitFlipped

  /// Returns the damaged frame.
  package func done(to frame: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
    var frame = frame
    switch self {
    case .byteDropped:
      frame.remove(at: Int.random(in: 0..<frame.count, using: &generator))
    case .byteInserted:
      frame.insert(
        UInt8.random(in: 0...255, using: &generator),
        at: Int.random(in: 0..<frame.count, using: &generator))
    case .headerBitFlipped:
      frame[Int.random(in: 0..<4, using: &generator)] ^=
        1 << UInt8.random(in: 0..<8, using: &generator)
    }
    return frame
  }
}

/// Compares the sent frames with the received ones.
package struct Comparison {
  package var lost: [Int] = []
  package var bogus = 0

  package init(sent: [[UInt8]], received: [[UInt8]]) {
    var next = 0
    for frame in received {
      if let match = sent[next...].prefix(12).firstIndex(of: frame) {
        lost += next..<match
        next = match + 1
      } else {
        bogus += 1
      }
    }
    lost += next..<sent.count
  }
}
