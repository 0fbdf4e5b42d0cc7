// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference
import UWB

/// The sessions that a host configured, from the packets between it and its chip.
struct CapturedSessions {
  /// How the chip speaks, as far as it said.
  private(set) var dialect = Dialect.assumed
  /// What the chip said it can do; nil where it was not asked.
  private(set) var capabilities: [TLV]?
  private var reassemblers = [Reassembler(), Reassembler()]
  private var pending: SetAppConfig?
  private var opened: SessionInit?
  private var sessions: [(token: UInt32, id: UInt32?, type: SessionType, list: [TLV])] = []

  /// What is known of each session, in the order in which they were configured.
  var ends: [SessionEnd] {
    sessions.filter { !$0.list.isEmpty }.map {
      SessionEnd(
        sessionID: $0.id, parameters: SessionParameters($0.list, dialect: dialect, type: $0.type))
    }
  }

  mutating func take(_ packet: CapturedPacket) {
    guard packet.isWhole, let header = try? PacketHeader(parsing: packet.bytes.span.bytes) else {
      return
    }
    let side = header.type == .command ? 0 : 1
    let payload = packet.bytes.span.bytes.extracting(PacketHeader.length..<packet.bytes.count)
    switch reassemblers[side].take(header, payload: payload) {
    case .incomplete: return
    case .whole: read(header, payload)
    case .completed:
      let whole = reassemblers[side].withPayload(of: header.type) {
        $0.withUnsafeBytes { Array($0) }
      }
      read(header, whole.span.bytes)
    }
  }

  private mutating func read(_ header: PacketHeader, _ payload: RawSpan) {
    var reader = PayloadReader(payload)
    switch (header.type, header.opcode) {
    case (.response, .coreGetDeviceInfo):
      guard let info = try? DeviceInfoResponse(from: &reader, dialect: dialect).info else { return }
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
      // What a host says counts also where the capture has no answers.
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
    guard let place = sessions.firstIndex(where: { $0.token == command.sessionToken }) else {
      return
    }
    let ids = Set(command.parameters.map(\.id))
    before = sessions[place].list
    sessions[place].list.removeAll { ids.contains($0.id) }
    sessions[place].list += command.parameters
  }

  private var before: [TLV] = []

  /// The chip refused some of it, or all: what was there before still counts.
  private mutating func withdraw(_ command: SetAppConfig, _ refused: [RefusedParameter]) {
    guard let place = sessions.firstIndex(where: { $0.token == command.sessionToken }) else {
      return
    }
    guard !refused.isEmpty else {
      // Without a list it may still be what the host means to have.
      if !before.isEmpty { sessions[place].list = before }
      return
    }
    let ids = Set(refused.map(\.id))
    sessions[place].list.removeAll { ids.contains($0.id) }
    sessions[place].list += before.filter { ids.contains($0.id) }
  }
}
