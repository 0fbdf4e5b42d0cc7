// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A change of the site, as every sink receives it. Times are seconds by the clock of the run.
package struct SiteEvent: Sendable, Hashable {
  /// The number of the event in its run, counted from 1.
  package var number: Int
  /// The time of the decision.
  package var decided: Double
  package var kind: Kind

  package enum Kind: Sendable, Hashable {
    /// The place of a tag, and its floor if it is known.
    case place(tag: String, TagPlace, floor: String?)
    /// The place is too uncertain to be reported.
    case refused(tag: String, TagTrack.Refusal, TagPlace)
    /// The tag has been silent for longer than its usual rate explains. It keeps its zones.
    case lost(tag: String, since: Double, zones: [String])
    /// The first place after a loss.
    case found(tag: String, at: Double)
    case zone(ZoneChange)
    case floor(tag: String, FloorFilter.Change)
    case door(DoorChange)
    /// An address that is not in the site, reported once.
    case unknownBoard(String)
    /// Many tags contradict the place of an anchor; the displacement in metres.
    case anchorMoved(anchor: String, time: Double, by: SIMD3<Double>)
    case anchorDoubtful(anchor: String, time: Double)
    case anchorRestored(anchor: String, time: Double)
    /// The clock of a source was set by this number of seconds.
    case clockSet(source: String, by: Double)
    case source(String, SourceState)
    /// The site file has changed. Later events follow the new site.
    case siteChanged
    /// A part of an input that cannot be used. Only the first such parts of a source are events.
    case bad(source: String, String)
  }
}

/// A tag that entered or left a zone.
package struct ZoneChange: Sendable, Hashable {
  package enum Side: Sendable, Hashable {
    case entered
    /// The tag has left the zone after the dwell time in seconds.
    case left(dwell: Double)
  }

  package var tag: String
  package var zone: String
  package var side: Side
  /// The time of crossing the edge.
  package var happened: Double
  /// The standard deviation of `happened`; infinite for a tag that was inside from its first place.
  package var happenedDeviation: Double
  /// The number of tags in the zone after the change, including lost tags.
  package var count: Int
}

/// A decision about a tag at a door.
package struct DoorChange: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case inside, outside
    /// The tag approached from outside, so the door may unlock.
    case unlocks
  }

  package var tag: String
  package var door: String
  package var kind: Kind
  /// The time of the last round of ranges.
  package var happened: Double
  /// The probability that the tag is outside.
  package var outside: Double
}

/// A measurement as its source has sent it.
package struct SiteMeasurement: Sendable, Hashable {
  /// The index of the source.
  package var source: Int
  /// The line, with the time by the clock of the source.
  package var line: RangeLine
  /// The time by the clock of the run; nil if the measurement is late or a board of it is unknown.
  package var time: Double?
  /// The tag and the anchor, by their indices in the engine, and the effect; nil without a time.
  package var link: Link?

  package struct Link: Sendable, Hashable {
    package var tag: Int
    package var anchor: Int
    package var reception: TagTrack.Reception
  }
}

/// The counters of a run.
package struct SiteCounters: Sendable, Hashable {
  package var measurements = 0
  package var places = 0
  package var engine = Engine.Counters()
  /// The number of measurements from boards that are not in the site.
  package var unknown = 0
  /// The number of measurements between two tags or two anchors.
  package var withoutTag = 0
  /// The number of rounds without a measurement.
  package var failed = 0
  /// The number of parts of inputs that cannot be used.
  package var bad = 0
  /// The number of measurements that arrived too fast and were dropped.
  package var lost = 0
}
