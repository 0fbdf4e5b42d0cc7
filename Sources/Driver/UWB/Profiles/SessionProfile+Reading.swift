// SPDX-License-Identifier: Apache-2.0
package import JSON
internal import System
public import UCI
import UCIReference
internal import UWBLink

extension SessionProfile {
  /// The largest size of a file in bytes. Profiles have a few kilobytes.
  static let limit = 1_048_576

  /// Reads a file, or standard input (`-`).
  ///
  /// - Parameters:
  ///   - path: the file's path, or `-`.
  ///   - generation: determines the length of parameters that have several lengths.
  /// - Throws: `ProfileError`.
  public init(
    file path: String, for generation: Dialect.Generation = .fira2
  ) throws(ProfileError) {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try InputFile.bytes(of: path, limit: Self.limit)
    } catch {
      if case .tooLong(let limit) = error { throw .tooLong(path: path, limit: limit) }
      throw .unreadable(path: path, reason: "\(error)")
    }
    try self.init(bytes, for: generation)
  }

  private static let fields = ["session_id", "session_type", "parameters", "rounds"]

  /// Reads the text of a profile in UTF-8. Also reads the last session in the log of an Android
  /// phone (tag `UwbBackend`).
  ///
  /// - Throws: `ProfileError`.
  public init(_ bytes: [UInt8], for generation: Dialect.Generation = .fira2) throws(ProfileError) {
    if let profile = try SessionProfile(androidLog: bytes) {
      self = profile
      return
    }
    let node: JSONNode
    do throws(JSONError) { node = try JSONNode(bytes, .lenient, deepest: 7) } catch {
      throw .notJSON(line: error.place?.line ?? 1, error.reason)
    }
    try self.init(node, for: generation)
  }

  /// Reads the last session in the log of an Android phone; nil for another text.
  ///
  /// - Throws: `ProfileError`.
  package init?(androidLog bytes: [UInt8]) throws(ProfileError) {
    guard let log = AndroidLog(bytes) else { return nil }
    self = try log.profile()
  }

  /// Reads a profile that was parsed before. Errors have a line if it was parsed from text.
  ///
  /// - Throws: `ProfileError`.
  package init(_ node: JSONNode, for generation: Dialect.Generation) throws(ProfileError) {
    guard let members = node.object else {
      throw .notJSON(line: node.place?.line ?? 1, "a profile is an object: { … }")
    }
    var sessionID: UInt32?
    var type = SessionType.ranging
    var parameters: [TLV]?
    var rounds: [SessionConfiguration.DownlinkAnchor.Round] = []
    for (name, value) in members {
      switch name {
      case "session_id":
        sessionID = value.wholeNumber.flatMap { UInt32(exactly: $0) }
        guard sessionID != nil else {
          throw .wrongValue(
            field: name, accepted: "a number, 0…4294967295, or hexadecimal text (0x2A)",
            line: value.place?.line)
        }
      case "session_type": type = try Self.type(value)
      case "parameters": parameters = try Self.parameters(value, generation)
      case "rounds": rounds = try Self.rounds(value)
      default:
        throw .unknownField(
          name, nearest: nearestNames(to: name, in: Self.fields), line: value.place?.line)
      }
    }
    guard let sessionID else { throw .missing("session_id") }
    guard let parameters else { throw .missing("parameters") }
    self.init(sessionID: sessionID, type: type, parameters: parameters, rounds: rounds)
  }

  private static func parameters(
    _ node: JSONNode, _ generation: Dialect.Generation
  ) throws(ProfileError) -> [TLV] {
    guard let list = node.object else {
      throw .wrongValue(
        field: "parameters", accepted: "an object of names and values", line: node.place?.line)
    }
    var parameters: [TLV] = []
    for (name, value) in list {
      guard let text = value.parameterText else {
        throw .wrongValue(
          field: name, accepted: "a number, a text, true, false, or a list of them",
          line: value.place?.line)
      }
      do throws(ParameterTextError) {
        let id = try AppConfigID(named: name)
        guard !parameters.contains(where: { $0.id == id.rawValue }) else {
          throw .unreadable(
            parameter: id.name, value: "two values", accepted: "one: it is here under two names")
        }
        parameters.append(TLV(id, try id.form().bytes(from: text, for: generation)))
      } catch {
        throw .parameter(error, line: value.place?.line)
      }
    }
    return parameters
  }

  private static func type(_ node: JSONNode) throws(ProfileError) -> SessionType {
    if let byte = node.wholeNumber.flatMap({ UInt8(exactly: $0) }) {
      return SessionType(rawValue: byte)
    }
    if let word = node.string?.lowercased(),
      let known = SessionType.names.first(where: { $0.name == word })
    {
      return known.type
    }
    throw .wrongValue(
      field: "session_type",
      accepted: SessionType.names.map { "\"\($0.name)\"" }.joined(separator: ", ")
        + " or a number", line: node.place?.line)
  }
}

extension SessionProfile {
  /// Reads rounds. A number is a round in which to respond or to receive; an object is a round to
  /// begin.
  fileprivate static func rounds(
    _ node: JSONNode
  ) throws(ProfileError) -> [SessionConfiguration.DownlinkAnchor.Round] {
    func wrong(_ node: JSONNode) -> ProfileError {
      .wrongValue(
        field: "rounds",
        accepted:
          "a list of indexes (0…255), and of objects with index, responders and perhaps slots",
        line: node.place?.line)
    }
    guard let list = node.array else { throw wrong(node) }
    var rounds: [SessionConfiguration.DownlinkAnchor.Round] = []
    for entry in list {
      if let index = entry.byte {
        rounds.append(.init(index, .responder))
        continue
      }
      guard let members = entry.object else { throw wrong(entry) }
      let values = Dictionary(members.map { ($0.0, $0.1) }) { $1 }
      let known: Set = ["index", "responders", "slots"]
      let responders = values["responders"]?.array?.map { $0.string.flatMap { MACAddress($0) } }
      let slots = values["slots"]?.array?.map(\.byte)
      guard values.keys.allSatisfy(known.contains), let index = values["index"]?.byte,
        let responders, !responders.contains(nil), slots?.contains(nil) != true,
        (values["slots"] == nil) == (slots == nil)
      else { throw wrong(entry) }
      rounds.append(
        .init(
          index,
          .initiator(responders: responders.compactMap(\.self), slots: slots?.compactMap(\.self))))
    }
    return rounds
  }
}

extension JSONNode {
  /// The value as a number of one byte.
  fileprivate var byte: UInt8? { wholeNumber.flatMap { UInt8(exactly: $0) } }

  /// The value as a whole number, which may be a string, and may have hexadecimal digits.
  fileprivate var wholeNumber: UInt64? {
    switch content {
    case .number(let text), .string(let text):
      text.lowercased().hasPrefix("0x") ? UInt64(hexDigits: text.dropFirst(2)) : UInt64(text)
    default: nil
    }
  }

  /// The value as the text of a parameter; nil for kinds of values that no parameter has.
  fileprivate var parameterText: String? {
    switch content {
    case .number(let text), .string(let text): return text
    case .bool(let value): return value ? "on" : "off"
    case .array(let values):
      let texts = values.compactMap(\.parameterText)
      return texts.count == values.count ? texts.joined(separator: ",") : nil
    case .object, .null: return nil
    }
  }
}
