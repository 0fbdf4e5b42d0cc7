// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  mutating func execute(_ opcode: Opcode, _ payload: [UInt8], at now: UInt64) {
    if faults.onlyRetries { return askAgain() }
    if opcode == NXPDeviceInit.opcode, profile.dialect.vendor == .nxp {
      return initialiseDevice(payload)
    }
    guard boot.isInitialised else { return }
    guard now >= boot.busyUntil else {
      disorderlyCommands += 1
      return
    }
    if deviceState == .error, opcode != .coreDeviceReset {
      return notify(.coreDeviceStatus, [deviceState.rawValue])
    }
    if opcode == .coreDeviceReset, boot.resetsToRefuse > 0 {
      boot.resetsToRefuse -= 1
      return askAgain()
    }
    if fallsAsleep(now) { return askAgain() }
    if boot.owesNotification, opcode != .coreDeviceReset {
      boot.owesNotification = false
      output.append(profile.notificationAfterReset)
    }
    do {
      switch opcode.group {
      case .core: try core(opcode, payload, at: now)
      case .sessionConfig: try sessionConfig(opcode, payload, at: now)
      case .sessionControl: try sessionControl(opcode, payload, at: now)
      case .test: try radioTest(opcode, payload, at: now)
      case NXPSetAppConfig.opcode.group
      where opcode == NXPSetAppConfig.opcode && profile.diagnostics == .nxp:
        try setVendorParameters(payload)
      case NXPSetProfile.opcode.group
      where opcode == NXPSetProfile.opcode && profile.dialect.vendor == .nxp:
        try setProfile(try read(NXPSetProfile.self, payload))
      default: if try !calibrate(opcode, payload) { vendor(opcode) }
      }
    } catch {
      respond(opcode, (error as? Refusal)?.status ?? .syntaxError)
    }
  }

  /// Parses a command that must fill its payload exactly.
  func read<C: UCICommand>(_ type: C.Type, _ payload: [UInt8]) throws(PayloadError) -> C {
    var reader = unsafe PayloadReader(payload.span.bytes)
    let command = try C(from: &reader, dialect: profile.dialect)
    guard reader.remaining == 0 else {
      throw PayloadError.invalid(field: "payload", reason: "it is longer than the command")
    }
    return command
  }

  /// Requests the last message again, in place of a response.
  mutating func askAgain() { notify(.coreGenericError, [Status.commandRetry.rawValue]) }

  private mutating func initialiseDevice(_ payload: [UInt8]) {
    guard boot.initsToRefuse == 0 else {
      boot.initsToRefuse -= 1
      return askAgain()
    }
    guard payload.count == 2 else { return respond(NXPDeviceInit.opcode, .syntaxError) }
    boot.isInitialised = true
    respond(NXPDeviceInit.opcode, .ok)
    deviceState = .ready
    notify(.coreDeviceStatus, [deviceState.rawValue])
  }

  /// Returns whether the chip is in deep power-down: the first command after the configured silence
  /// is lost.
  private mutating func fallsAsleep(_ now: UInt64) -> Bool {
    defer { lastCommand = now }
    guard profile.sleeps, !sessions.contains(where: { $0.state == .active }),
      twoByteParameters[0x04] != nil, deviceParameters[0x01] == [1]
    else { return false }
    return now - lastCommand > (twoByteParameters[0x04] ?? []).number * 1_000_000
  }

  private mutating func core(_ opcode: Opcode, _ payload: [UInt8], at now: UInt64) throws {
    switch opcode {
    case .coreDeviceReset:
      let command = try read(DeviceReset.self, payload)
      guard command.configuration == 0 else { throw Refusal(.invalidParameter) }
      reset()
    case .coreGetDeviceInfo:
      _ = try read(GetDeviceInfo.self, payload)
      respond(opcode, profile.deviceInfo)
    case .coreGetCapsInfo:
      _ = try read(GetCapabilities.self, payload)
      respond(opcode, profile.capabilities)
    case .coreSetConfig: try setConfig(payload)
    case .coreGetConfig: try getConfig(payload)
    case .coreQueryUWBSTimestamp where profile.dialect.generation >= .fira2:
      _ = try read(QueryTimestamp.self, payload)
      respond(opcode, TimestampResponse(status: .ok, microseconds: microseconds(at: now)))
    default: throw Refusal(.unknownOID)
    }
  }

  /// Returns the chip's time: microseconds since power-up, by its own clock.
  func microseconds(at now: UInt64) -> UInt64 {
    UInt64(Double(now - poweredAt) * (1 + clockOffset * 1e-6) / 1_000)
  }

  private mutating func reset() {
    for index in sessions.indices { move(index, to: .deinitialised) }
    sessions = []
    terminations = []
    radioTest = nil
    testParameters = [:]
    nextHandle = profile.firstHandle
    deviceParameters = profile.deviceParameters
    twoByteParameters = [:]
    deviceState = .ready
    if profile.readyBeforeResetResponse { notify(.coreDeviceStatus, [deviceState.rawValue]) }
    respond(.coreDeviceReset, .ok)
    announce(.coreDeviceStatus, [deviceState.rawValue])
    boot.busyUntil = now + profile.reportDelay
    boot.owesNotification = !profile.notificationAfterReset.isEmpty
  }

  private mutating func vendor(_ opcode: Opcode) {
    if let payload = profile.vendorResponses[opcode] { return respond(opcode, payload) }
    respond(
      opcode, profile.vendorGroups.contains(opcode.group.rawValue) ? .unknownOID : .unknownGID)
  }

  // MARK: device configuration

  private var twoByteParameter: ClosedRange<UInt8>? {
    profile.twoByteDeviceParameter.map { $0...$0 }
  }

  private mutating func setConfig(_ payload: [UInt8]) throws(PayloadError) {
    var reader = unsafe PayloadReader(payload.span.bytes)
    let parameters = try reader.tlvs("parameters", twoByteIDs: twoByteParameter)
    guard reader.remaining == 0 else {
      throw PayloadError.invalid(field: "payload", reason: "it is longer than the command")
    }
    var refused: [RefusedParameter] = []
    for parameter in parameters {
      if let sub = parameter.subID {
        twoByteParameters[sub] = parameter.value
      } else if deviceParameters[parameter.id]?.count == parameter.value.count {
        deviceParameters[parameter.id] = parameter.value
      } else {
        let status = parameter.id == 0 ? Status.readOnly : .invalidParameter
        refused.append(RefusedParameter(id: parameter.id, status: status))
      }
    }
    let status = refused.isEmpty ? Status.ok : .invalidParameter
    respond(.coreSetConfig, ConfigurationResponse(status: status, refused: refused))
  }

  private mutating func getConfig(_ payload: [UInt8]) throws(PayloadError) {
    var known: [TLV] = []
    var unknown: [TLV] = []
    var reader = unsafe PayloadReader(payload.span.bytes)
    let count = try reader.u8("count")
    for _ in 0..<count {
      let id = try reader.u8("id")
      let sub = twoByteParameter?.contains(id) == true ? try reader.u8("second id") : nil
      let value =
        id == 0
        ? [deviceState.rawValue] : sub.map { twoByteParameters[$0] } ?? deviceParameters[id]
      if let value {
        known.append(TLV(id, value, subID: sub))
      } else {
        unknown.append(TLV(id, [], subID: sub))
      }
    }
    respond(
      .coreGetConfig,
      unknown.isEmpty
        ? TLVListResponse(status: .ok, parameters: known)
        : TLVListResponse(status: .invalidParameter, parameters: unknown))
  }
}
