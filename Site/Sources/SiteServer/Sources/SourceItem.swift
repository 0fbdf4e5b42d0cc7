// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A report of a source to the loop.
package enum SourceItem: Sendable, Hashable {
  /// A measurement, with the time by the clock of the source.
  case measurement(RangeLine)
  /// A message of one-way ranging, with the time by the clock of the source.
  case message(OneWayLine)
  /// A round without a measurement.
  case failed
  /// A part of the input that cannot be used: a sentence with the line and the field.
  case bad(String)
  /// The number of measurements that were lost before they arrived, such as in a service.
  case lost(Int)
  case state(SourceState)
}

extension SourceItem {
  /// Reads the fields of a line.
  ///
  /// - Parameter device: the board at this end, for lines that name the peer only.
  init(
    device: String?, _ field: (String) -> RangeLine.Field?
  ) throws(RangeLine.Problem) {
    if OneWayLine.isMessage(field) {
      self = try OneWayLine(device: device, field).map(SourceItem.message) ?? .failed
    } else {
      self = try RangeLine(device: device, field).map(SourceItem.measurement) ?? .failed
    }
  }

  /// The time in seconds by the clock of the source; nil for items without a time.
  var time: Double? {
    switch self {
    case .measurement(let line): line.time
    case .message(let line): line.time
    default: nil
    }
  }
}

/// The state of a source, from its own reports.
package enum SourceState: Sendable, Hashable {
  /// Measurements may arrive; with the identity of the source, if it has one.
  case connected(identity: String?)
  /// The source is away; the next attempt follows after some seconds.
  case interrupted(reason: String, retryAfter: Double)
  /// The source has ended; with the reason, if it is an error.
  case ended(reason: String?)
}

/// A source that delivers measurements as they happen. Their times count from the arrival.
package protocol LiveSource: Sendable {
  /// Sends items to the port until the source ends or the port is closed. It may block its thread.
  func run(_ port: SourcePort)
}

/// A source with its own times, which can be read at any speed.
package protocol Recording {
  /// Returns the next item; nil at the end. May read a file, but never waits.
  mutating func next() -> SourceItem?
}

/// A source in the form that the loop needs.
package struct Source {
  package enum Kind {
    case live(any LiveSource)
    case recording(any Recording)
    /// Lines whose times are the times of the run. Such a source is the only one of its run.
    case timed(TimedLines)
  }

  /// The name of the source in reports.
  package let name: String
  package let kind: Kind

  package init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }

  /// Whether the source delivers measurements as they happen.
  package var isLive: Bool {
    if case .recording = kind { false } else { true }
  }

  package var isTimed: Bool {
    if case .timed = kind { true } else { false }
  }
}
