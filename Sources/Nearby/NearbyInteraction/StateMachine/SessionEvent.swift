// SPDX-License-Identifier: Apache-2.0

/// An input of the state machine.
enum SessionEvent: Sendable, Equatable {
  /// The app runs it.
  ///
  /// - hasObject: it ranges with an object, rather than listening to anchors.
  /// - endures: it also ranges while the program is in the background.
  /// - problem: why it cannot be run, found in advance.
  case run(hasObject: Bool, endures: Bool = false, problem: NIError?)
  case pause
  case invalidate
  /// The program is in the background from now on, or no longer.
  case background(Bool)
  case slept
  case timer(SessionMachine.Timer)
  /// The chip's side of a run reports.
  case report(run: Int, Report)

  /// A report of the chip's side.
  enum Report: Sendable, Equatable {
    /// It ranges. An accessory needs data to begin.
    ///
    /// - interval: from one ranging round to the next.
    case started(needsData: Bool, interval: Duration = .milliseconds(200))
    /// There is no device, or another program has it, with the cause.
    case unavailable(NIError)
    case lost(NIError)
    case available
    case measured
    case peerEnded
    /// It failed for good.
    case failed(NIError)
  }
}

/// An output of the state machine.
enum SessionEffect: Sendable, Equatable {
  case begin(run: Int)
  /// End the run, on the chip or while it waits for one.
  ///
  /// - tellPeer: announce it to the peer, where the chip can.
  case end(tellPeer: Bool)
  /// Set a timer, in place of one of the same kind.
  case set(SessionMachine.Timer, Duration)
  case stopTimers
  case call(Callback)

  /// A call of the delegate other than with measurements.
  enum Callback: Sendable, Equatable {
    case started
    case suspended
    case suspensionEnded
    /// With the data that the run has made for the accessory.
    case shareable
    /// The object has not been measured for some rounds. Repeated until it is, or is removed.
    case outOfRange
    case removed(NINearbyObject.RemovalReason)
    case invalidated(NIError)
  }
}
