// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import System
package import SystemPackage

/// An open link to one chip: frames are written from any thread, and read by one `FrameReader`.
///
/// Releasing the last reference closes the descriptor; `closed` opens afterwards.
@safe package final class Link: @unchecked Sendable {
  // Safe because CUWB allows one reading and one writing thread at a time, and `wake` from any
  // thread. Only `writer` writes, and only the one FrameReader reads.
  let raw: OpaquePointer
  private let writer = LinkWriter()

  package let endpoint: LinkEndpoint
  /// A latch that opens when the descriptor has been closed, after the release of the last
  /// reference.
  package let closed = Latch()

  // The devices that this process has released, but whose descriptors may still be open.
  private static let closing = Locked<[(endpoint: LinkEndpoint, closed: Latch)]>([])

  /// Announces the release of the last reference. `open` waits for it, so that a device that was
  /// dropped without being closed can be opened again at once.
  package func willClose() {
    Self.closing.withLock { list in
      list.removeAll { $0.closed.isOpen }
      list.append((endpoint, closed))
    }
  }

  /// Opens a descriptor for a chip that a service shares (`LinkEndpoint.service`). Blocks.
  package typealias Connector =
    @Sendable (_ endpoint: LinkEndpoint) throws(LinkError) -> FileDescriptor

  /// Opens a link on a blocking thread. Cancellation ends the wait at once.
  ///
  /// - Parameters:
  ///   - connector: Reaches services; without it, their endpoints are invalid.
  ///   - closingLimit: The longest wait for a released device at the same place to close. A
  ///     callback that never returns keeps the device open.
  /// - Throws: `LinkError`. A descriptor is closed even then.
  package static func open(
    _ endpoint: LinkEndpoint, connector: Connector? = nil, closingLimit: Duration = .seconds(5)
  ) async throws(LinkError) -> Link {
    let before = closing.withLock { $0.filter { $0.endpoint == endpoint }.map(\.closed) }
    let deadline = Deadline(after: closingLimit)
    for closed in before {
      guard await closed.wait(milliseconds: deadline.milliseconds) else {
        throw LinkError(
          .busy, endpoint: endpoint.description,
          detail: "this program still closes a device that it opened there before",
          recoverySuggestion:
            "Let every callback on that device's reader thread return, then open it again.")
      }
    }
    return try await runBlocking(
      cancellation: LinkError(.cancelled, endpoint: endpoint.description)
    ) {
      Result { () throws(LinkError) in try Link(endpoint, connector: connector) }
    }.get()
  }

  /// Opens a link, passes it to `body`, and returns once the link is closed.
  ///
  /// - Throws: `LinkError` if the link cannot be opened.
  package static func with<R: Sendable>(
    _ endpoint: LinkEndpoint, connector: Connector? = nil,
    _ body: nonisolated(nonsending) (Link) async -> R
  ) async throws(LinkError) -> R {
    let (result, closed) = try await openAndUse(endpoint, connector, body)
    await closed.wait()
    return result
  }

  /// A separate function, so that no reference to the link remains when it returns.
  private static func openAndUse<R: Sendable>(
    _ endpoint: LinkEndpoint, _ connector: Connector?,
    _ body: nonisolated(nonsending) (Link) async -> R
  ) async throws(LinkError) -> (R, Latch) {
    let link = try await open(endpoint, connector: connector)
    return (await body(link), link.closed)
  }

  /// Opens a link. Blocks the calling thread while the device is not ready.
  ///
  /// - Parameters:
  ///   - connector: Reaches services; without it, their endpoints are invalid.
  ///   - connectTimeout: The time-out for `.tcp`.
  /// - Throws: `LinkError`. A descriptor is closed even then.
  package convenience init(
    _ endpoint: LinkEndpoint, connector: Connector? = nil, connectTimeout: Duration = .seconds(5)
  ) throws(LinkError) {
    unsafe self.init(endpoint, adopting: try Self.openRaw(endpoint, connector, connectTimeout))
  }

  /// Creates a link that owns an open link of CUWB.
  init(_ endpoint: LinkEndpoint, adopting raw: OpaquePointer) {
    unsafe self.raw = unsafe raw
    self.endpoint = endpoint
  }

  private static func openRaw(
    _ endpoint: LinkEndpoint, _ connector: Connector?, _ connectTimeout: Duration
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
    case .service:
      guard let connector else {
        throw LinkError(
          .invalidEndpoint, endpoint: resolved.description,
          detail: "this needs the chip itself, not a service")
      }
      let descriptor = try connector(resolved)
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

  /// Writes frames in order on a separate thread, each with one write(2), and returns at once.
  ///
  /// - Parameters:
  ///   - frames: Whole frames with their headers.
  ///   - timeout: The longest wait for each frame while the device accepts no data.
  ///   - willWrite: Called on the writing thread just before each frame is written; must not block.
  ///   - completion: Called on the writing thread when all frames are written, or with the first
  ///     error; must not block.
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

  /// Writes one whole frame with its header, and waits for completion.
  ///
  /// - Parameter timeout: The longest wait while the device accepts no data.
  /// - Throws: `LinkError`.
  package func write(
    _ frame: [UInt8], timeout: Duration = .seconds(1),
    willWrite: (@Sendable (RawSpan) -> Void)? = nil
  ) async throws(LinkError) {
    // A lock, rather than a plain variable, for ThreadSanitizer: see `runBlocking`.
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
    /// Whether bit 7 of the second byte announces a 16-bit length in a control frame (NXP).
    package var extendedLength = false
    /// Whether data frames carry their length in the fourth byte only (Qorvo QM33 serial firmware).
    package var dataLengthInByte3 = false
    /// The length in bytes of the longest frame from the chip, with its header; 0 for the limit of
    /// CUWB.
    package var longestFrame: UInt16 = 0
    /// Whether the other end is a host, which sends commands and data to a chip.
    package var fromHost = false

    package init() {}
  }

  /// Changes the framing. Must run on the reader's thread, or before the reader starts.
  func setFraming(_ framing: Framing) {
    var rules = cuwb_framing_default()
    rules.extended_length = framing.extendedLength
    rules.data_length_in_byte_3 = framing.dataLengthInByte3
    rules.longest_frame = framing.longestFrame
    if framing.fromHost {
      // A host sends data, commands and tests, and DATA_MESSAGE_SND and LL_DATA_MESSAGE_SND.
      rules.message_types = 1 << 0 | 1 << 1 | 1 << 4
      rules.data_formats = 1 << 1 | 1 << 3
    }
    unsafe cuwb_link_set_framing(raw, rules)
  }

  /// The current counters. Callable from any thread.
  package var statistics: LinkStatistics {
    let stats = unsafe cuwb_link_get_stats(raw)
    return LinkStatistics(
      framesRead: stats.frames_read, bytesRead: stats.bytes_read, reads: stats.reads,
      framesWritten: stats.frames_written, bytesSkipped: stats.bytes_skipped,
      resynchronisations: stats.resynchronisations)
  }
}

/// The counters of a device's link since it was opened.
public struct LinkStatistics: Sendable, Hashable {
  package static let none = LinkStatistics()

  /// The number of whole frames that were read and delivered.
  public var framesRead: UInt64 = 0
  /// Bytes read from the descriptor.
  public var bytesRead: UInt64 = 0
  /// Calls of read(2) that returned bytes.
  public var reads: UInt64 = 0
  /// The number of frames that were written.
  public var framesWritten: UInt64 = 0
  /// Bytes discarded because they could not belong to a frame.
  public var bytesSkipped: UInt64 = 0
  /// The number of times that frame boundaries were lost.
  public var resynchronisations: UInt64 = 0

  package static func + (a: LinkStatistics, b: LinkStatistics) -> LinkStatistics {
    LinkStatistics(
      framesRead: a.framesRead + b.framesRead, bytesRead: a.bytesRead + b.bytesRead,
      reads: a.reads + b.reads, framesWritten: a.framesWritten + b.framesWritten,
      bytesSkipped: a.bytesSkipped + b.bytesSkipped,
      resynchronisations: a.resynchronisations + b.resynchronisations)
  }
}
