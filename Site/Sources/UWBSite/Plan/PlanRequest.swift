// SPDX-License-Identifier: Apache-2.0

/// The wishes from which a plan is made.
package struct PlanRequest: Sendable, Hashable {
  package var anchors: Int
  package var tags: Int
  /// Places a second of each tag.
  package var rate: Double
  /// Seconds.
  package var slot = 0.002
  /// Sessions in range that have no schedule in common with this site, and their rounds in seconds.
  package var neighbours = 0
  package var neighbourRound: Double?
  package var neighbourBlock: Double?
  /// Whether anchors that are controllers have a round with one another in each block. Each of
  /// them measures the rate of the first one's clock in it.
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

/// The ways to measure many tags.
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

/// The reason for which a scheme cannot work, with its number.
package struct PlanRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
}
