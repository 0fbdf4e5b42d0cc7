// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Locking
internal import SystemPackage

/// An open link to one chip: frames out from any thread, frames in through one `FrameReader`.
///
/// Closes the descriptor when the last reference goes.
public final class Link: @unchecked Sendable {
  // Sound: CUWB allows one reading and one writing thread at a time and `wake` from any; the
  // writers are kept apart by `writing`, and only the one FrameReader reads.
  let raw: OpaquePointer
  private let writing = Locked(())

  /// Where the chip is.
  public let endpoint: LinkEndpoint

  /// Opens a link.
  ///
  /// - Parameter connectTimeout: for `.tcp`, milliseconds.
  /// - Throws: `LinkError`. A descriptor is closed even then.
  public init(_ endpoint: LinkEndpoint, connectTimeout: Int32 = 5_000) throws(LinkError) {
    var raw: OpaquePointer?
    let result: cuwb_result
    let resolved = try endpoint.resolved()
    switch resolved {
    case .serial(let path, let baud, let flowControl):
      let options = cuwb_serial_options(baud: baud, rts_cts: flowControl, shared: false)
      result = cuwb_open_serial(path.string, options, &raw)
    case .usb:
      result = cuwb_result(outcome: CUWB_INVALID, error: 0)
    case .spi(let spi):
      try spi.open(&raw)
      result = cuwb_result(outcome: CUWB_OK, error: 0)
    case .srxxx(let device):
      result = cuwb_open_srxxx(device.path.string, device.start.raw, &raw)
    case .uci(let path, let start):
      try LinkEndpoint.openUCI(path, start, &raw)
      result = cuwb_result(outcome: CUWB_OK, error: 0)
    case .nxpBoard(let board):
      result = board.open(&raw)
    case .tcp(let host, let port):
      result = cuwb_open_tcp(host, port, connectTimeout, &raw)
    case .descriptor(let descriptor):
      result = cuwb_open_descriptor(descriptor.rawValue, &raw)
      if result.outcome != CUWB_OK { try? descriptor.close() }
    }
    guard result.outcome == CUWB_OK, let raw = raw else {
      throw LinkError(result, endpoint: resolved)
    }
    self.raw = raw
    self.endpoint = endpoint
  }

  deinit { cuwb_link_close(raw) }

  /// Writes one whole frame, header included, with one write(2).
  ///
  /// - Parameter timeout: milliseconds to wait while the device takes nothing.
  /// - Throws: `LinkError`.
  public func write(_ frame: [UInt8], timeout: Int32 = 1_000) throws(LinkError) {
    let result = writing.withLock { _ in
      frame.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else {
          return cuwb_result(outcome: CUWB_INVALID, error: 0)
        }
        return cuwb_write_frame(raw, base, bytes.count, timeout)
      }
    }
    guard result.outcome == CUWB_OK else { throw LinkError(result, endpoint: endpoint) }
  }

  /// How frames are told apart.
  public struct Framing: Sendable, Hashable {
    /// NXP: bit 7 of the second byte announces a 16-bit length in a control frame.
    public var extendedLength = false
    /// Qorvo QM33 serial firmware: data frames carry their length in the fourth byte only.
    public var dataLengthInByte3 = false
    /// Bytes of the longest frame the chip sends, header included; 0: no limit but CUWB's own.
    public var longestFrame: UInt16 = 0
    /// The other end is a host, which sends commands and data for a chip.
    public var fromHost = false

    /// What is assumed of a chip that has not said anything yet.
    public init() {}
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
    cuwb_link_set_framing(raw, rules)
  }

  /// What the link has seen since it was opened.
  public struct Statistics: Sendable, Hashable {
    /// Nothing yet.
    public static let none = Statistics()

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

    /// Of one link and another.
    public static func + (a: Statistics, b: Statistics) -> Statistics {
      Statistics(
        framesRead: a.framesRead + b.framesRead, bytesRead: a.bytesRead + b.bytesRead,
        reads: a.reads + b.reads, framesWritten: a.framesWritten + b.framesWritten,
        bytesSkipped: a.bytesSkipped + b.bytesSkipped,
        resynchronisations: a.resynchronisations + b.resynchronisations)
    }
  }

  /// The counters now. Any thread.
  public var statistics: Statistics {
    let stats = cuwb_link_get_stats(raw)
    return Statistics(
      framesRead: stats.frames_read, bytesRead: stats.bytes_read, reads: stats.reads,
      framesWritten: stats.frames_written, bytesSkipped: stats.bytes_skipped,
      resynchronisations: stats.resynchronisations)
  }
}
