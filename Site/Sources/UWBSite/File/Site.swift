// SPDX-License-Identifier: Apache-2.0

/// The description of a place with anchors and tags: the content of a site file.
///
/// Coordinates are in metres: x and y in the plane, z upwards.
package struct Site: Sendable, Hashable {
  /// The version of the schema that is read and written.
  package static let version = 1

  package var name = ""
  package var gauge = Gauge()
  package var floors: [Floor] = []
  package var anchors: [Anchor] = []
  package var tags: [Tag] = []
  package var zones: [Zone] = []
  package var doors: [Door] = []
  /// Pictures below the map.
  package var plans: [FloorPlan] = []
}

extension Site {
  /// The frame of the coordinates. A covariance is meaningful only in its frame.
  package struct Gauge: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
      /// Only the shape is known: place, heading and handedness are free.
      case shape
      /// Two anchors with known places, and the side of the third.
      case anchors
      /// One anchor, a direction, and a choice between mirror images.
      case direction
      /// The best fit to places that were chosen on a floor plan.
      case plan
      /// Each place was measured in the coordinates of the site.
      case measured
      /// Metres east, north and up from an origin on the earth.
      case wgs84
    }

    package var kind = Kind.measured
    /// The anchors that define the frame.
    package var anchors: [String] = []
    /// Whether the fit had to mirror the shape.
    package var isMirrored = false
    package var origin: Origin?
    package var note: String?

    /// The place of the origin on the earth.
    package struct Origin: Sendable, Hashable {
      package var latitude = 0.0
      package var longitude = 0.0
      package var height = 0.0
      /// The direction of the x axis in degrees, clockwise from north; 90 if x points east.
      package var heading = 90.0
    }
  }

  package struct Floor: Sendable, Hashable {
    package var id: String
    package var label: String?
    /// The height of the floor's surface.
    package var height: Double
  }

  /// A place with its standard deviations.
  package struct Place: Sendable, Hashable {
    package var position: SIMD3<Double>
    package var deviation: SIMD3<Double>
    package var correlationXY = 0.0

    /// The covariance in the plane, as xx, xy, yy in m².
    package var covariance: (xx: Double, xy: Double, yy: Double) {
      (
        deviation.x * deviation.x, correlationXY * deviation.x * deviation.y,
        deviation.y * deviation.y
      )
    }
  }

  package struct Anchor: Sendable, Hashable {
    /// The role of an anchor in the measurement of time differences.
    package enum Role: String, Sendable, CaseIterable {
      /// Receives the blinks of tags.
      case uplink
      /// Sends frames of synchronisation.
      case sync
      /// Begins the rounds of a cluster of downlink TDoA.
      case initiator
      /// Answers in the rounds of a cluster.
      case responder
    }

    package var id: String
    package var addresses: [Address] = []
    /// The place; nil before a survey. Rough places have large deviations.
    package var place: Place?
    /// The height of an anchor without a place, from a tape measure.
    package var height: Double?
    package var heightDeviation = 0.02
    package var floor: String?
    /// The length by which each range to this anchor is too long.
    package var delay = 0.0
    package var delayDeviation = 0.15
    /// The direction in which the antennas of the anchor face, in degrees from x towards y; nil if
    /// unknown.
    package var facing: Double?
    /// One standard deviation of the angles of the anchor, in degrees.
    package var angleDeviation = 6.0
    /// The roles of the anchor; empty for all roles.
    package var roles: [Role] = []
    /// The socket of the service that has the anchor's chip.
    package var service: String?
    package var chip: String?
    /// The session profile that drives the anchor.
    package var profile: String?
  }

  package struct Tag: Sendable, Hashable {
    package enum Carrier: String, Sendable, CaseIterable {
      case person, vehicle, drone, fixed
    }

    package enum Height: Sendable, Hashable {
      case known(Double)
      case range(ClosedRange<Double>)
      case free
    }

    /// The permanent identifier; addresses may change.
    package var id: String
    package var label: String?
    package var addresses: [Address] = []
    /// The names of the tag in its blinks, in hexadecimal digits.
    package var blinks: [String] = []
    package var carrier = Carrier.person
    package var height = Height.free
  }

  package struct Zone: Sendable, Hashable {
    package enum Shape: Sendable, Hashable {
      case polygon([SIMD2<Double>])
      case circle(center: SIMD2<Double>, radius: Double)
    }

    package var id: String
    package var label: String?
    package var shape: Shape
    /// The floor; a zone without a floor is on every floor.
    package var floor: String?
    /// The width of the band around the edge in which nothing changes.
    package var margin = 0.0
    /// The floors that the zone connects by stairs or a lift; tags change floors here.
    package var connectedFloors: [String] = []

    init(id: String, shape: Shape) { (self.id, self.shape) = (id, shape) }

    /// Creates a zone from the corners of a polygon.
    package init(id: String, corners: [SIMD2<Double>]) {
      self.init(id: id, shape: .polygon(corners))
    }
  }

  /// A picture of a floor with its place in metres. The place remains when the picture is
  /// exchanged.
  package struct FloorPlan: Sendable, Hashable {
    /// The name of a file in the folder of the site file.
    package var image: String
    /// The floor; a plan without a floor is below every floor.
    package var floor: String?
    /// The place of the upper left corner.
    package var origin: SIMD2<Double>
    package var metresPerPixel: Double
    /// The direction of the upper edge in degrees, counterclockwise from the x axis.
    package var rotation = 0.0
  }

  package struct Door: Sendable, Hashable {
    package var id: String
    package var label: String?
    package var floor: String?
    /// The ends of the opening.
    package var ends: [SIMD2<Double>]
    /// The anchor on each side of the leaf.
    package var insideAnchor: String?
    package var outsideAnchor: String?
  }
}
