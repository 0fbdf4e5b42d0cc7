// SPDX-License-Identifier: Apache-2.0

/// A request of a device to pair, or the confirmation of a pairing that this side began.
package struct PairingRequest: Sendable, Hashable {
  package let device: BluetoothDeviceID
  /// The six digits that users compare on both devices; nil if there is nothing to compare.
  package let code: UInt32?
}

/// The ability of this side to show digits and to ask its user.
package enum PairingCapability: String, Sendable {
  /// No display and no input: devices pair without a comparison ("Just Works").
  case none = "NoInputNoOutput"
  /// A display of six digits, and a question whether the other device shows the same.
  case compare = "DisplayYesNo"
}

extension Bluetooth {
  /// Registers an agent that lets devices pair, until `unregister`.
  ///
  /// - Parameters:
  ///   - capability: the ability of this side to show digits and to ask its user.
  ///   - isForAll: whether the agent becomes the default agent of the machine. Otherwise it
  ///     serves only `pair`, unless there is no other agent.
  ///   - consent: returns whether the device may pair. It may take up to 60 s.
  /// - Throws: `BluetoothError`.
  package func allowPairing(
    _ capability: PairingCapability = .none, isForAll: Bool = true,
    consent: @escaping @Sendable (PairingRequest) async -> Bool
  ) async throws(BluetoothError) -> Registration {
    let path = "/bluetooth/agent\(next())"
    let agent = PairingAgent(consent)
    connection.export(
      path,
      [
        DBusInterface(
          "org.bluez.Agent1",
          call: { [weak self] in
            if $0.message.member == "Release" { self?.released(path) }
            agent.answer($0)
          })
      ])
    do throws(BluetoothError) {
      return try await register(.agent, path, on: nil) { bluetooth, _ throws(BluetoothError) in
        _ = try await bluetooth.connection.call(
          Self.agentManager("RegisterAgent"), [.path(path), .string(capability.rawValue)])
        guard isForAll else { return }
        _ = try await bluetooth.connection.call(
          Self.agentManager("RequestDefaultAgent"), [.path(path)])
      } unregister: { _ in
        Self.agentManager("UnregisterAgent")
      }
    } catch {
      connection.withdraw(path)
      throw error
    }
  }

  private nonisolated static func agentManager(_ member: String) -> DBusMethod {
    DBusMethod("org.bluez", "/org/bluez", "org.bluez.AgentManager1", member)
  }
}

/// An agent that answers the requests of bluetoothd.
@BluetoothActor private final class PairingAgent {
  private let consent: @Sendable (PairingRequest) async -> Bool
  private var asking: [Task<Void, Never>] = []

  init(_ consent: @escaping @Sendable (PairingRequest) async -> Bool) { self.consent = consent }

  func answer(_ call: DBusCall) {
    let body = call.message.body
    let device = body.first?.path.map { BluetoothDeviceID(path: $0) }
    switch (call.message.member, device) {
    case ("RequestAuthorization", let device?): ask(PairingRequest(device: device, code: nil), call)
    case ("RequestConfirmation", let device?):
      ask(
        PairingRequest(device: device, code: body.last?.integer.flatMap { UInt32(exactly: $0) }),
        call)
    // The device is already paired.
    case ("AuthorizeService", _?): call.reply()
    case ("Cancel", _), ("Release", _):
      for task in asking { task.cancel() }
      asking = []
      call.reply()
    default: call.fail("org.bluez.Error.Rejected", "The agent does not support this request.")
    }
  }

  private func ask(_ request: PairingRequest, _ call: DBusCall) {
    asking.append(
      Task { @BluetoothActor in
        let isAllowed = await consent(request)
        if isAllowed, !Task.isCancelled {
          call.reply()
        } else {
          call.fail("org.bluez.Error.Rejected", "The pairing was not allowed.")
        }
      })
    // Drop the oldest task, which has ended.
    if asking.count > 16 { asking.removeFirst() }
  }
}
