// SPDX-License-Identifier: Apache-2.0

extension PlaceOfKeys {
  /// Which bytes of a whole message are key material.
  ///
  /// A payload that cannot be taken apart is one from its first byte that can belong to a key.
  public func secrets(in payload: [UInt8]) -> [Range<Int>] {
    switch self {
    case .everything(let offset): return Self.behind(offset, payload)
    case .controlees: return Self.controlees(payload)
    case .nxpAppConfig(let offset):
      return Self.parameters(payload, offset, nil) { SecretMessages.nxpAppConfig.contains($0) }
        ?? Self.behind(offset, payload)
    case .appConfig(let offset):
      // Which identifiers have two bytes cannot be seen; what is secret in any reading is one.
      let readings = [nil, 0xE3...0xE5, 0xE4...0xE5].compactMap {
        Self.parameters(payload, offset, $0) { AppConfigID(rawValue: $0).isSecret }
      }
      return readings.isEmpty ? Self.behind(offset, payload) : Array(readings.joined())
    }
  }

  private static func behind(_ offset: Int, _ payload: [UInt8]) -> [Range<Int>] {
    offset < payload.count ? [offset..<payload.count] : []
  }

  /// The values of secret parameters; nil when the list does not end where the payload does.
  private static func parameters(
    _ payload: [UInt8], _ start: Int, _ twoByteIDs: ClosedRange<UInt8>?,
    isSecret: (UInt8) -> Bool
  ) -> [Range<Int>]? {
    guard start < payload.count else { return [] }
    var secrets: [Range<Int>] = []
    var offset = start + 1
    for _ in 0..<payload[start] {
      guard offset < payload.count else { return nil }
      let id = payload[offset]
      let isLong = twoByteIDs?.contains(id) == true
      offset += isLong ? 2 : 1
      guard offset < payload.count else { return nil }
      let end = offset + 1 + Int(payload[offset])
      guard end <= payload.count else { return nil }
      // What NXP's parameters with identifiers of two bytes hold is not known.
      if isLong || isSecret(id) { secrets.append(offset + 1..<end) }
      offset = end
    }
    return offset == payload.count ? secrets : nil
  }

  private static func controlees(_ payload: [UInt8]) -> [Range<Int>] {
    let first = 6
    guard payload.count >= first else { return behind(first, payload) }
    let length = UpdateMulticastList.Action(rawValue: payload[first - 2]).keyLength
    let count = Int(payload[first - 1])
    guard let length, payload.count == first + count * (6 + length) else {
      return behind(first, payload)
    }
    guard length > 0 else { return [] }
    return (0..<count).map { index in
      let key = first + index * (6 + length) + 6
      return key..<key + length
    }
  }
}
