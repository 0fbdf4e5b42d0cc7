// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UWB
import UCI

/// The parameters of a session, which both ends have to agree on.
struct RangeOptions: ParsableArguments {
  enum Role: String, ExpressibleByArgument, CaseIterable { case controller, controlee }

  @Option(help: "controller or controlee: the controller sets the schedule.")
  var role = Role.controller

  @Option(help: "The address of this device: 4 hexadecimal digits (default: 0000, controlee 0001).")
  var address: String?

  @Option(
    name: .customLong("peer"),
    help: "The address of a peer; repeat it, or separate addresses with commas, for one-to-many.")
  var peers: [String] = []

  @Option(help: "One-to-many: the number of controlees, with the addresses 0001, 0002, …")
  var responders: Int?

  @Option(help: "The session id, the same at both ends.") var sessionID: UInt32 = 42
  @Option(help: "The UWB channel: 5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "The preamble code, 9…12.") var preamble: UInt8 = 10
  @Option(help: "The SFD id, 0 or 2.") var sfd: UInt8 = 2
  @Option(
    help: "The slot duration in RSTU; 1200 are 1 ms (default: 2400, or less for a short interval).")
  var slot: UInt16?
  @Option(help: "Slots in a ranging round (default: 25, or fewer for a short interval).")
  var slots: UInt8?
  @Option(help: "Time between ranging rounds in milliseconds.") var interval: UInt32 = 200
  @Option(help: "Static STS: 16 hexadecimal digits, VENDOR_ID and IV in wire order.")
  var sts: String?
  @Flag(help: "Hop: change the ranging round from block to block.") var hopping = false
  @Option(
    help: "Take the session from this file instead of these options; see uwbctl profile.",
    completion: .file())
  var profile: String?
  @Flag(help: "Start the session even if it cannot work.") var force = false

  /// The session of this end.
  func configuration() throws -> SessionConfiguration {
    if let profile {
      let read = try SessionProfile(file: profile)
      return try SessionConfiguration(
        sessionID: read.sessionID, read.parameters(for: .assumed))
    }
    return try fromOptions()
  }

  private func fromOptions() throws -> SessionConfiguration {
    func parse(_ text: String) throws -> MACAddress {
      guard let address = MACAddress(text) else {
        throw ValidationError("'\(text)' is not an address: 4 or 16 hexadecimal digits.")
      }
      return address
    }
    if let responders, !(1...255).contains(responders) {
      throw ValidationError("--responders takes 1 to 255.")
    }
    let own = try address.map(parse) ?? MACAddress(role == .controller ? 0 : 1)
    var list = try peers.flatMap { $0.split(separator: ",") }.map { try parse(String($0)) }
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
    result.channel = channel
    result.preambleCode = preamble
    result.sfd = sfd
    result.interval = interval
    result.hopping = hopping
    (result.slotsPerRound, result.slotDuration) = schedule(peers: list.count)
    if let sts {
      let bytes = stride(from: 0, to: sts.count - 1, by: 2).compactMap {
        UInt8(sts.dropFirst($0).prefix(2), radix: 16)
      }
      guard sts.count == 16, bytes.count == 8 else {
        throw ValidationError("--sts takes 16 hexadecimal digits.")
      }
      result.sts = .fixed(.init(vendorID: Array(bytes[..<2]), iv: Array(bytes[2...])))
    }
    return result
  }

  /// FiRa's defaults if they fit into the interval; otherwise as few slots as the peers need, as long
  /// as possible.
  private func schedule(peers: Int) -> (slots: UInt8, duration: UInt16) {
    let available = Int(interval) * 1_200
    let needed = min(peers + 5, 255)
    let usual = max(25, needed)
    let wanted = Int(slot ?? 2_400)
    let count = slots.map(Int.init) ?? (usual * wanted <= available ? usual : needed)
    let longest = available / max(count, 1) / 100 * 100
    return (UInt8(count), slot ?? UInt16(clamping: max(1, min(wanted, longest))))
  }

  func validate() throws { if profile == nil { _ = try configuration() } }

  /// The other end of a session, for each peer.
  static func mirrored(_ configuration: SessionConfiguration) -> [SessionConfiguration] {
    configuration.peers.map { peer in
      var other = configuration
      other.role = configuration.role == .controller ? .controlee : .controller
      other.address = peer
      other.peers = [configuration.address]
      other.diagnostics = nil
      // The controller may be the responder.
      other.additional = other.additional.map { tlv in
        tlv.id == AppConfigID.deviceRole.rawValue
          ? TLV(tlv.id, tlv.value.map { $0 <= 1 ? 1 - $0 : $0 }) : tlv
      }
      // A chip compares this with what the controller announces.
      if configuration.peers.count > 1 { other.additional.append(TLV(0x03, [1])) }
      return other
    }
  }
}
