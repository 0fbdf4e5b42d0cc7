// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `replug`: unplugs board 0 repeatedly while a program ranges over it, and plugs it
/// in again. The program has to continue each time, without leaking a descriptor, a thread
/// or memory.
struct Replug {
  private var child: ChildProcess
  private let control: String
  private let how: String
  /// The slowest return so far in nanoseconds.
  private var slowest: UInt64 = 0
  private var total: UInt64 = 0

  /// The growth of memory, in kB, that allocators may cause on their own.
  private static let slack = 1_024
  /// A time limit that no step exceeds, even in emulation.
  private static let limit: UInt64 = 30_000_000_000

  static func run(_ arguments: [String]) {
    var arguments = arguments
    guard let divider = arguments.firstIndex(of: "--") else { fail("replug … -- PROGRAM…") }
    let program = Array(arguments[(divider + 1)...])
    arguments.removeSubrange(divider...)
    guard let control = option("--control", in: &arguments),
      let cycles = Int(option("--cycles", in: &arguments) ?? "1"), !program.isEmpty
    else { fail("replug --control FIFO [--cycles N] [--how replug|cut] [--no-return] -- PROGRAM…") }
    let how = option("--how", in: &arguments) ?? "replug"
    var replug = Replug(child: ChildProcess(program), control: control, how: how)
    if arguments.contains("--no-return") { exit(replug.end()) }
    replug.go(through: cycles)
  }

  /// Unplugs once. Returns the program's exit status.
  private mutating func end() -> Int32 {
    measurements(3)
    tell("\(how) 0")
    while !child.hasEnded { _ = child.lines(within: -1) }
    return child.wait()
  }

  private mutating func go(through cycles: Int) {
    measurements(3)
    var before = child.resources
    var most = before
    let settled = min(20, (cycles + 1) / 2)
    for cycle in 1...cycles {
      let began = monotonic()
      // The board stays unplugged for 20 to 500 ms, in the same sequence each time.
      tell("\(how) 0 \(20 + (cycle &* 7_919) % 481)")
      next("cycle \(cycle): the first measurement after the interruption") { $0 == "true" }
      let took = monotonic() - began
      slowest = max(slowest, took)
      total += took
      measurements(2)
      let now = child.resources
      most.threads = max(most.threads, now.threads)
      most.memory = max(most.memory, now.memory)
      // After a few rounds, all memory that is allocated only once is allocated.
      if cycle == settled { (before, most) = (now, now) }
      guard now.descriptors == before.descriptors || cycle < settled else {
        leaves("\(now.descriptors) descriptors after \(cycle) cycles, \(before.descriptors) before")
      }
    }
    // The pool of threads may add a thread when it is busy, and keeps it.
    guard most.threads <= before.threads + 1 else {
      leaves("up to \(most.threads) threads, \(before.threads) after the first cycles")
    }
    guard most.memory <= before.memory + Self.slack else {
      leaves("up to \(most.memory) kB of memory, \(before.memory) kB after the first cycles")
    }
    kill(child.pid, SIGINT)
    while !child.hasEnded { _ = child.lines(within: -1) }
    let status = child.wait()
    guard status == 0 else { fail("the program ended with \(status)") }
    say(
      "\(cycles) cycles; back after \(total / UInt64(cycles) / 1_000_000) ms on average, "
        + "\(slowest / 1_000_000) ms at most; from cycle \(settled) on \(before.descriptors) descriptors, "
        + "\(before.threads) threads, at most \(most.threads), \(before.memory) kB of memory, at most "
        + "\(most.memory) kB")
  }

  private func tell(_ command: String) {
    guard Control.send(command, to: control) else { leaves("\(control): \(lastError)") }
  }

  private mutating func measurements(_ count: Int) {
    for _ in 0..<count { next("a measurement") { _ in true } }
  }

  private var pending: [String] = []
  /// The column of the loss of the device before a measurement.
  private var column: Int?

  /// Returns the value of a line in `column`, or nil if the line is not a measurement.
  private mutating func isBehindGap(_ line: String) -> String? {
    let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard let column, column < fields.count else {
      column = fields.firstIndex(of: "after_interruption")
      return nil
    }
    return fields[column]
  }

  private mutating func next(_ what: String, where fits: (String) -> Bool) {
    let end = monotonic() + Self.limit
    while monotonic() < end {
      while !pending.isEmpty {
        if let word = isBehindGap(pending.removeFirst()), fits(word) { return }
      }
      guard !child.hasEnded else { fail("the program ended with \(child.wait()) before \(what)") }
      pending += child.lines(within: 1_000)
    }
    leaves("\(what) did not come within \(Self.limit / 1_000_000_000) s")
  }

  /// Reports a leak, and ends the program and this one.
  private func leaves(_ why: String) -> Never {
    kill(child.pid, SIGKILL)
    fail(why)
  }

  private init(child: ChildProcess, control: String, how: String) {
    (self.child, self.control, self.how) = (child, control, how)
  }
}
