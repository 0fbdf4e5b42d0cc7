// SPDX-License-Identifier: Apache-2.0

public import UCI

/// What a description depends on beside the payload itself.
struct DescriptionContext {
  var type: MessageType
  var opcode: Opcode
  var dialect: Dialect
}

/// A payload that can say what it holds. The status of responses is added for it.
protocol Describable {
  func describe(_ context: DescriptionContext) -> [Field]
}

extension Message {
  /// What the message says, in the dialect assumed of unknown chips.
  public var fields: [Field] { fields(dialect: .assumed) }

  /// What the message says as an ordered list of names and values.
  ///
  /// What is not understood is there as `payload` or `trailing`. Values of keys are `.secret`, and so
  /// are bytes of messages that can carry keys but were not understood.
  public func fields(dialect: Dialect) -> [Field] {
    let context = DescriptionContext(type: type, opcode: opcode, dialect: dialect)
    var fields: [Field] = []
    if let status { fields.append(Field("status", .status(status))) }
    let secretive = Self.canCarryKeys(type: type, opcode: opcode, dialect: dialect)
    switch content {
    case .command(let payload): fields += Self.describe(payload, context)
    case .response(let payload): fields += Self.describe(payload, context)
    case .notification(let payload): fields += Self.describe(payload, context)
    case .data(let payload): fields += Self.describe(payload, context)
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

  private static func describe(_ payload: any UCIPayload, _ context: DescriptionContext) -> [Field]
  {
    (payload as? any Describable)?.describe(context) ?? []
  }
}

extension TLV {
  /// The value as a number where it is short enough to be one, else its bytes.
  var plainValue: FieldValue {
    value.count <= 4 ? integer.map { .number($0) } ?? .bytes(value) : .bytes(value)
  }
}
