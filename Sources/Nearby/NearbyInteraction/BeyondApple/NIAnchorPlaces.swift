// SPDX-License-Identifier: Apache-2.0
internal import Estimators
internal import Ranging
public import SIMDMath

/// Places of this device, computed from the messages of anchors. Not part of Apple's API.
///
/// ```swift
/// var places = NIAnchorPlaces(height: 1.2)
/// for result in places.update(measurements) {  // in session(_:didUpdateDLTDOA:)
///   if case .place(let place) = result { print(place.position, place.radius95) }
/// }
/// ```
///
/// Each ranging round has a result. The anchors need their places in their messages.
public struct NIAnchorPlaces: Sendable {
  /// A place in one ranging round.
  public struct Place: Sendable, Hashable {
    /// The place in the coordinates of the anchors: x, y and z in metres, or latitude and longitude
    /// in degrees with the altitude in metres.
    public var position: simd_double3
    /// The coordinate system of `position`.
    public var coordinatesType: NIDLTDOACoordinatesType
    /// The radius in metres of the circle around the place, seen from above, in which the device is
    /// with a probability of 95 %.
    public var radius95: Double
    /// One standard deviation of the height in metres.
    public var heightDeviation: Double
    /// The number of anchors.
    public var anchorCount: Int
    /// The block of the messages.
    public var blockIndex: Int
    /// The ranging round of the messages within their block.
    public var roundIndex: Int
  }

  /// The reason why a round has no place.
  public enum Refusal: Sendable, Hashable {
    /// Fewer than four anchors have a place, or fewer than five if the height is unknown; or the
    /// poll is missing.
    case fewAnchors
    /// Another place is as likely. A height excludes the mirror image of anchors in one plane.
    case ambiguous
    /// The messages contradict each other.
    case inconsistent
    /// `radius95` is more than 5 m, as far outside of the anchors.
    case uncertain
  }

  /// The result of a round.
  public enum Result: Sendable, Hashable {
    /// The device is here.
    case place(Place)
    /// There is no place in this round.
    case refused(Refusal)
  }

  /// The part of a distance that is not noise, in metres, one standard deviation for each anchor:
  /// its place, its antenna delays and reflections.
  public var anchorDeviation = 0.075
  private let height: HeightPrior?
  private var clocks = AnchorClocks()
  private var frame: AnchorFrame?
  /// The places of anchors in metres.
  private var anchors: [Int: SIMD3<Double>] = [:]
  /// The messages of the round that is not complete yet.
  private var pending: [NIDLTDOAMeasurement.Values] = []
  private var last: SIMD3<Double>?
  /// The greatest number of messages of a round: FiRa's rounds have at most 255 slots.
  private static let mostMessages = 255
  /// The greatest number of anchors whose places and clocks are kept.
  private static let mostAnchors = 1_024
  /// The greatest coordinate of an anchor in metres: FiRa's relative coordinates are within 135 km.
  private static let farthest = 1e6
  /// The greatest `radius95` of a place, in metres.
  private static let greatestRadius = 5.0

  /// Creates an empty value for one session.
  ///
  /// - Parameters:
  ///   - height: the device's height or altitude in metres, if it is roughly known. Anchors at one
  ///     height need it.
  ///   - heightDeviation: one standard deviation of `height` in metres, greater than 0.
  public init(height: Double? = nil, heightDeviation: Double = 0.5) {
    self.height = height.map {
      HeightPrior($0, standardDeviation: max(0.01, heightDeviation))
    }
  }

  /// Processes messages in their order.
  ///
  /// - Returns: a result for each complete round. A round is complete after its final message, or
  ///   at a message of another round.
  public mutating func update(_ measurements: [NIDLTDOAMeasurement]) -> [Result] {
    var results: [Result] = []
    for values in measurements.map(\.values) {
      keepPlace(of: values)
      if let first = pending.first, first.block != values.block || first.round != values.round {
        results.append(finishRound())
      }
      if pending.count < Self.mostMessages { pending.append(values) }
      if values.type == NIDLTDOAMeasurementType.final.rawValue { results.append(finishRound()) }
    }
    return results
  }

  private mutating func keepPlace(of values: NIDLTDOAMeasurement.Values) {
    // Coordinates that are impossibly large count as missing.
    guard let coordinates = values.coordinates, coordinates.isFinite,
      coordinates.length < Self.farthest
    else { return }
    if anchors.count >= Self.mostAnchors, anchors[values.address] == nil {
      (anchors, clocks) = ([:], AnchorClocks())
    }
    let type = NIDLTDOACoordinatesType(rawValue: values.coordinatesType) ?? .relative
    let frame = frame ?? AnchorFrame(type, at: coordinates)
    // Coordinates of another system cannot be converted to the frame.
    guard frame.type == type else { return }
    self.frame = frame
    anchors[values.address] = frame.metres(coordinates)
  }

  private mutating func finishRound() -> Result {
    let round = pending
    pending = []
    let observations = observations(round)
    guard let frame, let first = round.first, observations.count >= (height == nil ? 4 : 3) else {
      return .refused(.fewAnchors)
    }
    var prior = height
    prior?.height -= frame.origin.z
    guard let estimate = PositionSolver(height: prior).solve(observations, near: last) else {
      return .refused(.uncertain)
    }
    if estimate.warnings.contains(.inconsistent) { return .refused(.inconsistent) }
    if estimate.warnings.contains(.mirror) { return .refused(.ambiguous) }
    guard estimate.r95 <= Self.greatestRadius else { return .refused(.uncertain) }
    last = estimate.position
    return .place(
      Place(
        position: frame.coordinates(estimate.position), coordinatesType: frame.type,
        radius95: estimate.r95, heightDeviation: max(0, estimate.covariance.zz).squareRoot(),
        anchorCount: observations.count + 1, blockIndex: first.block, roundIndex: first.round))
  }

  /// Returns the differences of distances in a round.
  private mutating func observations(
    _ round: [NIDLTDOAMeasurement.Values]
  ) -> [PositionObservation] {
    typealias Kind = NIDLTDOAMeasurementType
    guard let poll = round.first(where: { $0.type == Kind.poll.rawValue }) else { return [] }
    let final = round.first { $0.type == Kind.final.rawValue && $0.address == poll.address }
    clocks.add(poll, final)
    guard let start = anchors[poll.address] else { return [] }
    return round.filter { $0.type == Kind.response.rawValue }.compactMap { response in
      guard let end = anchors[response.address],
        let found = clocks.difference(poll, response, final, from: start, to: end)
      else { return nil }
      let noise = found.standardDeviation
      return PositionObservation(
        .difference(start, end), found.metres,
        standardDeviation: (noise * noise + 2 * anchorDeviation * anchorDeviation).squareRoot())
    }
  }
}
