// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Locking
internal import SystemPackage
public import UCI

/// A pcapng file that is being written.
///
/// Each packet is one block and each block one write(2), so whatever ends the program, the file
/// can be read up to the last packet. Any thread may record.
public final class CaptureFile: Sendable {
  private struct State {
    var encoder: PcapngEncoder
    var failure: CaptureError?
  }

  /// Where the file is.
  public let path: String
  private let descriptor: FileDescriptor
  private let state: Locked<State>
  /// Nanoseconds from CLOCK_MONOTONIC to CLOCK_REALTIME when the file was made.
  private let epoch: UInt64

  /// Creates a file that only its owner may read; one that exists is overwritten.
  ///
  /// - Parameter includeSecrets: Whether keys are written as they are; otherwise as zeros.
  /// - Throws: `CaptureError`.
  public convenience init(_ path: String, includeSecrets: Bool = false) throws(CaptureError) {
    try self.init(path, description: .init(), includeSecrets: includeSecrets)
  }

  package init(
    _ path: String, description: PcapngEncoder.Description, includeSecrets: Bool
  ) throws(CaptureError) {
    self.path = path
    do {
      descriptor = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .truncate, .append, .closeOnExec],
        permissions: .ownerReadWrite)
    } catch {
      throw .notCreated(path: path, error)
    }
    state = Locked(State(encoder: PcapngEncoder(includeSecrets: includeSecrets)))
    epoch = Self.now(CLOCK_REALTIME) &- Self.now(CLOCK_MONOTONIC)
    // Where this throws, all that is stored is there, so `deinit` closes the file.
    if let failure = write(PcapngEncoder.preamble(description)) { throw failure }
  }

  deinit { try? descriptor.close() }

  /// Why nothing is written any more; nil as long as everything was.
  public var failure: CaptureError? { state.withLock { $0.failure } }

  /// Writes one packet, header included. After a failure it does nothing: see `failure`.
  ///
  /// - Parameter time: CLOCK_MONOTONIC in nanoseconds, as the driver's tap gives it.
  public func record(_ direction: PacketDirection, _ packet: RawSpan, time: UInt64) {
    let bytes = unsafe packet.withUnsafeBytes { unsafe Array($0) }
    // Under the lock, so that the order in the file is the order of segments.
    state.withLock { state in
      guard state.failure == nil else { return }
      state.failure = write(state.encoder.packet(direction, bytes, time: epoch &+ time))
    }
  }

  private func write(_ block: [UInt8]) -> CaptureError? {
    do {
      let count = try unsafe block.withUnsafeBytes { unsafe try descriptor.write($0) }
      // Less than all of it fits only where the disk is full.
      return count == block.count ? nil : .notWritten(path: path, Errno.noSpace)
    } catch {
      return .notWritten(path: path, error)
    }
  }

  private static func now(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension CaptureReader {
  /// The bytes of a file.
  ///
  /// - Parameter limit: longer files are refused.
  /// - Throws: `CaptureError`.
  public static func contents(
    ofFile path: String, limit: Int = 1 << 30
  ) throws(CaptureError) -> [UInt8] {
    do {
      let descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      return try descriptor.closeAfter {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
          let count = try unsafe buffer.withUnsafeMutableBytes {
            unsafe try descriptor.read(into: $0)
          }
          guard count > 0 else { return bytes }
          guard bytes.count + count <= limit else {
            throw CaptureError.tooLong(path: path, limit: limit)
          }
          bytes += buffer[..<count]
        }
      }
    } catch let error as CaptureError {
      throw error
    } catch {
      throw .unreadable(path: path, error)
    }
  }

  /// Reads all packets of a file.
  ///
  /// - Throws: `CaptureError`.
  public static func read(file path: String) throws(CaptureError) -> Capture {
    try read(contents(ofFile: path))
  }
}

extension CaptureError {
  fileprivate static func notCreated(path: String, _ error: any Error) -> CaptureError {
    let (errno, reason) = words(error)
    return .notCreated(path: path, errno: errno, reason: reason)
  }

  fileprivate static func notWritten(path: String, _ error: any Error) -> CaptureError {
    let (errno, reason) = words(error)
    return .notWritten(path: path, errno: errno, reason: reason)
  }

  fileprivate static func unreadable(path: String, _ error: any Error) -> CaptureError {
    let (errno, reason) = words(error)
    return .unreadable(path: path, errno: errno, reason: reason)
  }

  private static func words(_ error: any Error) -> (Int32, String) {
    ((error as? Errno)?.rawValue ?? 0, "\(error)")
  }
}
