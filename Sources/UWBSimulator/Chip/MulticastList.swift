// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// The result for one controlee of the list.
  private struct Outcome {
    var address: UInt16
    var subSession: UInt32
    /// 0 done, 1 list full, 5 no key wanted, 7 not found, 8 present already.
    var status: UInt8
  }

  /// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST, in the forms of FiRa 1.x and 2.0.
  mutating func updateMulticastList(_ payload: [UInt8]) throws(PayloadError) {
    let opcode = Opcode.sessionUpdateMulticastList
    var reader = PayloadReader(payload.span.bytes)
    let token = try reader.u32("session token")
    let action = try reader.u8("action")
    let count = try reader.u8("count")
    let isFirst = profile.dialect.generation == .fira1
    guard action <= (isFirst ? 1 : 3) else { return respond(opcode, .invalidParameter) }
    var entries: [Outcome] = []
    for _ in 0..<count {
      let address = try reader.u16("address")
      entries.append(
        Outcome(address: address, subSession: try reader.u32("sub-session"), status: 0))
      if action > 1 { _ = try reader.bytes(action == 2 ? 16 : 32, "key") }
    }
    guard reader.remaining == 0, count > 0 else {
      throw PayloadError.invalid(field: "count", reason: "it does not fit the payload")
    }
    guard let index = session(token) else { return respond(opcode, .sessionNotExist) }
    let session = sessions[index]
    guard session.state != .initialised, session.number(AppParameter.deviceType) == 1,
      session.number(AppParameter.multiNodeMode) == 1
    else { return respond(opcode, .rejected) }
    if action > 1, session.number(AppParameter.stsConfig) != 4 {
      return respond(opcode, [Status.failed.rawValue, 0])
    }
    let status = apply(action, to: index, &entries)
    if isFirst {
      respond(opcode, status)
    } else {
      let listed = status == .ok ? [] : entries
      respond(
        opcode,
        [status.rawValue, UInt8(listed.count)]
          + listed.flatMap { MACAddress($0.address).bytes + [$0.status] })
    }
    notifyMulticast(index, action, entries)
    if sessions[index].destinations.isEmpty, sessions[index].state == .active {
      leaveActive(index, reason: .invalidNumberOfControlees)
    }
  }

  private mutating func apply(_ action: UInt8, to index: Int, _ entries: inout [Outcome]) -> Status
  {
    var list = sessions[index].destinations
    var isFull = false
    for i in entries.indices {
      let address = MACAddress(entries[i].address)
      switch (action, list.firstIndex(of: address)) {
      case (1, let place?): list.remove(at: place)
      case (1, nil): entries[i].status = 7
      case (_, _?): entries[i].status = 8
      case (_, nil) where list.count >= profile.maximumControlees:
        entries[i].status = 1
        isFull = true
      case (_, nil): list.append(address)
      }
    }
    sessions[index].destinations = list
    sessions[index].parameters[AppParameter.numberOfControlees] = [UInt8(list.count)]
    sessions[index].parameters[AppParameter.destinationAddress] = list.flatMap(\.bytes)
    if isFull { return .multicastListFull }
    return entries.allSatisfy { $0.status == 0 } ? .ok : .failed
  }

  private mutating func notifyMulticast(_ index: Int, _ action: UInt8, _ entries: [Outcome]) {
    var writer = PayloadWriter()
    writer.u32(sessions[index].token)
    if profile.dialect.generation == .fira1 {
      writer.u8(UInt8(profile.maximumControlees - sessions[index].destinations.count))
      writer.u8(UInt8(entries.count))
      for entry in entries {
        writer.u16(entry.address)
        writer.u32(entry.subSession)
        writer.u8(entry.status)
      }
    } else {
      // Since FiRa 2.0 only removals from a running session are notified.
      guard action == 1, sessions[index].state == .active,
        entries.contains(where: { $0.status == 0 })
      else { return }
      writer.u8(UInt8(entries.count))
      for entry in entries {
        writer.u16(entry.address)
        writer.u8(entry.status)
      }
    }
    notify(.sessionUpdateMulticastList, writer.bytes)
  }
}
