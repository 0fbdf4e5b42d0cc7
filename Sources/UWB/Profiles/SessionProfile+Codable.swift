// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension SessionProfile: Codable {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// What `encode(to:)` wrote. For files of people use `init(file:for:)`, which says in which line
  /// something is wrong.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let list = try container.decode([String: String].self, forKey: Key("parameters"))
    self.init(
      sessionID: try container.decode(UInt32.self, forKey: Key("session_id")),
      type: SessionType(rawValue: try container.decode(UInt8.self, forKey: Key("session_type"))),
      parameters: try list.map { name, text in
        let id = try AppConfigID(named: name)
        return TLV(id, try id.form.bytes(from: text))
      })
  }

  /// Names and values as people write them, keys included: whoever encodes wants them back.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(sessionID, forKey: Key("session_id"))
    try container.encode(type.rawValue, forKey: Key("session_type"))
    var list = container.nestedContainer(keyedBy: Key.self, forKey: Key("parameters"))
    for tlv in parameters {
      let id = AppConfigID(rawValue: tlv.id)
      try list.encode(id.form.text(tlv.value), forKey: Key(id.name))
    }
  }
}
