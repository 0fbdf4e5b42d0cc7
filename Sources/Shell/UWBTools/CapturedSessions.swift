// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SystemPackage
import UCI
import UCIReference
import UWB
import UWBLink

/// Finds the sessions that a host configured, from the packets between host and chip.
struct CapturedSessions {
  /// The dialect of the chip, as far as it is known.
  private(set) var dialect = Dialect.assumed
  /// The capabilities of the chip; nil if the host did not read them.
  private(set) var capabilities: [TLV]?
  private var reassemblers = [Reassembler(), Reassembler()]
  private var pending: SetAppConfig?
  private var opened: SessionInit?
  private var sessions: [(token: UInt32, id: UInt32?, type: SessionType, list: [TLV])] = []

  var ends: [SessionPeerConfiguration] {
    sessions.filter { !$0.list.isEmpty }.map {
      SessionPeerConfiguration(
        sessionID: $0.id, parameters: SessionParameters($0.list, dialect: dialect, type: $0.type))
    }
  }

  mutating func take(_ packet: CapturedPacket) {
    guard packet.isWhole, let header = try? unsafe PacketHeader(parsing: packet.bytes.span.bytes)
    else {
      return
    }
    let side = header.type == .command ? 0 : 1
    let payload = unsafe packet.bytes.span.bytes.extracting(
      PacketHeader.length..<packet.bytes.count)
    let whole = reassemblers[side].take(header, whole: payload) {
      unsafe $0.withUnsafeBytes { unsafe Array($0) }
    }
    if let whole { unsafe read(header, whole.span.bytes) }
  }

  private mutating func read(_ header: PacketHeader, _ payload: RawSpan) {
    var reader = PayloadReader(payload)
    switch (header.type, header.opcode) {
    case (.response, .coreGetDeviceInfo):
      guard let info = try? BodyResponse<DeviceInfo>(from: &reader, dialect: dialect).body
      else { return }
      dialect.generation = .init(info.uciVersion)
      dialect.vendor = DeviceProfile.matching(info).vendor
    case (.response, .coreGetCapsInfo):
      capabilities = (try? TLVListResponse(from: &reader, dialect: dialect))?.parameters
    case (.command, .sessionInit): opened = try? SessionInit(from: &reader, dialect: dialect)
    case (.response, .sessionInit):
      guard let opened, let answer = try? SessionInitResponse(from: &reader, dialect: dialect),
        answer.status == .ok
      else { return }
      let token = answer.handle ?? opened.sessionID
      sessions.removeAll { $0.token == token }
      sessions.append((token, opened.sessionID, opened.type, []))
    case (.command, .sessionSetAppConfig):
      pending = try? SetAppConfig(from: &reader, dialect: dialect)
      // A command without a response in the capture counts as accepted.
      if let pending { apply(pending) }
    case (.response, .sessionSetAppConfig):
      guard let pending,
        let answer = try? ConfigurationResponse(from: &reader, dialect: dialect),
        answer.status != .ok
      else { return }
      withdraw(pending, answer.refused ?? [])
    default: break
    }
  }

  private mutating func apply(_ command: SetAppConfig) {
    if !sessions.contains(where: { $0.token == command.sessionToken }) {
      sessions.append((command.sessionToken, nil, .ranging, []))
    }
    guard let index = sessions.firstIndex(where: { $0.token == command.sessionToken }) else {
      return
    }
    let ids = Set(command.parameters.map(\.id))
    before = sessions[index].list
    sessions[index].list.removeAll { ids.contains($0.id) }
    sessions[index].list += command.parameters
  }

  private var before: [TLV] = []

  /// Restores the previous values of parameters that the chip rejected.
  private mutating func withdraw(_ command: SetAppConfig, _ refused: [RefusedParameter]) {
    guard let index = sessions.firstIndex(where: { $0.token == command.sessionToken }) else {
      return
    }
    guard !refused.isEmpty else {
      // A chip that lists no rejected parameters may have kept the new values.
      if !before.isEmpty { sessions[index].list = before }
      return
    }
    let ids = Set(refused.map(\.id))
    sessions[index].list.removeAll { ids.contains($0.id) }
    sessions[index].list += before.filter { ids.contains($0.id) }
  }
}
