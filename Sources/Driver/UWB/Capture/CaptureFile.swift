// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage
public import UCI
internal import UWBLink

/// A pcapng file that is being written.
///
/// Each packet is one block, and each block is one call of write(2). If the program ends for any
/// reason, the file can still be read up to the last packet. Any thread may record.
public final class CaptureFile: Sendable {
  private struct State {
    var encoder: PcapngEncoder
    var failure: CaptureError?
    var last: UInt64 = 0
  }

  /// The path of the file.
  public let path: String
  /// Whether keys are written as they are.
  package let includesSecrets: Bool
  private let descriptor: FileDescriptor
  private let state: Locked<State>
  /// Nanoseconds from CLOCK_MONOTONIC to CLOCK_REALTIME when the file was created.
  private let epoch: UInt64

  /// Creates a file that only its owner may read. An existing file is overwritten, and only its
  /// owner may read it from then on.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - includeSecrets: Whether keys are written as they are; otherwise as zeros.
  /// - Throws: `CaptureError`.
  public convenience init(_ path: String, includeSecrets: Bool = false) throws(CaptureError) {
    try self.init(path, description: .init(), includeSecrets: includeSecrets)
  }

  package init(
    _ path: String, description: PcapngEncoder.Description, includeSecrets: Bool
  ) throws(CaptureError) {
    self.path = path
    includesSecrets = includeSecrets
    do throws(FileError) {
      descriptor = try OutputFile.open(path, isSecret: true, isAppending: true)
    } catch {
      throw .system(CaptureError.notCreated, path, error)
    }
    state = Locked(State(encoder: PcapngEncoder(includeSecrets: includeSecrets)))
    epoch = CommandEngine.now(CLOCK_REALTIME) &- CommandEngine.now()
    // All properties are initialised before this statement can throw, so `deinit` closes the file.
    if let failure = write(PcapngEncoder.preamble(description)) { throw failure }
  }

  deinit { try? descriptor.close() }

  /// The reason why recording has stopped; nil as long as all writes succeeded.
  public var failure: CaptureError? { state.withLock { $0.failure } }

  /// Writes one packet, header included. Does nothing after a failure: see `failure`.
  /// Times in the file never decrease. A packet from the chip may have been read before a packet to
  /// the chip was recorded, but recognised after it. It then gets the time of the packet to the
  /// chip.
  ///
  /// - Parameters:
  ///   - direction: The direction of the packet.
  ///   - packet: Header and payload.
  ///   - time: CLOCK_MONOTONIC in nanoseconds, as the driver's tap provides it.
  /// - Returns: The value of `failure`.
  @discardableResult
  public func record(
    _ direction: PacketDirection, _ packet: RawSpan, time: UInt64
  ) -> CaptureError? {
    let bytes = unsafe packet.withUnsafeBytes { unsafe Array($0) }
    return record(time) { $0.packet(direction, bytes, time: $1) }
  }

  /// Writes a message between an accessory and a phone, as `record(_:_:time:)` writes a packet.
  ///
  /// - Parameters:
  ///   - message: the message. The caller removes keys from it, unless `includesSecrets`.
  ///   - comment: the protocol and the name of the phone.
  @discardableResult
  package func record(
    _ direction: PacketDirection, message: [UInt8], comment: String, time: UInt64
  ) -> CaptureError? {
    record(time) { $0.message(direction, message, time: $1, comment: comment) }
  }

  private func record(
    _ time: UInt64, _ block: (inout PcapngEncoder, UInt64) -> [UInt8]
  ) -> CaptureError? {
    // Writing under the lock keeps the order of segments in the file.
    state.withLock { state in
      if state.failure == nil {
        state.last = max(state.last, epoch &+ time)
        state.failure = write(block(&state.encoder, state.last))
      }
      return state.failure
    }
  }

  private func write(_ block: [UInt8]) -> CaptureError? {
    do {
      let count = try unsafe block.withUnsafeBytes { unsafe try descriptor.write($0) }
      // A shorter count means a full disk.
      return count == block.count
        ? nil : .system(CaptureError.notWritten, path, .system(.noSpace))
    } catch {
      return .system(
        CaptureError.notWritten, path, .system(error as? Errno ?? .ioError))
    }
  }
}
