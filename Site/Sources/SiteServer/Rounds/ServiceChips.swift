// SPDX-License-Identifier: Apache-2.0

internal import UCI
internal import UWB
internal import UWBSite
internal import Varlink

/// The chips of services `org.swift-uwb.Chips`.
///
/// One connection to each service owns the sessions. One connection to each chip reads its clock.
actor ServiceChips: RoundChips {
  private struct Chip: Hashable {
    var service: String
    var name: String?
  }

  /// The command CORE_QUERY_UWBS_TIMESTAMP of FiRa UCI 2.0.
  private static let timestamp = Opcode(GroupID(rawValue: 0), 0x08)

  private var clients: [String: VarlinkClient] = [:]
  private var devices: [Chip: UWBDevice] = [:]

  func reading(of end: RoundsFolder.End) async throws -> UInt64 {
    let chip = Chip(service: end.service, name: end.chip)
    do {
      let payload = try await device(chip).send(Self.timestamp, payload: [])
      guard payload.count == 9, payload[0] == 0 else {
        throw ChipRefusal(
          description: "the chip does not report its time; chips of FiRa UCI 2.0 do "
            + "(CORE_QUERY_UWBS_TIMESTAMP)")
      }
      return payload[1...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    } catch let refusal as ChipRefusal {
      throw refusal
    } catch {
      await devices.removeValue(forKey: chip)?.close()
      clients.removeValue(forKey: end.service)?.close()
      throw error
    }
  }

  private func device(_ chip: Chip) async throws -> UWBDevice {
    if let device = devices[chip] { return device }
    let name = chip.name.map { "?chip=\($0)" } ?? ""
    let device = try await UWBDevice.open("uwbd:\(chip.service)\(name)")
    devices[chip] = device
    return device
  }

  func start(_ end: RoundsFolder.End, reading: UInt64?) async throws {
    _ = try await call("Start", end.call(reading: reading), end.service)
  }

  func stop(_ end: RoundsFolder.End) async {
    let parameters = JSONValue.object([
      JSONMember("chip", end.chip.map(JSONValue.string) ?? .null),
      JSONMember("session_id", .number(Double(end.session))),
    ])
    // Stopping a session that does not run fails, which is harmless.
    _ = try? await call("Stop", parameters, end.service)
  }

  private func call(
    _ method: String, _ parameters: JSONValue, _ service: String
  ) async throws -> [UInt8] {
    if clients[service] == nil {
      clients[service] = try await VarlinkClient.connect(to: service)
    }
    guard let client = clients[service] else { return [] }
    do {
      return try await client.call(
        "org.swift-uwb.Chips.\(method)", Array(parameters.description.utf8))
    } catch {
      if error.name.hasPrefix("Connection.") { clients.removeValue(forKey: service)?.close() }
      throw error
    }
  }

  func close() async {
    for client in clients.values { client.close() }
    for device in devices.values { await device.close() }
    (clients, devices) = ([:], [:])
  }
}
