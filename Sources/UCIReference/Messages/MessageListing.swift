// SPDX-License-Identifier: Apache-2.0

public import UCI

extension Message {
  /// What the message says, in the dialect assumed of unknown chips.
  public var fields: [Field] { fields(dialect: .assumed) }

  /// What the message says as an ordered list of names and values.
  ///
  /// What is not understood is there as `payload` or `trailing`. Values of keys are `.secret`, and so
  /// are bytes of messages that can carry keys but were not understood.
  public func fields(dialect: Dialect) -> [Field] {
    var fields: [Field] = []
    if let status { fields.append(Field("status", .status(status))) }
    let secretive = Self.canCarryKeys(type: type, opcode: opcode, dialect: dialect)
    switch content {
    case .command(let payload): fields += FieldLister.fields(of: payload, opcode, dialect)
    case .response(let payload):
      fields += FieldLister.fields(of: payload, opcode, dialect).filter { $0.name != "status" }
    case .notification(let payload): fields += FieldLister.fields(of: payload, opcode, dialect)
    case .data(let payload): fields += FieldLister.fields(of: payload, opcode, dialect)
    case .opaque(let bytes, let error):
      if let error { fields.append(Field("problem", .text(error.description))) }
      fields.append(Field("payload", secretive ? .secret(bytes) : .bytes(bytes)))
    }
    if case .notification(let info as SessionInfo) = content {
      fields += info.describe(tail: trailing, dialect)
    } else if !trailing.isEmpty {
      fields.append(Field("trailing", secretive ? .secret(trailing) : .bytes(trailing)))
    }
    return fields
  }
}

extension TLV {
  /// The value as a number where it is short enough to be one, else its bytes.
  var plainValue: FieldValue {
    value.count <= 4 ? integer.map { .number($0) } ?? .bytes(value) : .bytes(value)
  }
}
