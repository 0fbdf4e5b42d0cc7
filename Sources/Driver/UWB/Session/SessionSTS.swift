// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension SessionConfiguration {
  /// Where the scrambled timestamp sequence comes from. The same at both ends.
  public enum STS: Sendable, Hashable {
    /// From eight bytes that both ends know. Anybody who knows them and the session id can range.
    case fixed(StaticSTS)
    /// From a key in the chip's secure element.
    case dynamic
    /// The same, with a key of its own for this controlee; the controller adds controlees with
    /// their keys.
    case dynamicWithControleeKey(subSession: UInt32?)
    /// From a key that the host gives.
    case provisioned(SessionKey)
    /// The same, with a key of its own for this controlee.
    case provisionedWithControleeKey(SessionKey, SubSession?)

    /// STS_CONFIG.
    var config: UInt8 {
      switch self {
      case .fixed: 0
      case .dynamic: 1
      case .dynamicWithControleeKey: 2
      case .provisioned: 3
      case .provisionedWithControleeKey: 4
      }
    }

    /// The parameters beside STS_CONFIG.
    var parameters: [TLV] {
      switch self {
      case .fixed(let sts): [TLV(.vendorID, sts.vendorID), TLV(.staticSTSIV, sts.iv)]
      case .dynamic: []
      case .dynamicWithControleeKey(let id):
        id.map { [TLV(.subSessionID, $0.littleEndianBytes)] } ?? []
      case .provisioned(let key): [TLV(.sessionKey, key.bytes)]
      case .provisionedWithControleeKey(let key, let own):
        [TLV(.sessionKey, key.bytes)]
          + (own.map {
            [
              TLV(.subSessionID, $0.id.littleEndianBytes),
              TLV(.subSessionKey, $0.key.bytes),
            ]
          } ?? [])
      }
    }
  }

  /// Eight bytes that both ends know. They are key material: nothing here prints them.
  public struct StaticSTS: Sendable, Hashable, Secret {
    /// VENDOR_ID, two bytes in the order of the wire.
    public var vendorID: [UInt8]
    /// STATIC_STS_IV, six bytes in the order of the wire.
    public var iv: [UInt8]

    /// From the two parts; a check of the session looks at their lengths.
    public init(vendorID: [UInt8], iv: [UInt8]) {
      self.vendorID = vendorID
      self.iv = iv
    }

    /// The eight bytes that Qorvo's and NXP's samples use: 08 07, 01…06.
    public static let sample = StaticSTS(vendorID: [0x08, 0x07], iv: [1, 2, 3, 4, 5, 6])
  }

  /// A key of 16 or 32 bytes. Nothing here prints it.
  public struct SessionKey: Sendable, Hashable, Secret {
    /// In the order of the wire.
    public var bytes: [UInt8]
    /// From its bytes; a check of the session looks at their number.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// What a controlee with a key of its own has.
  public struct SubSession: Sendable, Hashable {
    /// SUB_SESSION_ID, the same as in the controller's list.
    public var id: UInt32
    /// SUB_SESSION_KEY.
    public var key: SessionKey
    /// An id and a key.
    public init(id: UInt32, key: SessionKey) {
      self.id = id
      self.key = key
    }
  }
}

/// Something that no text shows, also not that of a debugger.
package protocol Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Secret {
  /// Says nothing about the bytes.
  public var description: String { "(hidden)" }
  /// Says nothing about the bytes.
  public var debugDescription: String { "(hidden)" }
  /// Has no children.
  public var customMirror: Mirror { Mirror(reflecting: "(hidden)") }
}
