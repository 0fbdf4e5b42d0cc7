// SPDX-License-Identifier: Apache-2.0

import UCI
import UWBDriver
import UWBLink

/// A chip to ask things, without disturbing what runs on it.
///
/// It is reset only when that is asked for, or when it does not answer otherwise (chips that want a
/// vendor's command first: they have no sessions to lose).
final class ChipConnection {
  /// What the chip said about itself.
  let info: DeviceInfo
  let profile: DeviceProfile
  let dialect: Dialect
  private let way: Way

  private enum Way {
    case plain(PacketLink)
    case driver(UWBDevice)
  }

  private init(info: DeviceInfo, profile: DeviceProfile, dialect: Dialect, way: Way) {
    self.info = info
    self.profile = profile
    self.dialect = dialect
    self.way = way
  }

  /// How long a chip may take to say who it is before it is reset. Longer than Qorvo's firmware
  /// needs to get rid of 32 kB of old notifications is too long for a chip that says nothing.
  private static let identityTimeout = 1_000

  /// - Parameters:
  ///   - reset: even when the chip answers without it.
  ///   - notice: told when the chip had to be reset.
  /// - Throws: `DriverError`, `LinkError`, `CancellationError`.
  static func open(
    _ target: OpenTarget, _ options: UWBDevice.Options, reset: Bool,
    notice: (String) -> Void = { standardError.write("uwbctl: \($0)\n") }
  ) async throws -> ChipConnection {
    if !reset, let plain = try await identified(target, options) { return plain }
    if !reset { notice("The chip answers nothing before a reset: it is reset.") }
    let device = try await target.open(options)
    return ChipConnection(
      info: device.info, profile: device.profile, dialect: device.dialect, way: .driver(device))
  }

  private static func identified(
    _ target: OpenTarget, _ options: UWBDevice.Options
  ) async throws -> ChipConnection? {
    let link = try PacketLink(target.endpoint, record: target.tap)
    // The boundary between packets is found in a silence.
    try await link.take(milliseconds: 30) { _ in false }
    let command = Segmentation.packets(GetDeviceInfo())
    guard let payload = try await link.ask(command, milliseconds: identityTimeout) else {
      link.close()
      return nil
    }
    var reader = PayloadReader(payload.span.bytes)
    guard let response = try? DeviceInfoResponse(from: &reader, dialect: .assumed),
      let info = response.info
    else {
      link.close()
      return nil
    }
    let profile = options.profile ?? .matching(info)
    link.adopt(profile)
    let dialect = Dialect(
      generation: .init(info.uciVersion),
      vendor: profile.vendor, dataLengthInOctet3: profile.dataLengthInOctet3)
    return ChipConnection(info: info, profile: profile, dialect: dialect, way: .plain(link))
  }

  /// Sends a command and returns its answer, whatever the status in it.
  ///
  /// - Throws: `DriverError`, `LinkError`, `CancellationError`.
  func send<C: UCICommand>(_ command: C) async throws -> C.Response {
    let link: PacketLink
    switch way {
    case .driver(let device): return try await device.send(command)
    case .plain(let plain): link = plain
    }
    let name = MessageCatalog.name(type: .command, opcode: C.opcode, dialect: dialect)
    let packets = Segmentation.packets(command, dialect: dialect, limit: profile.commandSegment)
    for _ in 0...profile.retryLimit {
      var wantsRetry = false
      let end = link.timer(after: profile.responseTimeout)
      for packet in packets { try link.send(packet) }
      var payload: [UInt8] = []
      waiting: for await event in link.events {
        switch event {
        case .timer(end):
          throw DriverError.noAnswer(
            command: name, milliseconds: profile.responseTimeout, garbage: 0)
        case .ended(let error): throw error
        case .timer: break
        case .packet(let packet):
          guard packet.direction == .inbound,
            let header = try? PacketHeader(parsing: packet.octets.span.bytes)
          else { continue }
          let octets = packet.octets.dropFirst(PacketHeader.length)
          if header.type == .notification, header.opcode == .coreGenericError,
            octets.first == Status.commandRetry.rawValue
          {
            wantsRetry = true
            break waiting
          }
          guard header.type == .response, header.opcode == C.opcode else { continue }
          payload += octets
          if header.moreFollows { continue }
          if payload.first == Status.commandRetry.rawValue, payload.count == 1 {
            wantsRetry = true
            break waiting
          }
          var reader = PayloadReader(payload.span.bytes)
          do {
            return try C.Response(from: &reader, dialect: dialect)
          } catch {
            throw DriverError.malformedAnswer(command: name, error)
          }
        }
      }
      try Task.checkCancellation()
      guard wantsRetry else { throw DriverError.closed }
    }
    throw DriverError.retriesExhausted(command: name, attempts: profile.retryLimit)
  }

  /// Closes the device; what runs on the chip goes on.
  func close() async {
    switch way {
    case .plain(let link): link.close()
    case .driver(let device): await device.close()
    }
  }
}
