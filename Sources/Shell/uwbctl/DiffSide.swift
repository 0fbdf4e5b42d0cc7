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

struct DiffSide {
  enum Content {
    /// The last configuration of each session.
    case sessions([SessionPeerConfiguration])
    case capabilities([TLV], Dialect)
  }

  var name: String
  var content: Content

  /// Reads a profile, the output of `caps --format json`, or a capture.
  init(file path: String) throws {
    name = path
    let bytes = try CaptureReader.contents(ofFile: path)
    // Profiles begin with a brace or a comment, captures do not.
    let text = bytes.drop { " \t\r\n".utf8.contains($0) }
    if text.starts(with: #"{"id":"#.utf8) {
      content = .capabilities(try Self.printedCapabilities(bytes), .assumed)
    } else if text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "/") {
      let profile = try SessionProfile(bytes)
      content = .sessions([
        SessionPeerConfiguration(
          sessionID: profile.sessionID, parameters: profile.parameters(for: .assumed))
      ])
    } else {
      var sessions = CapturedSessions()
      for packet in try CaptureReader.read(bytes).packets { sessions.take(packet) }
      if let list = sessions.capabilities, sessions.ends.isEmpty {
        content = .capabilities(list, sessions.dialect)
      } else {
        content = .sessions(sessions.ends)
      }
    }
  }

  /// Returns the text for a value that this side lacks, or nil if it is omitted. Capabilities lack
  /// the values of sessions.
  func missing(against other: DiffSide) -> String? {
    switch (content, other.content) {
    case (.capabilities, .sessions): nil
    case (.capabilities, .capabilities): "not reported"
    case (.sessions(let ends), _): ends.contains(where: \.isReadBack) ? "not reported" : "not set"
    }
  }

  /// A line of `caps --format json`.
  private struct Line: Decodable {
    var id: UInt8
    var subID: UInt8?
    var bytes: String

    enum CodingKeys: String, CodingKey {
      case id
      case subID = "sub_id"
      case bytes = "octets"
    }
  }

  private static func printedCapabilities(_ bytes: [UInt8]) throws -> [TLV] {
    try bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { text in
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)),
        let value = try? FrameText.bytes(line.bytes)
      else { throw CaptureError.notACapture }
      return TLV(line.id, value, subID: line.subID)
    }
  }
}

extension DiffSide {
  /// Reports whether a text names a device rather than a file: a form of `--device`, or a path
  /// below /dev.
  static func isDevice(_ text: String) -> Bool {
    if text == DeviceOptions.simulated { return true }
    if LinkEndpoint.schemes.contains(where: { text.hasPrefix($0 + ":") }) { return true }
    var status = stat()
    guard unsafe stat(String(text.prefix { $0 != "?" }), &status) == 0 else {
      return text.hasPrefix("/dev/")
    }
    return status.st_mode & S_IFMT == S_IFCHR
  }

  /// Reads the sessions or capabilities of a device. Without a reset, its sessions continue.
  ///
  /// - Parameters:
  ///   - session: The handle or ID of the session on the chip; nil to search for it.
  ///   - ids: The session IDs of the other side, which older chips use as handles.
  init(
    device: String, _ chip: ChipOptions, capabilities: Bool, resets: Bool, session: UInt32?,
    ids: [UInt32]
  ) async throws {
    name = device
    content = try await DeviceOptions.naming(device, chip).withDevice(
      resetPolicy: resets ? .reset : .keepState,
      resetAdvice: capabilities
        ? nil : "Its sessions are lost; its capabilities can be compared: --capabilities --reset."
    ) { chip, _ in
      capabilities
        ? .capabilities(chip.capabilities, chip.dialect)
        : Content.sessions(try await Self.sessions(on: chip, session, ids))
    }
  }

  /// The handles to try. Chips count from 0 or 1, and no command lists the handles.
  private static let likelyHandles: [UInt32] = Array(0...16)

  private static func sessions(
    on chip: UWBDevice, _ session: UInt32?, _ ids: [UInt32]
  ) async throws -> [SessionPeerConfiguration] {
    var tokens = session.map { [$0] } ?? []
    if session == nil {
      let count = try await chip.send(GetSessionCount()).count
      for token in ids + likelyHandles.filter({ !ids.contains($0) })
      where tokens.count < count.map(Int.init) ?? .max {
        if try await chip.send(GetSessionState(sessionToken: token)).status == .ok {
          tokens.append(token)
        }
      }
    }
    var ends: [SessionPeerConfiguration] = []
    for token in tokens {
      let parameters = ChipParameters(chip: chip, session: token)
      let list = try await parameters.read(parameters.all).found
      guard !list.isEmpty else { continue }
      // Since FiRa 2.0 the chip uses a handle, and does not report the ID.
      let isID = chip.dialect.generation == .fira1
      ends.append(
        SessionPeerConfiguration(
          sessionID: isID ? token : nil,
          parameters: SessionParameters(list, dialect: chip.dialect), isReadBack: true))
    }
    return ends
  }
}

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
    guard packet.isWhole, let header = try? PacketHeader(parsing: packet.bytes.span.bytes) else {
      return
    }
    let side = header.type == .command ? 0 : 1
    let payload = packet.bytes.span.bytes.extracting(PacketHeader.length..<packet.bytes.count)
    let whole = reassemblers[side].take(header, whole: payload) {
      $0.withUnsafeBytes { Array($0) }
    }
    if let whole { read(header, whole.span.bytes) }
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
      // Without a list of rejected parameters, the values may still be the intended ones.
      if !before.isEmpty { sessions[index].list = before }
      return
    }
    let ids = Set(refused.map(\.id))
    sessions[index].list.removeAll { ids.contains($0.id) }
    sessions[index].list += before.filter { ids.contains($0.id) }
  }
}
