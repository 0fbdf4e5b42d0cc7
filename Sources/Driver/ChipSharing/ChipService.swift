// SPDX-License-Identifier: Apache-2.0
internal import JSON
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

    /// Whether no service holds the chip.
    fileprivate var isWithoutChip: Bool {
      switch self {
      case .unreachable(.noSuchFileOrDirectory), .unreachable(.notDirectory),
        .unreachable(.connectionRefused), .rejected(.noChip):
        true
      default: false
      }
    }
  }

  /// The time-out in seconds for a reply that waits up to 10 s for the chip to open.
  private static let patienceForOpening = 15
  /// The time-out in seconds for a reply after sessions have ended and the chip is closed.
  private static let patienceForClosing = 20

  /// Returns the service's name of the device at the path `place`. Returns nil if no service holds
  /// the device.
  ///
  /// The name is stable, while the path may change each time the device is plugged in.
  ///
  /// - Throws: `Failure` if the service does not answer, because it may hold the device.
  package static func name(
    of place: String, at socket: FilePath
  ) throws(Failure) -> String? {
    do throws(Failure) {
      let (descriptor, reply) = try call(
        .describe(chip: place), at: socket, patience: patienceForOpening)
      try? descriptor.close()
      return reply.parameters["chip"]?.string ?? place
    } catch {
      // The service holds the chip even if it cannot use it now.
      if case .rejected(.chipUnavailable(let chip, _, _)) = error {
        return chip.isEmpty ? place : chip
      }
      guard error.isWithoutChip else { throw error }
      return nil
    }
  }

  /// Opens a connection that carries UCI.
  ///
  /// - Parameters:
  ///   - chip: The name of the chip; nil for the only one.
  ///   - linger: The time for which sessions continue after a program that has not ended them.
  package static func attach(
    _ chip: String?, linger: Duration, at socket: FilePath
  ) throws(Failure) -> FileDescriptor {
    try call(
      .attach(chip: chip, linger: linger), at: socket, patience: patienceForOpening
    ).descriptor
  }

  /// Returns the chips of the service; empty without a service.
  package static func chips(at socket: FilePath) throws(Failure) -> [Chips.Chip] {
    do throws(Failure) {
      let (descriptor, reply) = try call(.list, at: socket)
      try? descriptor.close()
      return .init(reply.parameters["chips"])
    } catch {
      guard error.isWithoutChip else { throw error }
      return []
    }
  }

  /// Ends a session for all programs that hold it.
  package static func end(
    _ sessionID: UInt32, on chip: String, at socket: FilePath
  ) throws(Failure) {
    let called = try call(
      .end(chip: chip, sessionID: sessionID), at: socket, patience: patienceForClosing)
    try? called.descriptor.close()
  }

  /// Returns the reason why the service refused the last start of a session of this process over
  /// UCI; nil if it is unknown.
  package static func refusal(
    of sessionID: UInt32, on chip: String?, at socket: FilePath
  ) -> ServiceError? {
    do throws(Failure) {
      let called = try call(.explain(chip: chip, sessionID: sessionID), at: socket)
      try? called.descriptor.close()
      return nil
    } catch {
      switch error {
      case .unreachable, .silent, .rejected(.noSession), .rejected(.other): return nil
      case .rejected(let error): return error
      }
    }
  }

  /// Makes the service release the chip at the path `place` until the returned connection is
  /// closed.
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
      guard error.isWithoutChip else { throw error }
      return nil
    }
  }

  private static func call(
    _ call: ChipCall, at socket: FilePath, patience: Int = 5
  ) throws(Failure) -> (descriptor: FileDescriptor, reply: VarlinkReply) {
    let called: (descriptor: FileDescriptor, reply: VarlinkReply)
    do throws(VarlinkClient.Failure) {
      called = try VarlinkClient.call(call.message, at: socket.string, patience: patience)
    } catch {
      switch error {
      case .unreachable(let error): throw .unreachable(error)
      case .silent(let error): throw .silent(error)
      }
    }
    guard let error = ServiceError(called.reply) else { return called }
    try? called.descriptor.close()
    throw .rejected(error)
  }
}
