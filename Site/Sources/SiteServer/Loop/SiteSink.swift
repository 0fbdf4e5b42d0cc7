// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A receiver of the events of a run: a printer, a service, a history.
///
/// The loop calls a sink on its own thread and waits for it, so a sink must not block. Work that
/// may take longer than a millisecond goes to a bounded queue with its own thread.
package protocol SiteSink: AnyObject {
  /// Prepares for the events of a run.
  func begin(_ run: SiteRun) throws(SinkFailure)
  /// Prepares for the events of another site in the same run.
  func change(_ run: SiteRun)
  /// Handles the measurements and the events since the last batch, in order.
  func receive(_ batch: SiteBatch) throws(SinkFailure)
  /// Completes the output after the last batch.
  func finish(_ counters: SiteCounters) throws(SinkFailure)
}

extension SiteSink {
  package func begin(_ run: SiteRun) throws(SinkFailure) {}
  package func change(_ run: SiteRun) {}
  package func finish(_ counters: SiteCounters) throws(SinkFailure) {}
}

/// The properties of a run. Only its site can change.
package struct SiteRun: Sendable {
  package var site: Site
  /// The names of the sources, by their index.
  package var sources: [String]
  /// Whether times count from the start of the run. A recording has times of its own.
  package var isLive: Bool
  /// The time 0 of the run in seconds since 1970; 0 for recordings.
  package var epoch: Double
  /// Whether the sources have times by clocks that agree.
  package var hasOneClock = false
  /// The zones that each tag is in at the start, by the name of the tag.
  package var zones: [String: [String]] = [:]

  package init(_ site: Site, sources: [String], isLive: Bool, epoch: Double) {
    (self.site, self.sources, self.isLive, self.epoch) = (site, sources, isLive, epoch)
  }
}

/// The measurements and events of a short time.
package struct SiteBatch: Sendable {
  /// The present time in seconds by the clock of the run.
  package var now = 0.0
  package var measurements: [SiteMeasurement] = []
  package var events: [SiteEvent] = []
  package var counters = SiteCounters()

  package init() {}
}

/// An error of a sink that ends the run.
package struct SinkFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
