// SPDX-License-Identifier: Apache-2.0

/// A device wants to pair, or was asked to.
package struct PairingRequest: Sendable, Hashable {
  package let device: BluetoothDeviceID
  /// Six digits that people compare on both devices; nil where there is nothing to compare.
  package let code: UInt32?
}

/// What this side can show and take.
package enum PairingCapability: String, Sendable {
  /// Nothing: devices pair without a comparison ("Just Works").
  case none = "NoInputNoOutput"
  /// Show six digits, and ask whether they are the same on the other device.
  case compare = "DisplayYesNo"
}

extension Bluetooth {
  /// Lets devices pair, until `unregister`.
  ///
  /// - Parameters:
  ///   - capability: what this side can show and take.
  ///   - isForAll: whether no other program on this machine is asked meanwhile; otherwise it is for `pair`
  ///     only, unless there is no other.
  ///   - consent: whether the device may pair. It may take up to 60 s.
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
            agent.take($0)
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

/// Answers bluetoothd's questions.
@BluetoothActor private final class PairingAgent {
  private let consent: @Sendable (PairingRequest) async -> Bool
  private var asking: [Task<Void, Never>] = []

  init(_ consent: @escaping @Sendable (PairingRequest) async -> Bool) { self.consent = consent }

  func take(_ call: DBusCall) {
    let body = call.message.body
    let device = body.first?.path.map { BluetoothDeviceID(path: $0) }
    switch (call.message.member, device) {
    case ("RequestAuthorization", let device?): ask(PairingRequest(device: device, code: nil), call)
    case ("RequestConfirmation", let device?):
      ask(
        PairingRequest(device: device, code: body.last?.integer.flatMap { UInt32(exactly: $0) }),
        call)
    // It is paired already.
    case ("AuthorizeService", _?): call.reply()
    case ("Cancel", _), ("Release", _):
      for task in asking { task.cancel() }
      asking = []
      call.reply()
    default: call.fail("org.bluez.Error.Rejected", "It has no means for that.")
    }
  }

  private func ask(_ request: PairingRequest, _ call: DBusCall) {
    asking.append(
      Task { @BluetoothActor in
        let isAllowed = await consent(request)
        if isAllowed, !Task.isCancelled {
          call.reply()
        } else {
          call.fail("org.bluez.Error.Rejected", "It was not allowed.")
        }
      })
    // Those that have ended count no more.
    if asking.count > 16 { asking.removeFirst() }
  }
}
