// SPDX-License-Identifier: Apache-2.0
internal import System
public import UCI
import UCIReference
internal import UWBLink

extension SessionProfile {
  /// The largest size of a file: profiles have a few kilobytes, so a larger file is not a profile.
  static let limit = 1_048_576

  /// Reads a file, or standard input (`-`).
  ///
  /// - Parameters:
  ///   - path: the file's path, or `-`.
  ///   - generation: determines the length of parameters with more than one.
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

  private static let fields = ["session_id", "session_type", "parameters"]

  /// Reads the text of a profile, in UTF-8.
  ///
  /// - Throws: `ProfileError`.
  public init(_ bytes: [UInt8], for generation: Dialect.Generation = .fira2) throws(ProfileError) {
    guard case .object(let members) = try ProfileReader.read(bytes) else {
      throw .notJSON(line: 1, "a profile is an object: { … }")
    }
    var sessionID: UInt32?
    var type = SessionType.ranging
    var parameters: [TLV]?
    for member in members {
      switch member.name {
      case "session_id":
        sessionID = member.value.number.flatMap { UInt32(exactly: $0) }
        guard sessionID != nil else {
          throw .wrongValue(
            field: member.name, accepted: "a number, 0…4294967295, or hexadecimal text (0x2A)",
            line: member.line)
        }
      case "session_type": type = try Self.type(member)
      case "parameters": parameters = try Self.parameters(member, generation)
      default:
        throw .unknownField(
          member.name, nearest: nearestNames(to: member.name, in: Self.fields), line: member.line)
      }
    }
    guard let sessionID else { throw .missing("session_id") }
    guard let parameters else { throw .missing("parameters") }
    self.init(sessionID: sessionID, type: type, parameters: parameters)
  }

  private static func parameters(
    _ member: ProfileValue.Member, _ generation: Dialect.Generation
  ) throws(ProfileError) -> [TLV] {
    guard case .object(let list) = member.value else {
      throw .wrongValue(
        field: member.name, accepted: "an object of names and values", line: member.line)
    }
    var parameters: [TLV] = []
    for entry in list {
      guard let text = entry.value.text else {
        throw .wrongValue(
          field: entry.name, accepted: "a number, a text, true, false, or a list of them",
          line: entry.line)
      }
      do throws(ParameterTextError) {
        let id = try AppConfigID(named: entry.name)
        guard !parameters.contains(where: { $0.id == id.rawValue }) else {
          throw .unreadable(
            parameter: id.name, value: "two values", accepted: "one: it is here under two names")
        }
        parameters.append(TLV(id, try id.form().bytes(from: text, for: generation)))
      } catch {
        throw .parameter(error, line: entry.line)
      }
    }
    return parameters
  }

  private static func type(_ member: ProfileValue.Member) throws(ProfileError) -> SessionType {
    if let byte = member.value.number.flatMap({ UInt8(exactly: $0) }) {
      return SessionType(rawValue: byte)
    }
    if case .text(let word) = member.value,
      let known = SessionType.names.first(where: { $0.name == word.lowercased() })
    {
      return known.type
    }
    throw .wrongValue(
      field: member.name,
      accepted: SessionType.names.map { "\"\($0.name)\"" }.joined(separator: ", ")
        + " or a number", line: member.line)
  }
}
