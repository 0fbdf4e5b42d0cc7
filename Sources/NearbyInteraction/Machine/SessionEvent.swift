// SPDX-License-Identifier: Apache-2.0

/// What happens to a session.
enum SessionEvent: Sendable, Equatable {
  /// The app runs it.
  ///
  /// - hasObject: it ranges with somebody, rather than listening to anchors.
  /// - problem: why it cannot be run, found before anything is done.
  case run(hasObject: Bool, problem: NIError?)
  /// The app pauses it.
  case pause
  /// The app ends it.
  case invalidate
  /// The machine was asleep.
  case slept
  /// A time has passed.
  case timer(SessionMachine.Timer)
  /// The chip's side of one run reports.
  case report(run: Int, Report)

  /// What the chip's side reports of a run.
  enum Report: Sendable, Equatable {
    /// It ranges. With an accessory, the accessory needs data to begin.
    case started(needsData: Bool)
    /// There is no device to begin with, or another program has it: why, as an error.
    case unavailable(NIError)
    /// The device is gone: why, as an error.
    case lost(NIError)
    /// The device is there again.
    case available
    /// The object was measured.
    case heard
    /// The object said that it ends.
    case peerEnded
    /// It cannot go on.
    case failed(NIError)
  }
}

/// What a session has to do.
enum SessionEffect: Sendable, Equatable {
  /// Begin on a chip.
  case begin(run: Int)
  /// End what is on the chip, or what waits for one.
  ///
  /// - tellPeer: the other side is to learn of it, where the chip can say so.
  case end(tellPeer: Bool)
  /// Wait so long; a timer of the same kind is replaced.
  case set(SessionMachine.Timer, Duration)
  /// Wait no more.
  case stopTimers
  /// Tell the app.
  case call(Callback)

  /// What the app is told, beside measurements.
  enum Callback: Sendable, Equatable {
    case started
    case suspended
    case suspensionEnded
    /// The data that the run has made for the accessory.
    case shareable
    case removed(NINearbyObject.RemovalReason)
    case invalidated(NIError)
  }
}
