// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
import CommandSupport
import Formats
package import UCI
package import UWB

/// The options that only roles of one-way ranging have.
package struct OneWayOptions: ParsableArguments {
  @Option(
    name: .customLong("round"),
    help: """
      dl-tdoa-anchor, dl-tdoa-tag: the index of a ranging round; repeat it (default: 0). An anchor with \
      --responders or --peer begins the first round and responds in the others.
      """)
  var rounds: [UInt8] = []

  @Option(
    help: ArgumentHelp(
      """
      dl-tdoa-anchor: the place in its messages, in metres as X,Y,Z, or as wgs84:LATITUDE,LONGITUDE,\
      ALTITUDE.
      """, valueName: "place"))
  var location: String?

  @Flag(help: "dl-tdoa-anchor: end rounds without a final, so that tags need the carrier offset.")
  var singleSided = false

  @Option(help: "ul-tdoa-tag: milliseconds by which the interval varies at random.")
  var randomWindow: UInt32 = 0

  @Option(help: "ul-tdoa-tag: a name in the blinks, of 4, 8 or 16 hexadecimal digits.")
  var deviceID: String?

  package init() {}

  /// Returns the role with its values.
  ///
  /// - Parameters:
  ///   - responders: The responders of an anchor that begins the first round.
  ///   - interval: Milliseconds between two blinks.
  package func role(
    _ role: RangeOptions.Role, responders: [MACAddress], interval: UInt32
  ) throws -> SessionConfiguration.Role {
    let rounds = rounds.isEmpty ? [0] : rounds
    switch role {
    case .controller: return .controller
    case .controlee: return .controlee
    case .downlinkAnchor:
      var anchor = SessionConfiguration.DownlinkAnchor(
        rounds: rounds.enumerated().map { place, index in
          let begins = place == 0 && !responders.isEmpty
          return .init(index, begins ? .initiator(responders: responders) : .responder)
        }, location: try place())
      anchor.isDoubleSided = !singleSided
      return .downlinkAnchor(anchor)
    case .downlinkTag: return .downlinkTag(.init(rounds: rounds))
    case .uplinkAnchor: return .uplinkAnchor
    case .uplinkSyncAnchor: return .uplinkSyncAnchor(.bits40)
    case .uplinkTag:
      let name = deviceID.flatMap { try? FrameText.bytes($0) } ?? []
      try require(
        deviceID == nil || [2, 4, 8].contains(name.count),
        "--device-id takes 4, 8 or 16 hexadecimal digits.")
      return .uplinkTag(
        .init(interval: interval, randomWindow: randomWindow, deviceID: name))
    case .advertiser: return .advertiser(.init())
    case .observer: return .observer(.init())
    }
  }

  private func place() throws -> AnchorLocation? {
    guard let location else { return nil }
    let isGlobal = location.hasPrefix("wgs84:")
    let parts = location.dropFirst(isGlobal ? 6 : 0).split(
      separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Double($0) }.filter(\.isFinite)
    let limits = isGlobal ? [90, 180, 500] : [134_217, 134_217, 8_388]
    guard parts.count == 3, numbers.count == 3,
      zip(numbers, limits).allSatisfy({ abs($0) <= Double($1) })
    else {
      throw ValidationError(
        "--location takes X,Y,Z in metres, or wgs84:LATITUDE,LONGITUDE,ALTITUDE in degrees and metres."
      )
    }
    guard !isGlobal else {
      return .geographic(latitude: numbers[0], longitude: numbers[1], altitude: numbers[2])
    }
    let millimetres = numbers.map { Int32(($0 * 1_000).rounded()) }
    return .relative(x: millimetres[0], y: millimetres[1], z: millimetres[2])
  }
}
