// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Handles SESSION_SET_APP_CONFIG: sets all parameters or none.
  mutating func configure(_ command: SetAppConfig) throws(Refusal) {
    let opcode = Opcode.sessionSetAppConfig
    let index = try known(command.sessionToken)
    if sessions[index].state == .initialised { try checkOrder(command.sessionToken, .rejected) }
    let isActive = sessions[index].state == .active
    var changed = sessions[index].parameters
    var refused: [RefusedParameter] = []
    for parameter in command.parameters {
      let id = AppConfigID(rawValue: parameter.id)
      if isActive, !AppParameter.changeableWhileActive.contains(id) {
        refused.append(RefusedParameter(id: parameter.id, status: .sessionActive))
        continue
      }
      changed[id] = parameter.value
    }
    // The check follows when all values are known, because addresses depend on parameters that may
    // follow them.
    for parameter in command.parameters where refused.allSatisfy({ $0.id != parameter.id }) {
      if let status = objection(to: parameter, among: changed) {
        refused.append(RefusedParameter(id: parameter.id, status: status))
      }
    }
    guard refused.isEmpty else {
      if profile.cutsRefusals {
        return respond(opcode, [Status.invalidParameter.rawValue, UInt8(refused.count)])
      }
      let isActive = refused.allSatisfy { $0.status == .sessionActive }
      return respond(
        opcode,
        ConfigurationResponse(
          status: isActive ? .sessionActive : .invalidParameter, refused: refused))
    }
    sessions[index].parameters = changed
    if command.parameters.contains(where: { $0.id == AppConfigID.dstMACAddress.rawValue }) {
      sessions[index].destinations = Self.addresses(in: changed)
    }
    respond(opcode, ConfigurationResponse(status: .ok, refused: []))
    if isActive { sessions[index].setup = RangingSetup(sessions[index]) }
    if sessions[index].state == .initialised,
      required(changed).allSatisfy({ changed[$0] != nil })
    {
      move(index, to: .idle)
    }
  }

  /// Handles SESSION_GET_APP_CONFIG; without identifiers, reports all parameters that were set.
  mutating func reportConfiguration(_ command: GetAppConfig) throws(Refusal) {
    let opcode = Opcode.sessionGetAppConfig
    let session = sessions[try known(command.sessionToken)]
    let ids =
      command.ids.isEmpty ? session.parameters.keys.map(\.rawValue).sorted() : command.ids
    var found: [TLV] = []
    for id in ids {
      let value = session.bytes(AppConfigID(rawValue: id))
      guard !value.isEmpty else {
        return respond(opcode, TLVListResponse(status: .invalidParameter, parameters: []))
      }
      found.append(TLV(id, value))
    }
    respond(opcode, TLVListResponse(status: .ok, parameters: found))
  }

  /// Returns the reason to refuse a parameter; nil if it is valid.
  private func objection(to parameter: TLV, among all: [AppConfigID: [UInt8]]) -> Status? {
    let (id, length) = (AppConfigID(rawValue: parameter.id), parameter.value.count)
    if profile.refusedParameters.contains(id) { return .invalidParameter }
    let size = all[.macAddressMode] == [2] ? 8 : 2
    switch id {
    case .deviceMACAddress: return length == size ? nil : .invalidParameter
    case .deviceRole where length == 1 && !profile.roles.contains(parameter.value[0]):
      return .invalidParameter
    case .dstMACAddress:
      let count = Int(all[.numberOfControlees]?.first ?? 0)
      let isController = all[.deviceType] == [1]
      guard length > 0, length.isMultiple(of: size), length / size <= profile.maximumControlees
      else { return .invalidParameter }
      return isController && count > 0 && length / size != count ? .invalidParameter : nil
    case .numberOfControlees where Int(parameter.value.first ?? 0) > profile.maximumControlees:
      return .invalidRange
    case .uwbInitiationTime:
      let isShort = profile.dialect.generation == .fira1
      return length == (isShort ? 4 : 8) || length == 4 && profile.dialect.vendor == .nxp
        ? nil : .invalidParameter
    case .channelNumber:
      return length == 1 && profile.channels.contains(parameter.value[0]) ? nil : .invalidParameter
    case .macAddressMode where parameter.value == [1]: return .invalidParameter
    case .multiNodeMode where parameter.value == [2]:
      return profile.dialect.generation == .fira1 ? nil : .invalidParameter
    default: break
    }
    if let lengths = profile.vendorParameters[id] {
      return lengths.contains(length) ? nil : .invalidParameter
    }
    guard let rule = AppParameter.rules[id], rule.lengths.contains(length) else {
      return .invalidParameter
    }
    guard length <= 8, let value = parameter.integer else { return nil }
    return rule.allowed.contains(value) ? nil : .invalidParameter
  }

  static func addresses(in parameters: [AppConfigID: [UInt8]]) -> [MACAddress] {
    let size = parameters[.macAddressMode] == [2] ? 8 : 2
    let bytes = parameters[.dstMACAddress] ?? []
    return stride(from: 0, to: bytes.count, by: size).compactMap {
      MACAddress(bytes: bytes[$0..<min($0 + size, bytes.count)])
    }
  }
}
