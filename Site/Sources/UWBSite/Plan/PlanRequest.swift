// SPDX-License-Identifier: Apache-2.0

/// The requirements on a plan.
package struct PlanRequest: Sendable, Hashable {
  package var anchors: Int
  package var tags: Int
  /// The number of places of each tag in a second.
  package var rate: Double
  /// The length of a slot in seconds.
  package var slot = 0.002
  /// The number of sessions in range that do not follow the schedule of this site.
  package var neighbours = 0
  /// The duration of a neighbour's round in seconds; nil if it is as long as the longest round of
  /// this site.
  package var neighbourRound: Double?
  package var neighbourBlock: Double?
  /// Whether anchors that are controllers have a round with one another in each block.
  ///
  /// In this round, each anchor measures the clock rate of the first anchor.
  package var sharesTime = false
  package var chips = Chips()

  /// The abilities of the chips; `uwbctl caps` prints them.
  package struct Chips: Sendable, Hashable {
    package var mostControlees = 8
    package var shortestSlot = 0.001

    package init() {}
  }

  package init(anchors: Int, tags: Int, rate: Double) {
    (self.anchors, self.tags, self.rate) = (anchors, tags, rate)
  }
}

/// The schemes for measuring many tags.
package enum PlanScheme: String, Sendable, CaseIterable {
  /// Each tag is a controller, and ranges with all anchors in one round.
  case twoWayByTags = "tags"
  /// Each anchor in turn is a controller, and ranges with a group of tags.
  case twoWayByAnchors = "anchors"
  /// Tags send blinks, and anchors with a common time receive them.
  case differencesUp = "up"
  /// Anchors exchange messages, and tags listen.
  case differencesDown = "down"
}

/// The reason why a scheme cannot work, with its number.
package struct PlanRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
}
