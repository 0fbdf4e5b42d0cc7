// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB
internal import DequeModule
internal import Locking

/// The thread that writes to a link, in the order of asking, and that closes it at the end: both may
/// block, for as long as a device takes nothing.
final class LinkWriter: Sendable {
  struct Write: Sendable {
    /// Keeps the link open until everything is written.
    let link: Link
    let frames: [[UInt8]]
    /// Milliseconds for each frame.
    let timeout: Int32
    let willWrite: (@Sendable (RawSpan) -> Void)?
    let completion: @Sendable (LinkError?) -> Void
  }

  private enum Work: Sendable {
    case write(Write)
    case close(OpaqueHandle, Latch)
  }

  /// A link of CUWB on its way to the thread that closes it.
  @safe private struct OpaqueHandle: @unchecked Sendable {
    // Safe because nothing else uses the link any more.
    let raw: OpaquePointer
  }

  private let work = Locked<Deque<Work>>([])
  private let event = WakeEvent()

  /// - Throws: `LinkError` with code `threadUnavailable`.
  init(for endpoint: LinkEndpoint) throws(LinkError) {
    try SystemThread.start("uwb-writer", for: endpoint.description) { self.run() }
  }

  func submit(_ write: Write) { submit(.write(write)) }

  /// Closes the link and ends the thread. Nothing follows.
  func close(_ raw: OpaquePointer, closed: Latch) {
    unsafe submit(.close(OpaqueHandle(raw: raw), closed))
  }

  private func submit(_ work: Work) {
    self.work.withLock { $0.append(work) }
    event.wake()
  }

  private func run() {
    // In a function of its own: what was written must not be kept while the thread sleeps.
    while let isDone = doNext() { if !isDone { event.sleep() } }
  }

  /// Returns whether there was anything to do; nil when the link has been closed.
  private func doNext() -> Bool? {
    switch work.withLock({ $0.popFirst() }) {
    case nil: return false
    case .write(let write):
      let error = Self.perform(write)
      write.completion(error)
      return true
    case .close(let handle, let closed):
      unsafe cuwb_link_close(handle.raw)
      closed.open()
      return nil
    }
  }

  private static func perform(_ write: Write) -> LinkError? {
    for frame in write.frames {
      unsafe write.willWrite?(frame.span.bytes)
      let result = unsafe frame.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else {
          return cuwb_result(outcome: CUWB_INVALID, error: 0)
        }
        return unsafe cuwb_write_frame(write.link.raw, base, bytes.count, write.timeout)
      }
      guard result.outcome == CUWB_OK else {
        return LinkError(result, endpoint: write.link.endpoint)
      }
    }
    return nil
  }
}
