import UCI
extension MessageCatalog {
  static func name(type: MessageType, opcode: Opcode, dialect: Dialect) -> String { "\(opcode)" }
}
