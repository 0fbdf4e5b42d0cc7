// SPDX-License-Identifier: Apache-2.0

/// An input of the state machine.
enum SessionEvent: Sendable, Equatable {
  /// The app runs it.
  ///
  /// - hasObject: it ranges with an object, rather than listening to anchors.
  /// - problem: why it cannot be run, found in advance.
  case run(hasObject: Bool, problem: NIError?)
  /// The app pauses it.
  case pause
  /// The app ends it.
  case invalidate
  /// The machine was asleep.
  case slept
  /// A timer has expired.
  case timer(SessionMachine.Timer)
  /// The chip's side of a run reports.
  case report(run: Int, Report)

  /// A report of the chip's side.
  enum Report: Sendable, Equatable {
    /// It ranges. An accessory needs data to begin.
    case started(needsData: Bool)
    /// There is no device, or another program has it, with the cause.
    case unavailable(NIError)
    /// The device was lost, with the cause.
    case lost(NIError)
    /// The device is available again.
    case available
    /// The object was measured.
    case measured
    /// The object has ended the session.
    case peerEnded
    /// It failed for good.
    case failed(NIError)
  }
}

/// An output of the state machine.
enum SessionEffect: Sendable, Equatable {
  /// Begin on a chip.
  case begin(run: Int)
  /// End the run, on the chip or while it waits for one.
  ///
  /// - tellPeer: announce it to the peer, where the chip can.
  case end(tellPeer: Bool)
  /// Set a timer, in place of one of the same kind.
  case set(SessionMachine.Timer, Duration)
  /// Stop all timers.
  case stopTimers
  /// Call the delegate.
  case call(Callback)

  /// A call of the delegate other than with measurements.
  enum Callback: Sendable, Equatable {
    case started
    case suspended
    case suspensionEnded
    /// With the data that the run has made for the accessory.
    case shareable
    case removed(NINearbyObject.RemovalReason)
    case invalidated(NIError)
  }
}
