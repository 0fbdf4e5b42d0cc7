// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import SiteServer

@Suite("Output that nobody reads")
struct OutputQueueTests {
  private final class Output: Sendable {
    let text = Mutex("")
    let began = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)
  }

  @Test("a reader that stands still costs the oldest lines, which are counted")
  func blocked() throws {
    let output = Output()
    let queue = OutputQueue(bound: 100) { text throws(SinkFailure) in
      output.began.signal()
      output.gate.wait()
      output.text.withLock { $0 += text }
    }
    try queue.add("first\n")
    output.began.wait()
    // Each line has ten octets, and ten lines wait.
    for number in 10..<60 { try queue.add("line   \(number)\n") }
    #expect(queue.dropped == 40)
    for _ in 0..<2 { output.gate.signal() }
    try queue.finish(within: 60)
    let lines = output.text.withLock { $0.split(separator: "\n").map(String.init) }
    #expect(lines.first == "first" && lines.count == 11 && lines.last == "line   59")
    #expect(queue.dropped == 40)
  }

  @Test("the end does not wait for a reader that stands still")
  func end() throws {
    let output = Output()
    let queue = OutputQueue { text throws(SinkFailure) in
      output.began.signal()
      output.gate.wait()
    }
    try queue.add("first\n")
    output.began.wait()
    try queue.add("second\nthird\n")
    try queue.finish(within: 0)
    // The first line counts as dropped, too: the reader may have only a part of the line.
    #expect(queue.dropped == 3)
    output.gate.signal()
  }

  @Test("the failure of a write is thrown by the next text and by the end")
  func failure() throws {
    let queue = OutputQueue { _ throws(SinkFailure) in throw SinkFailure("the disk is full") }
    try queue.add("first\n")
    #expect(throws: SinkFailure("the disk is full")) { try queue.finish(within: 60) }
    #expect(throws: SinkFailure("the disk is full")) { try queue.add("second\n") }
  }
}
