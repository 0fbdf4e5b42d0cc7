// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// SESSION_SET_APP_CONFIG: all or nothing.
  mutating func configure(_ command: SetAppConfig) {
    let opcode = Opcode.sessionSetAppConfig
    guard let index = session(command.sessionToken) else {
      return respond(opcode, .sessionNotExist)
    }
    let isActive = sessions[index].state == .active
    var changed = sessions[index].parameters
    var refused: [RefusedParameter] = []
    for parameter in command.parameters {
      if isActive, !AppParameter.changeableWhileActive.contains(parameter.id) {
        refused.append(RefusedParameter(id: parameter.id, status: .sessionActive))
        continue
      }
      changed[parameter.id] = parameter.value
    }
    // Checked when all are known: addresses depend on their mode and number, in any order.
    for parameter in command.parameters where refused.allSatisfy({ $0.id != parameter.id }) {
      if let status = objection(to: parameter, among: changed) {
        refused.append(RefusedParameter(id: parameter.id, status: status))
      }
    }
    guard refused.isEmpty else {
      let status = refused.allSatisfy { $0.status == .sessionActive }
      return respond(
        opcode,
        ConfigurationResponse(
          status: status ? .sessionActive : .invalidParameter, refused: refused
        ).encoded())
    }
    sessions[index].parameters = changed
    if command.parameters.contains(where: { $0.id == AppParameter.destinationAddress }) {
      sessions[index].destinations = Self.addresses(in: changed)
    }
    respond(opcode, ConfigurationResponse(status: .ok, refused: []).encoded())
    if isActive { sessions[index].setup = RangingSetup(sessions[index]) }
    if sessions[index].state == .initialised,
      profile.requiredParameters.allSatisfy({ changed[$0] != nil })
    {
      move(index, to: .idle)
    }
  }

  /// SESSION_GET_APP_CONFIG; without identifiers, all parameters that were set.
  mutating func reportConfiguration(_ command: GetAppConfig) {
    let opcode = Opcode.sessionGetAppConfig
    guard let index = session(command.sessionToken) else {
      return respond(opcode, .sessionNotExist)
    }
    let session = sessions[index]
    let ids = command.ids.isEmpty ? session.parameters.keys.sorted() : command.ids
    var found: [TLV] = []
    for id in ids {
      let value = session.bytes(id)
      guard !value.isEmpty else {
        return respond(
          opcode, TLVListResponse(status: .invalidParameter, parameters: []).encoded())
      }
      found.append(TLV(id, value))
    }
    respond(opcode, TLVListResponse(status: .ok, parameters: found).encoded())
  }

  /// Why a parameter is refused; nil if it is valid.
  private func objection(to parameter: TLV, among all: [UInt8: [UInt8]]) -> Status? {
    let (id, length) = (parameter.id, parameter.value.count)
    if profile.refusedParameters.contains(id) { return .invalidParameter }
    let size = all[AppParameter.addressMode] == [2] ? 8 : 2
    switch id {
    case AppParameter.deviceAddress: return length == size ? nil : .invalidParameter
    case AppParameter.destinationAddress:
      let count = Int(all[AppParameter.numberOfControlees]?.first ?? 0)
      let isController = all[AppParameter.deviceType] == [1]
      guard length > 0, length.isMultiple(of: size), length / size <= profile.maximumControlees
      else { return .invalidParameter }
      return isController && count > 0 && length / size != count ? .invalidParameter : nil
    case AppParameter.numberOfControlees
    where Int(parameter.value.first ?? 0) > profile.maximumControlees:
      return .invalidRange
    case AppParameter.initiationTime:
      switch profile.dialect.generation {
      case .fira1: return length == 4 ? nil : .invalidParameter
      default:
        return length == 8 || length == 4 && profile.dialect.vendor == .nxp
          ? nil : .invalidParameter
      }
    case AppParameter.channel:
      return length == 1 && profile.channels.contains(parameter.value[0]) ? nil : .invalidParameter
    case AppParameter.addressMode where parameter.value == [1]: return .invalidParameter
    case AppParameter.multiNodeMode where parameter.value == [2]:
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

  static func addresses(in parameters: [UInt8: [UInt8]]) -> [MACAddress] {
    let size = parameters[AppParameter.addressMode] == [2] ? 8 : 2
    let bytes = parameters[AppParameter.destinationAddress] ?? []
    return stride(from: 0, to: bytes.count, by: size).compactMap {
      MACAddress(bytes: bytes[$0..<min($0 + size, bytes.count)])
    }
  }
}
