// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Handles SESSION_UPDATE_CONTROLLER_MULTICAST_LIST, in the forms of FiRa 1.x and 2.0.
  mutating func updateMulticastList(_ payload: [UInt8]) throws {
    let isFirst = profile.dialect.generation == .fira1
    // The action is checked before the rest, whose layout depends on it.
    if payload.count > 5, payload[4] > (isFirst ? 1 : 3) { throw Refusal(.invalidParameter) }
    let command = try read(UpdateMulticastList.self, payload)
    guard !command.controlees.isEmpty else { throw Refusal(.syntaxError) }
    let index = try known(command.sessionToken)
    let session = sessions[index]
    guard session.state != .initialised, session.number(.deviceType) == 1,
      session.number(.multiNodeMode) == 1
    else { throw Refusal(.rejected) }
    if command.action.keyLength != 0, session.number(.stsConfig) != 4 {
      return answer(.failed, [])
    }
    let (status, results) = apply(command, to: index)
    answer(status, isFirst ? nil : status == .ok ? [] : results)
    // Since FiRa 2.0, the chip notifies only of removals from a running session.
    let isNotified =
      command.action == .remove && sessions[index].state == .active
      && results.contains { $0.status == .ok }
    if isFirst || isNotified {
      let room = UInt8(profile.maximumControlees - sessions[index].destinations.count)
      var notification = MulticastListNotification()
      (notification.sessionToken, notification.controlees) = (session.token, results)
      notification.remaining = isFirst ? room : nil
      notify(notification)
    }
    if sessions[index].destinations.isEmpty, sessions[index].state == .active {
      leaveActive(index, reason: .invalidNumberOfControlees)
    }
  }

  private mutating func answer(_ status: Status, _ controlees: [ControleeStatus]?) {
    var response = MulticastListResponse()
    (response.status, response.controlees) = (status, controlees)
    respond(.sessionUpdateMulticastList, response)
  }

  private mutating func apply(
    _ command: UpdateMulticastList, to index: Int
  ) -> (Status, [ControleeStatus]) {
    var list = sessions[index].destinations
    let results = command.controlees.map { controlee in
      let address = MACAddress(controlee.address)
      var status = MulticastStatus.ok
      switch (command.action, list.firstIndex(of: address)) {
      case (.remove, let position?): list.remove(at: position)
      case (.remove, nil): status = .addressNotFound
      case (_, _?): status = .addressAlreadyPresent
      case (_, nil) where list.count >= profile.maximumControlees: status = .listFull
      case (_, nil): list.append(address)
      }
      return ControleeStatus(
        address: controlee.address, status: status, subSessionID: controlee.subSessionID)
    }
    sessions[index].destinations = list
    sessions[index].parameters[.numberOfControlees] = [UInt8(list.count)]
    sessions[index].parameters[.dstMACAddress] = list.flatMap(\.bytes)
    if results.contains(where: { $0.status == .listFull }) { return (.multicastListFull, results) }
    return (results.allSatisfy { $0.status == .ok } ? .ok : .failed, results)
  }
}
