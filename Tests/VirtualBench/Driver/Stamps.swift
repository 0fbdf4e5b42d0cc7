// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The time at which each measurement of a chip's latest session was ready for its host: sequence
/// number and nanoseconds of CLOCK_MONOTONIC.
struct Stamps {
  private var times: [(sequence: UInt32, time: UInt64)] = []

  /// Records the time of a packet if it is a SESSION_INFO_NTF, which begins with its sequence
  /// number. Source: FiRa UCI.
  mutating func note(_ packet: [UInt8]) {
    guard packet.count > 8, packet[0] == 0x62, packet[1] & 0x3F == 0x00 else { return }
    let sequence = (0..<4).reduce(UInt32(0)) { $0 | UInt32(packet[4 + $1]) << (8 * $1) }
    if sequence == 0 { times = [] }
    times.append((sequence, monotonic()))
  }

  /// One line for each measurement.
  func save(to path: String) {
    Stamps.save(times.map { "\($0.sequence) \($0.time)" }, to: path)
  }

  /// Writes lines into a file, which appears under its name once it is complete.
  static func save(_ lines: [String], to path: String) {
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    let descriptor = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    var at = 0
    while at < bytes.count {
      let count = write(descriptor, Array(bytes[at...]), bytes.count - at)
      guard count > 0 else { fail("\(path): \(lastError)") }
      at += count
    }
    close(descriptor)
    guard rename(path + ".new", path) == 0 else { fail("\(path): \(lastError)") }
  }

  /// Returns the lines of a file that `save` wrote.
  static func load(_ path: String) -> [UInt32: UInt64] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { fail("\(path): \(lastError)") }
    defer { close(descriptor) }
    var buffer = LineBuffer()
    var times: [UInt32: UInt64] = [:]
    while let lines = buffer.lines(from: descriptor) {
      for line in lines {
        let words = line.split(separator: " ")
        guard words.count == 2, let sequence = UInt32(words[0]), let time = UInt64(words[1]) else {
          fail("\(path): '\(line)'")
        }
        if times.updateValue(time, forKey: sequence) != nil { fail("\(path): \(sequence) twice") }
      }
    }
    return times
  }
}

/// `latency LABEL HAD TAKEN ROUNDS TABLE`: checks that the program received every measurement of
/// the chip, computes the latency of each measurement, and adds a line to a table.
enum Latency {
  static func run(_ arguments: [String]) {
    guard arguments.count == 5, let rounds = Int(arguments[3]) else {
      fail("latency LABEL HAD TAKEN ROUNDS TABLE")
    }
    let (label, had, taken) = (
      arguments[0], Stamps.load(arguments[1]), Stamps.load(arguments[2])
    )
    guard let last = taken.keys.max(), taken.count >= rounds else {
      fail("\(taken.count) measurements were taken, not \(rounds)")
    }
    let lost = had.keys.filter { $0 <= last && taken[$0] == nil }.sorted()
    guard lost.isEmpty else { fail("\(lost.count) were lost: \(lost.prefix(20))") }
    var ways: [UInt64] = []
    for (sequence, time) in taken {
      guard let begin = had[sequence], begin <= time else {
        fail("\(sequence) was taken, but the chip has not had it by then")
      }
      ways.append(time - begin)
    }
    ways.sort()
    func microseconds(_ part: Double) -> String {
      right("\(ways[min(ways.count - 1, Int(part * Double(ways.count)))] / 1_000)", 8)
    }
    let row =
      label + String(repeating: " ", count: max(1, 44 - label.count)) + right("\(ways.count)", 7)
      + microseconds(0.5) + microseconds(0.99) + microseconds(1)
    say(row)
    let descriptor = open(arguments[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    say(row, on: descriptor)
    close(descriptor)
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
