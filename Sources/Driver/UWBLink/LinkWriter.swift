// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB
internal import DequeModule
internal import System

/// Writes to a link in order, and closes it at the end.
///
/// Both run on blocking threads, because a device that accepts no data blocks them. An idle link
/// has no thread.
final class LinkWriter: Sendable {
  struct Write: Sendable {
    /// The link, which stays open until all frames are written.
    let link: Link
    let frames: [[UInt8]]
    /// The time-out for each frame in milliseconds.
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

  private struct State {
    var work: Deque<Work> = []
    /// Whether a thread runs, or is about to run.
    var isRunning = false
  }
  private let state = Locked(State())
  // The number of threads is unlimited, so that devices that accept no data do not block other
  // devices.
  private static let threads = BlockingThreads(limit: .max)

  func submit(_ write: Write) { submit(.write(write)) }

  /// Closes the link after all earlier requests. It must be the last request.
  func close(_ raw: OpaquePointer, closed: Latch) {
    unsafe submit(.close(OpaqueHandle(raw: raw), closed))
  }

  private func submit(_ work: Work) {
    let starts = state.withLock { state in
      state.work.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard starts else { return }
    Self.threads.run(
      BlockingThreads.Job(
        body: { while self.doNext(nil) {} },
        fail: { failure in
          let error = LinkError(failure, endpoint: "a blocking call")
          while self.doNext(error) {}
        }))
  }

  /// Runs the next request; returns whether there was one.
  ///
  /// A separate function, so that written frames are released before the thread sleeps.
  ///
  /// - Parameter failure: The error that prevented a thread. Requests then fail, and the link is
  ///   closed on the calling thread.
  private func doNext(_ failure: LinkError?) -> Bool {
    let next = state.withLock { state in
      let next = state.work.popFirst()
      state.isRunning = next != nil
      return next
    }
    switch next {
    case nil: return false
    case .write(let write): write.completion(failure ?? Self.perform(write))
    case .close(let handle, let closed):
      unsafe cuwb_link_close(handle.raw)
      closed.open()
    }
    return true
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
