// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import JSON
internal import System
package import SystemPackage
internal import Varlink

/// A client of `uwbd`, the service that shares chips among programs. All calls block.
package enum ChipService {
  /// The reason why a call has no result.
  package enum Failure: Error, Sendable, Hashable {
    /// No program accepts the connection. The time-out is `wouldBlock`.
    case unreachable(Errno)
    /// The service does not answer, or the connection has ended.
    case silent(Errno)
    case rejected(ServiceError)
  }

  /// The time-out in seconds for connecting, and for a reply.
  private static let patience = 5
  /// The time-out in seconds for a reply that waits up to 10 s for the chip to open.
  private static let patienceForOpening = 15
  /// The time-out in seconds for a reply after sessions have ended and the chip is closed.
  private static let patienceForClosing = 20

  /// Returns the service's name of the device at `place`; nil if no service holds the device.
  ///
  /// The name is stable, while the path changes with each plug.
  package static func name(of place: String, at socket: FilePath) -> String? {
    do throws(Failure) {
      let (descriptor, reply) = try call(
        .describe(chip: place), at: socket, patience: patienceForOpening)
      try? descriptor.close()
      return reply.parameters["chip"]?.string ?? place
    } catch {
      // The service still holds a chip that it cannot use now.
      guard case .rejected(.chipUnavailable(let chip, _, _)) = error else { return nil }
      return chip.isEmpty ? place : chip
    }
  }

  /// Opens a connection that carries UCI.
  ///
  /// - Parameters:
  ///   - chip: The name of the chip; nil for the only one.
  ///   - linger: The time for which sessions outlive a program that does not end them.
  package static func attach(
    _ chip: String?, linger: Duration, at socket: FilePath
  ) throws(Failure) -> FileDescriptor {
    try call(
      .attach(chip: chip, linger: linger), at: socket, patience: patienceForOpening
    ).descriptor
  }

  /// Returns the chips of the service; empty without a service or a reply.
  package static func chips(at socket: FilePath) -> [Chips.Chip] {
    guard let (descriptor, reply) = try? call(.list, at: socket) else { return [] }
    try? descriptor.close()
    return .init(reply.parameters["chips"])
  }

  /// Makes the service close the chip at `place` until the returned connection closes.
  ///
  /// - Parameter reason: The purpose, shown to other programs that want the chip.
  /// - Returns: The connection; nil if no service holds the chip.
  package static func borrow(
    _ place: String, for reason: String, at socket: FilePath
  ) throws(Failure) -> FileDescriptor? {
    do throws(Failure) {
      return try call(
        .borrow(chip: place, reason: reason), at: socket, patience: patienceForClosing
      ).descriptor
    } catch {
      switch error {
      case .unreachable(.noSuchFileOrDirectory), .unreachable(.notDirectory),
        .unreachable(.connectionRefused), .rejected(.noChip):
        return nil
      default: throw error
      }
    }
  }

  private static func call(
    _ call: ChipCall, at socket: FilePath, patience: Int = ChipService.patience
  ) throws(Failure) -> (descriptor: FileDescriptor, reply: VarlinkReply) {
    let descriptor: FileDescriptor
    do throws(Errno) { descriptor = try connected(to: socket, patience) } catch {
      throw .unreachable(error)
    }
    do throws(Failure) {
      let reply = try answer(to: call.message, descriptor)
      if let error = ServiceError(reply) { throw Failure.rejected(error) }
      return (descriptor, reply)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  private static func answer(
    to call: VarlinkCall, _ descriptor: FileDescriptor
  ) throws(Failure) -> VarlinkReply {
    do throws(Errno) {
      try send(call.bytes, descriptor)
      let message = try receive(descriptor)
      if let reply = try? VarlinkReply(message) { return reply }
      throw .badMessage
    } catch { throw .silent(error) }
  }

  private static func connected(
    to path: FilePath, _ patience: Int
  ) throws(Errno) -> FileDescriptor {
    let number = Glibc.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    // The time-out for sending also limits connecting (socket(7)).
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      var time = timeval(tv_sec: patience, tv_usec: 0)
      unsafe setsockopt(
        number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    let result = unsafe withUnixAddress(path.string) {
      unsafe connect(number, $0, $1) == 0 ? nil : Errno(rawValue: errno)
    }
    if case .some(.none) = result { return FileDescriptor(rawValue: number) }
    _ = Glibc.close(number)
    throw (result ?? .fileNameTooLong) ?? .fileNameTooLong
  }

  private static func send(_ bytes: [UInt8], _ descriptor: FileDescriptor) throws(Errno) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor.rawValue, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno != EINTR { throw Errno(rawValue: errno) }
      sent += max(count, 0)
    }
  }

  /// Receives one message without its zero byte, and no byte after it.
  private static func receive(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8] {
    var message: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while message.count < 1 << 20 {
      var count = unsafe recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_PEEK))
      let end = buffer.prefix(max(count, 0)).firstIndex(of: 0)
      if count > 0 { count = unsafe recv(descriptor.rawValue, &buffer, (end ?? count - 1) + 1, 0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Errno(rawValue: errno) }
      guard count > 0 else { throw .connectionReset }
      message += buffer.prefix(end ?? count)
      if end != nil { return message }
    }
    throw .badMessage
  }
}
