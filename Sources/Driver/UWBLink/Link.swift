// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import System
internal import SystemPackage

/// An open link to one chip: frames are written from any thread, and read by one `FrameReader`.
///
/// Closes the descriptor when the last reference goes; `closed` tells when that is done.
@safe package final class Link: @unchecked Sendable {
  // Safe because CUWB allows one reading and one writing thread at a time and `wake` from any: only
  // `writer` writes, and only the one FrameReader reads.
  let raw: OpaquePointer
  private let writer = LinkWriter()

  package let endpoint: LinkEndpoint
  /// Opens when the descriptor has been closed, after the last reference to the link has gone.
  package let closed = Latch()

  // Devices that this process has let go of, but whose descriptors may still be open.
  private static let closing = Locked<[(endpoint: LinkEndpoint, closed: Latch)]>([])

  /// Announces that the last references are about to go: `open` waits until that has happened, so
  /// that a device that was dropped without being closed can be opened again at once.
  package func willClose() {
    Self.closing.withLock { list in
      list.removeAll { $0.closed.isOpen }
      list.append((endpoint, closed))
    }
  }

  /// Opens a link on a blocking thread. Cancellation ends the wait at once.
  ///
  /// - Parameter closingLimit: How long to wait for a device at the same place that was dropped and
  ///   is still being closed: a callback that never returns keeps it open.
  /// - Throws: `LinkError`. A descriptor is closed even then.
  package static func open(
    _ endpoint: LinkEndpoint, closingLimit: Duration = .seconds(5)
  ) async throws(LinkError) -> Link {
    let before = closing.withLock { $0.filter { $0.endpoint == endpoint }.map(\.closed) }
    let deadline = Deadline(after: closingLimit)
    for closed in before {
      guard await closed.wait(milliseconds: deadline.milliseconds) else {
        throw LinkError(
          .busy, endpoint: endpoint.description,
          detail: "this program has not finished with a device that it opened there before",
          recoverySuggestion:
            "Let every callback on that device's reader thread return, then open it again.")
      }
    }
    return try await runBlocking(
      cancellation: LinkError(.cancelled, endpoint: endpoint.description)
    ) { Result { () throws(LinkError) in try Link(endpoint) } }.get()
  }

  /// Opens a link, lends it to `body`, and returns when it has been closed again.
  ///
  /// - Throws: `LinkError` when it cannot be opened.
  package static func with<R: Sendable>(
    _ endpoint: LinkEndpoint, _ body: nonisolated(nonsending) (Link) async -> R
  ) async throws(LinkError) -> R {
    let (result, closed) = try await openAndUse(endpoint, body)
    await closed.wait()
    return result
  }

  /// In a function of its own, at whose end nothing refers to the link any more.
  private static func openAndUse<R: Sendable>(
    _ endpoint: LinkEndpoint, _ body: nonisolated(nonsending) (Link) async -> R
  ) async throws(LinkError) -> (R, Latch) {
    let link = try await open(endpoint)
    return (await body(link), link.closed)
  }

  /// Opens a link; the calling thread may have to wait for the device.
  ///
  /// - Parameter connectTimeout: For `.tcp`.
  /// - Throws: `LinkError`. A descriptor is closed even then.
  package convenience init(
    _ endpoint: LinkEndpoint, connectTimeout: Duration = .seconds(5)
  ) throws(LinkError) {
    unsafe self.init(endpoint, adopting: try Self.openRaw(endpoint, connectTimeout))
  }

  /// Takes over an open link of CUWB.
  init(_ endpoint: LinkEndpoint, adopting raw: OpaquePointer) {
    unsafe self.raw = unsafe raw
    self.endpoint = endpoint
  }

  private static func openRaw(
    _ endpoint: LinkEndpoint, _ connectTimeout: Duration
  ) throws(LinkError) -> OpaquePointer {
    var raw: OpaquePointer?
    let result: cuwb_result
    let resolved = try endpoint.resolved()
    switch resolved {
    case .serial(let path, let baud, let flowControl):
      let options = cuwb_serial_options(baud: baud, rts_cts: flowControl, shared: false)
      result = unsafe cuwb_open_serial(path.string, options, &raw)
    case .usb:
      result = cuwb_result(outcome: CUWB_INVALID, error: 0)
    case .spi(let spi):
      try unsafe spi.open(&raw)
      result = cuwb_result(outcome: CUWB_OK, error: 0)
    case .srxxx(let device):
      result = unsafe cuwb_open_srxxx(device.path.string, device.start.raw, &raw)
    case .qorvoCharacterDevice(let path, let start):
      try unsafe LinkEndpoint.openQorvo(path, start, &raw)
      result = cuwb_result(outcome: CUWB_OK, error: 0)
    case .nxpBoard(let board):
      result = unsafe board.open(&raw)
    case .tcp(let host, let port):
      result = unsafe cuwb_open_tcp(host, port, connectTimeout.milliseconds, &raw)
    case .service(let socket, let chip, let linger):
      let descriptor = try ChipService.attach(socket, chip, linger: linger)
      result = unsafe cuwb_open_descriptor(descriptor.rawValue, &raw)
      if result.outcome != CUWB_OK { try? descriptor.close() }
    case .descriptor(let descriptor):
      result = unsafe cuwb_open_descriptor(descriptor.rawValue, &raw)
      if result.outcome != CUWB_OK { try? descriptor.close() }
    }
    guard result.outcome == CUWB_OK, let raw = unsafe raw else {
      throw LinkError(result, endpoint: resolved)
    }
    return unsafe raw
  }

  deinit { unsafe writer.close(raw, closed: closed) }

  // MARK: writing

  /// Writes frames, each with one write(2), after everything that was asked for before. Returns at
  /// once; a thread of its own does it.
  ///
  /// - Parameters:
  ///   - frames: Each whole, header included.
  ///   - timeout: How long to wait for each while the device takes nothing.
  ///   - willWrite: Called on the writing thread just before each frame is written; must not wait.
  ///   - completion: Called on the writing thread when all are written, or with the first error;
  ///     must not wait.
  package func write(
    _ frames: [[UInt8]], timeout: Duration = .seconds(1),
    willWrite: (@Sendable (RawSpan) -> Void)? = nil,
    completion: @escaping @Sendable (LinkError?) -> Void
  ) {
    writer.submit(
      LinkWriter.Write(
        link: self, frames: frames, timeout: timeout.milliseconds, willWrite: willWrite,
        completion: completion))
  }

  /// Writes one whole frame, header included, and waits until that is done.
  ///
  /// - Parameter timeout: How long to wait while the device takes nothing.
  /// - Throws: `LinkError`.
  package func write(
    _ frame: [UInt8], timeout: Duration = .seconds(1),
    willWrite: (@Sendable (RawSpan) -> Void)? = nil
  ) async throws(LinkError) {
    // Through a lock, for ThreadSanitizer: see `runBlocking`.
    let failure = Locked<LinkError?>(nil)
    await withCheckedContinuation { continuation in
      write([frame], timeout: timeout, willWrite: willWrite) { error in
        failure.withLock { $0 = error }
        continuation.resume()
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  package struct Framing: Sendable, Hashable {
    /// NXP: bit 7 of the second byte announces a 16-bit length in a control frame.
    package var extendedLength = false
    /// Qorvo QM33 serial firmware: data frames carry their length in the fourth byte only.
    package var dataLengthInByte3 = false
    /// Bytes of the longest frame the chip sends, header included; 0: no limit but CUWB's own.
    package var longestFrame: UInt16 = 0
    /// The other end is a host, which sends commands and data for a chip.
    package var fromHost = false

    package init() {}
  }

  /// Changes the framing. Only on the reader's thread, or before the reader has been started.
  func setFraming(_ framing: Framing) {
    var rules = cuwb_framing_default()
    rules.extended_length = framing.extendedLength
    rules.data_length_in_byte_3 = framing.dataLengthInByte3
    rules.longest_frame = framing.longestFrame
    if framing.fromHost {
      // Data, commands and tests; DATA_MESSAGE_SND and LL_DATA_MESSAGE_SND.
      rules.message_types = 1 << 0 | 1 << 1 | 1 << 4
      rules.data_formats = 1 << 1 | 1 << 3
    }
    unsafe cuwb_link_set_framing(raw, rules)
  }

  /// The counters now. Any thread.
  package var statistics: LinkStatistics {
    let stats = unsafe cuwb_link_get_stats(raw)
    return LinkStatistics(
      framesRead: stats.frames_read, bytesRead: stats.bytes_read, reads: stats.reads,
      framesWritten: stats.frames_written, bytesSkipped: stats.bytes_skipped,
      resynchronisations: stats.resynchronisations)
  }
}

/// What a device's link has seen since it was opened.
public struct LinkStatistics: Sendable, Hashable {
  package static let none = LinkStatistics()

  /// Frames delivered.
  public var framesRead: UInt64 = 0
  /// Bytes taken from the descriptor.
  public var bytesRead: UInt64 = 0
  /// Calls of read(2) that brought something.
  public var reads: UInt64 = 0
  /// Frames sent.
  public var framesWritten: UInt64 = 0
  /// Bytes thrown away because they could not belong to a frame.
  public var bytesSkipped: UInt64 = 0
  /// How often the boundary between frames was lost.
  public var resynchronisations: UInt64 = 0

  package static func + (a: LinkStatistics, b: LinkStatistics) -> LinkStatistics {
    LinkStatistics(
      framesRead: a.framesRead + b.framesRead, bytesRead: a.bytesRead + b.bytesRead,
      reads: a.reads + b.reads, framesWritten: a.framesWritten + b.framesWritten,
      bytesSkipped: a.bytesSkipped + b.bytesSkipped,
      resynchronisations: a.resynchronisations + b.resynchronisations)
  }
}
