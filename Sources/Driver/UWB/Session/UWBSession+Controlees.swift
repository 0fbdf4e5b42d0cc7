// SPDX-License-Identifier: Apache-2.0
public import UCI

/// The result of a change of a session's list of controlees, for one of them.
public struct ControleeOutcome: Sendable, Hashable {
  /// The controlee.
  public var address: MACAddress
  /// The status; `.ok` means added or removed as requested.
  public var status: MulticastStatus
}

extension UWBSession {
  /// The short addresses of the session's current controlees: the addresses of the configuration,
  /// with the changes that this driver made.
  public var controlees: [MACAddress] { record.controlees.map { MACAddress($0.address) } }

  /// Adds controlees to a one-to-many session of a controller. The session may be ranging. A
  /// session with one peer needs `SessionConfiguration.isOneToMany` at both ends.
  ///
  /// - Parameter addresses: short addresses; the command does not support extended ones.
  /// - Returns: one outcome for each address, in the same order. A controlee that was not added is
  ///   not an error: check its status.
  /// - Throws: `DriverError`; `.refused` if the chip refuses the whole command.
  @discardableResult
  public func addControlees(
    _ addresses: [MACAddress]
  ) async throws(DriverError) -> [ControleeOutcome] {
    try await addControlees(try Self.entries(addresses))
  }

  /// Adds controlees with individual sub-sessions, for an STS with keys of the controlees.
  ///
  /// - Parameter controlees: controlees with keys of 16 bytes, with keys of 32 bytes (FiRa 2.0), or
  ///   without keys; all alike. The keys are kept, so that the session can be created again, and
  ///   are never printed.
  /// - Returns: one outcome for each controlee, in the same order.
  /// - Throws: `DriverError`; `.invalidConfiguration` if the keys differ in length.
  @discardableResult
  public func addControlees(
    _ controlees: [UpdateMulticastList.Controlee]
  ) async throws(DriverError) -> [ControleeOutcome] {
    let lengths = Set(controlees.map(\.key.count))
    let actions: [UpdateMulticastList.Action] = [.add, .addWithShortKey, .addWithLongKey]
    guard lengths.count <= 1,
      let action = actions.first(where: { $0.keyLength == lengths.first ?? 0 })
    else {
      throw .invalidConfiguration("the sub-session keys are not all of 16 bytes or all of 32")
    }
    let outcomes = try await change(action, controlees)
    let done = Set(outcomes.filter { $0.status == .ok }.map(\.address))
    record.changeControlees(
      add: controlees.filter { done.contains(MACAddress($0.address)) }, remove: [])
    return outcomes
  }

  /// Removes controlees from a one-to-many session of a controller. The session may be ranging. A
  /// session without controlees stops.
  ///
  /// - Parameter addresses: short addresses.
  /// - Returns: one outcome for each address, in the same order.
  /// - Throws: `DriverError`; `.refused` if the chip refuses the whole command.
  @discardableResult
  public func removeControlees(
    _ addresses: [MACAddress]
  ) async throws(DriverError) -> [ControleeOutcome] {
    let entries = try Self.entries(addresses)
    let outcomes = try await change(.remove, entries)
    let gone = outcomes.filter { $0.status == .ok || $0.status == .addressNotFound }
    record.changeControlees(
      add: [], remove: Set(gone.map { UInt16(truncatingIfNeeded: $0.address.value) }))
    return outcomes
  }

  private static func entries(
    _ addresses: [MACAddress]
  ) throws(DriverError) -> [UpdateMulticastList.Controlee] {
    guard !addresses.contains(where: \.isExtended) else {
      throw .invalidConfiguration(
        "the list of controlees is changed with short addresses only, but one has eight bytes")
    }
    return addresses.map {
      UpdateMulticastList.Controlee(address: UInt16(truncatingIfNeeded: $0.value))
    }
  }

  private func change(
    _ action: UpdateMulticastList.Action, _ controlees: [UpdateMulticastList.Controlee]
  ) async throws(DriverError) -> [ControleeOutcome] {
    guard !controlees.isEmpty else { return [] }
    guard controlees.count <= 255, Set(controlees.map(\.address)).count == controlees.count else {
      throw .invalidConfiguration("a controlee is named twice, or there are more than 255")
    }
    let token = token
    let engine = device.core.engine
    // FiRa 1.x reports after every command, 2.0 only after removals from a ranging session. This is
    // evaluated before sending, because the notification may precede the response.
    let reports =
      device.dialect.generation == .fira1 || (action == .remove && state == .active)
    let before = engine.chip.multicast[token]?.count ?? 0
    let response = try await engine.send(
      UpdateMulticastList(sessionToken: token, action: action, controlees: controlees))
    var said = response.controlees ?? []
    // With these statuses, the chip has checked each controlee. With others, it refused the
    // command.
    let examined: Set<Status> = [.ok, .failed, .multicastListFull]
    if reports, examined.contains(response.status) {
      // Some chips do not report as their version requires. The response has to be sufficient then.
      let chip = try await engine.wait(milliseconds: device.profile.stateTimeout) {
        ($0.multicast[token]?.count ?? 0) > before
      }
      said += chip?.multicast[token]?.last.controlees ?? []
    }
    guard response.status == .ok || !said.isEmpty else {
      throw .refused(command: "SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_CMD", response.status)
    }
    return controlees.map { controlee in
      // Many chips list only failures, so a controlee that is not listed was successful.
      let status = said.last { $0.address == controlee.address }?.status ?? .ok
      return ControleeOutcome(address: MACAddress(controlee.address), status: status)
    }
  }
}
