// SPDX-License-Identifier: Apache-2.0

/// An input of the state machine.
enum SessionEvent: Sendable, Equatable {
  /// The app runs the session.
  ///
  /// - hasObject: whether the session ranges with an object, or receives messages of anchors.
  /// - endures: whether it also ranges while the program is in the background.
  /// - problem: the reason why it cannot be run, if found in advance.
  case run(hasObject: Bool, endures: Bool = false, problem: NIError?)
  case pause
  case invalidate
  /// The program moved to the background, or back to the foreground.
  case background(Bool)
  case slept
  case timer(SessionMachine.Timer)
  /// The part of a run that uses the chip has sent a report.
  case report(run: Int, Report)

  /// A report of the part of a run that uses the chip.
  enum Report: Sendable, Equatable {
    /// The run ranges. An accessory needs data to begin.
    ///
    /// - interval: the time between ranging rounds.
    case started(needsData: Bool, interval: Duration = .milliseconds(200))
    /// There is no device, or another program uses it.
    case unavailable(NIError)
    case lost(NIError)
    case available
    case measured
    case peerEnded
    /// The run failed for good.
    case failed(NIError)
  }
}

/// An output of the state machine.
enum SessionEffect: Sendable, Equatable {
  case begin(run: Int)
  /// Ends the run, on the chip or while it waits for one.
  ///
  /// - notifiesPeer: whether to notify the peer, if the chip can.
  case end(notifiesPeer: Bool)
  /// Sets a timer, in place of a timer of the same kind.
  case set(SessionMachine.Timer, Duration)
  case stopTimers
  case call(Callback)

  /// A call of the delegate that has no measurements.
  enum Callback: Sendable, Equatable {
    case started
    case suspended
    case suspensionEnded
    /// Reports the data that the run has generated for the accessory.
    case shareable
    /// Reports that the object has not been measured for some rounds. Repeated until the object is
    /// measured or removed.
    case outOfRange
    case removed(NINearbyObject.RemovalReason)
    case invalidated(NIError)
  }
}
