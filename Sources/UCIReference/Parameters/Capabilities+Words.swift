// SPDX-License-Identifier: Apache-2.0

package import UCI

extension Capabilities {
  /// The value of a capability as text: `5, 9`, `2.0.0-2.0.0`, `259 bytes`.
  /// Bytes where nothing is known of it or they do not have the form.
  package func words(for capability: TLV, dialect: Dialect = .assumed) -> String {
    row(of: capability, dialect)?.words(for: capability.value)
      ?? capability.value.map { String(hex($0).dropFirst(2)) }.joined(separator: " ")
  }

  /// Which capability an entry of the list is; nil where that is not known.
  package func id(of capability: TLV) -> CapabilityID? {
    CapabilityID(number: capability.id, subID: capability.subID, in: numbering)
  }

  func row(of capability: TLV, _ dialect: Dialect) -> CapabilityParameter? {
    id(of: capability)?.parameter(in: dialect, length: capability.value.count)
  }

  /// Versions, channels and lists as text, everything else as a number or bytes.
  func fieldValue(of capability: TLV, _ dialect: Dialect) -> FieldValue {
    if id(of: capability) == .channels, let channels { return .list(channels.map { .number($0) }) }
    return row(of: capability, dialect)?.fieldValue(of: capability.value) ?? capability.plainValue
  }
}
