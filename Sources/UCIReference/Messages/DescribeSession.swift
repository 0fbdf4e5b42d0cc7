// SPDX-License-Identifier: Apache-2.0

package import UCI

extension SessionInit: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session_id", .number(sessionID)), Field("type", .sessionType(type))]
  }
}

extension FieldValue {
  /// What a session is for.
  static func sessionType(_ type: SessionType) -> FieldValue {
    let names: [UInt8: String] = [
      0x00: "RANGING", 0x01: "RANGING_AND_IN_BAND_DATA", 0x02: "DATA_TRANSFER",
      0x03: "RANGING_ONLY_PHASE", 0x04: "IN_BAND_DATA_PHASE", 0x05: "RANGING_WITH_DATA_PHASE",
      0x9F: "HUS_PRIMARY", 0xA0: "CCC", 0xA1: "RADAR", 0xA2: "ALIRO", 0xD0: "DEVICE_TEST",
      0xF0: "NXP_RADAR",
    ]
    return .code(type.rawValue, name: names[type.rawValue] ?? hex(type.rawValue), explanation: nil)
  }
}

extension SessionInitResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("handle", .number(handle))] }
}

// The plain commands on a session.
extension SessionDeinit: Describable {}
extension GetSessionState: Describable {}
extension SessionStart: Describable {}
extension SessionStop: Describable {}
extension GetRangingCount: Describable {}
extension QueryDataSize: Describable {}

extension Describable where Self: SessionTokenCommand {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken))]
  }
}

extension SessionStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("state", .code(state)),
      Field(
        "reason",
        .code(reason.rawValue, name: reason.description, explanation: reason.explanation)),
    ]
  }
}

extension SetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("parameters", .appConfig(parameters, context.dialect)),
    ]
  }
}

extension GetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field(
        "parameters", .list(ids.map { .text(AppConfigID(rawValue: $0).name(in: context.dialect)) })),
    ]
  }
}

extension SessionCountResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("count", .number(count))] }
}

extension SessionStateResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("state", state.map { .code($0) } ?? .null)]
  }
}

extension RangingCountResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("count", .number(count))] }
}

extension UpdateMulticastList: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("action", .code(action)),
      Field(
        "controlees",
        .list(
          controlees.map { controlee in
            .object(
              [
                Field("mac", .text(MACAddress(controlee.address).description)),
                Field("sub_session_id", .number(controlee.subSessionID)),
              ] + (controlee.key.isEmpty ? [] : [Field("key", .secret(controlee.key))]))
          })),
    ]
  }
}

extension FieldValue {
  static func controlees(_ list: [ControleeStatus]) -> FieldValue {
    .list(
      list.map { controlee in
        var fields = [Field("mac", .text(MACAddress(controlee.address).description))]
        if let id = controlee.subSessionID { fields.append(Field("sub_session_id", .number(id))) }
        return .object(fields + [Field("status", .code(controlee.status))])
      })
  }
}

extension MulticastListResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    controlees.map { [Field("controlees", .controlees($0))] } ?? []
  }
}

extension MulticastListNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken))]
      + (remaining.map { [Field("remaining", .number($0))] } ?? [])
      + [Field("controlees", .controlees(controlees))]
  }
}

extension UpdateDTAnchorRounds: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field(
        "rounds",
        .list(
          rounds.map { round in
            .object([
              Field("index", .number(round.index)),
              Field("role", .choice(round.role, ["RESPONDER", "INITIATOR"])),
              Field("responders", .list(round.responders.map { .text($0.description) })),
              Field("slots", .list(round.slots.map { .number($0) })),
            ])
          })),
    ]
  }
}

extension UpdateDTTagRounds: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("rounds", .list(rounds.map { .number($0) })),
    ]
  }
}

extension RangingRoundsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    failedRounds.map { [Field("failed_rounds", .list($0.map { .number($0) }))] } ?? []
  }
}
