// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CommandSupport
package import Formats
package import Ranging
import System
package import UCI
import UCIReference
package import UWB
import UWBLink

/// The parameters of a session, which must match at both ends.
package struct RangeOptions: ParsableArguments {
  /// An end of two-way ranging.
  package enum End: String, ExpressibleByArgument, CaseIterable {
    case controller, controlee
    package var value: SessionConfiguration.Role { self == .controller ? .controller : .controlee }
  }

  package enum Role: String, ExpressibleByArgument, CaseIterable {
    case controller, controlee
    case downlinkAnchor = "dl-tdoa-anchor"
    case downlinkTag = "dl-tdoa-tag"
    case uplinkAnchor = "ul-tdoa-anchor"
    case uplinkSyncAnchor = "ul-tdoa-sync"
    case uplinkTag = "ul-tdoa-tag"
    case advertiser = "aoa-advertiser"
    case observer = "aoa-observer"
  }

  @Option(
    help: """
      The role of this device. controller and controlee range in both directions, and the controller \
      sets the schedule. In one-way ranging, dl-tdoa-tag receives anchors, ul-tdoa-anchor receives \
      tags and ul-tdoa-sync, and aoa-observer receives aoa-advertiser.
      """)
  var role = Role.controller

  @Option(
    help: """
      The address of this device: 4 hexadecimal digits (default: 0000; controlee and responding \
      anchors 0001; other tags and receivers 0100).
      """)
  var address: String?

  @Option(
    name: .customLong("peer"),
    help: "The address of a peer; repeat it, or separate addresses with commas, for one-to-many.")
  var peers: [String] = []

  @Option(help: "One-to-many: the number of controlees, with the addresses 0001, 0002, …")
  var responders: Int?
  @Flag(
    help: """
      Several controlees share each round: for each controlee of a session with several, and for a \
      controller with one peer to which uwbctl multicast adds others.
      """)
  var oneToMany = false

  @Option(help: "The session id, the same at both ends.") var sessionID: UInt32 = 42
  @Option(help: "The UWB channel: 5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "The preamble code, 9…12.") var preamble: UInt8 = 10
  @Option(help: "The SFD id, 0 or 2.") var sfd: UInt8 = 2
  @Option(
    help: "The slot duration in RSTU; 1200 are 1 ms (default: 2400, or less for a short interval).")
  var slot: UInt16?
  @Option(
    help: "Slots in a ranging round (default: 25; for a short interval 6, or 13 in one-to-many).")
  var slots: UInt8?
  @Option(help: "Time between ranging rounds in milliseconds.") var interval: UInt32 = 200
  @Option(help: "Static STS: 16 hexadecimal digits, VENDOR_ID and IV in wire order.")
  var sts: String?
  @Flag(help: "Hop: change the ranging round from block to block.") var hopping = false
  @Option(
    help: "Take the session from this file instead of these options; see uwbctl profile.",
    completion: .file())
  var profile: String?
  @Flag(help: "Start the session even if it cannot work.") package var force = false
  @Flag(
    help: """
      Reject a session that exceeds the capabilities that the chip lists, instead of printing a \
      warning and letting the chip decide.
      """)
  package var strict = false

  /// Returns the session of this end.
  ///
  /// - Parameter oneWay: The options of one-way ranging; nil for their defaults.
  package func configuration(_ oneWay: OneWayOptions? = nil) throws -> SessionConfiguration {
    if let profile {
      let read = try naming(file: profile) { try SessionProfile(file: profile) }
      return try SessionConfiguration(read)
    }
    return try fromOptions(oneWay)
  }

  private func fromOptions(_ oneWay: OneWayOptions?) throws -> SessionConfiguration {
    func parse(_ text: String) throws -> MACAddress {
      guard let address = MACAddress(text) else {
        throw ValidationError("'\(printable(text))' is not an address: 4 or 16 hexadecimal digits.")
      }
      return address
    }
    if let responders, !(1...255).contains(responders) {
      throw ValidationError("--responders takes 1 to 255.")
    }
    try require(
      responders == nil || role == .controller || role == .downlinkAnchor,
      "--responders is for a controller, and for an anchor that begins the round; a controlee that "
        + "shares the round takes --one-to-many.")
    var list = try peers.flatMap { $0.split(separator: ",") }.map { try parse(String($0)) }
    let isInitiator = responders != nil || !list.isEmpty
    let own = try address.map(parse) ?? MACAddress(defaultAddress(isInitiator: isInitiator))
    if role != .controller, role != .controlee {
      if let responders, list.isEmpty { list = (1...responders).map { MACAddress(UInt16($0)) } }
      return try session(oneWay ?? .parse([]), own, list)
    }
    if list.isEmpty {
      list =
        role == .controlee
        ? [MACAddress(0)] : (1...(responders ?? 1)).map { MACAddress(UInt16($0)) }
    } else if responders != nil {
      throw ValidationError("Give either --peer or --responders.")
    }
    var result = SessionConfiguration(
      role: role == .controller ? .controller : .controlee, sessionID: sessionID, address: own,
      peers: list)
    if oneToMany { result.isOneToMany = true }
    // A controlee cannot determine the number of controlees that share the round.
    (result.slotsPerRound, result.slotDuration) = SessionConfiguration.schedule(
      interval: interval, slot: slot, slots: slots,
      controlees: result.isOneToMany ? max(8, list.count) : 1)
    return try completed(result)
  }

  private func defaultAddress(isInitiator: Bool) -> UInt16 {
    switch role {
    case .controller, .uplinkSyncAnchor: 0
    case .downlinkAnchor: isInitiator ? 0 : 1
    case .controlee: 1
    case .downlinkTag, .uplinkAnchor, .uplinkTag, .advertiser, .observer: 0x100
    }
  }

  /// Returns a session of one-way ranging.
  ///
  /// - Parameter responders: The responders of an anchor that begins the round.
  private func session(
    _ oneWay: OneWayOptions, _ own: MACAddress, _ responders: [MACAddress]
  ) throws -> SessionConfiguration {
    try require(
      responders.isEmpty || role == .downlinkAnchor,
      "--peer names the other end of two-way ranging, and the responders of dl-tdoa-anchor.")
    var result = SessionConfiguration(
      role: try oneWay.role(role, responders: responders, interval: interval),
      sessionID: sessionID, address: own)
    // Anchors and tags need the same slots: ten slots have room for eight responders.
    (result.slotsPerRound, result.slotDuration) = (slots ?? 10, slot ?? 2_400)
    return try completed(result)
  }

  /// Returns the session with the options that all roles have.
  private func completed(_ session: SessionConfiguration) throws -> SessionConfiguration {
    var result = session
    result.channel = channel
    result.preambleCode = preamble
    result.sfd = sfd
    result.interval = interval
    result.hopping = hopping
    if let sts {
      let bytes = (try? FrameText.bytes(sts)) ?? []
      try require(sts.count == 16 && bytes.count == 8, "--sts takes 16 hexadecimal digits.")
      result.sts = .fixed(.init(vendorID: Array(bytes[..<2]), iv: Array(bytes[2...])))
    }
    return result
  }

  package init() {}

  package func validate() throws {
    try require(!(force && strict), "Give either --force or --strict.")
    try require(
      profile == nil || !oneToMany,
      "A profile has the mode in it: uwbctl profile --one-to-many sets MULTI_NODE_MODE.")
    if profile == nil { _ = try configuration() }
  }
}

/// The options for computed values.
package struct EstimationOptions: ParsableArguments {
  @Option(
    help: """
      Correct computed values with these delays, levels and antenna tables, as written by uwblab \
      calibrate and uwblab compute --learn.
      """,
    completion: .file())
  package var calibration: String?
  @Option(
    help: "The name of this device in the calibration; peers have their addresses as names.")
  var board: String?
  @Option(
    help: """
      The constant error that distances have, in metres, one standard deviation: 0.05 where the \
      delays were calibrated and written to the chips (default: by the calibration, or by the family \
      of the chip).
      """)
  var biasSigma: Double?

  package init() {}

  package func validate() throws {
    try require(
      biasSigma.map { 0..<1000 ~= $0 } ?? true, "--bias-sigma is in metres and not negative.")
    try require(
      biasSigma == nil || calibration == nil,
      "Give either --calibration or --bias-sigma: the calibration has the deviation.")
  }

  /// Returns the settings of the estimation.
  ///
  /// - Parameter peers: The peers of the session.
  package func settings(channel: Int, peers: [MACAddress]) throws(FormatError) -> EstimationSettings
  {
    guard let calibration else {
      var settings = EstimationSettings()
      settings.delayDeviation = biasSigma
      return settings
    }
    let read = try RangingCalibration.read(calibration)
    return EstimationSettings(read, board: board, channel: channel, peers: peers)
  }
}

extension EstimationSettings {
  /// Prints the part of the deviations that repeats, and the way to reduce it, unless the boards
  /// are calibrated.
  package func noteMissingCalibration(on chip: ChipFamily, peers: [MACAddress] = []) {
    guard let deviation = uncalibratedDeviation(on: chip, peers: peers) else { return }
    let reduced = RangingCalibration.biasDeviation(positions: 3)
    note(
      "Not calibrated: ± \(fixed(deviation, 2)) m of it repeats; uwblab calibrate delay reduces it "
        + "to \(fixed(reduced, 2)) m.")
  }
}

/// The options for diagnostics from the chip.
package struct DiagnosticsOptions: ParsableArguments {
  @Flag(
    help: "Ask the chip for phases, levels and clock offsets of single frames, and use them.")
  package var diagnostics = false
  @Option(help: "NXP: the numbers of the antenna pairs that measure angles, such as 1,2.")
  var antennaPairs: String?

  package var request: DiagnosticsRequest? {
    guard diagnostics || antennaPairs != nil else { return nil }
    return DiagnosticsRequest(.usual, antennaPairs: pairs ?? [])
  }

  private var pairs: [UInt8]? {
    let parts = (antennaPairs ?? "").split(separator: ",")
    let numbers = parts.compactMap { UInt8($0) }
    return numbers.count == parts.count && numbers.count <= 8 ? numbers : nil
  }

  package init() {}

  package func validate() throws {
    try require(pairs != nil, "--antenna-pairs takes numbers, like 1,2.")
  }
}
