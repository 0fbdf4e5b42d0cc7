// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension SessionConfiguration {
  /// The source of the scrambled timestamp sequence, equal at both ends.
  public enum STS: Sendable, Hashable {
    /// Eight bytes at both ends. Anybody who has them and the session id can range.
    case fixed(StaticSTS)
    /// A key in the chip's secure element.
    case dynamic
    /// A key in the secure element, with a key of its own for this controlee; the controller adds
    /// controlees with their keys.
    case dynamicWithControleeKey(subSession: UInt32?)
    /// A key from the host.
    case provisioned(SessionKey)
    /// A key from the host, with a key of its own for this controlee.
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

  /// Eight bytes shared by both ends. They are key material: nothing here prints them.
  public struct StaticSTS: Sendable, Hashable, Secret {
    /// VENDOR_ID, two bytes in the order of the wire.
    public var vendorID: [UInt8]
    /// STATIC_STS_IV, six bytes in the order of the wire.
    public var iv: [UInt8]

    /// Creates it from the two parts; a check of the session validates their lengths.
    public init(vendorID: [UInt8], iv: [UInt8]) {
      self.vendorID = vendorID
      self.iv = iv
    }

    /// The eight bytes that Qorvo's and NXP's samples use: 08 07, 01…06.
    public static let sample = StaticSTS(vendorID: [0x08, 0x07], iv: [1, 2, 3, 4, 5, 6])
  }

  /// A key of 16 or 32 bytes. Nothing here prints it.
  public struct SessionKey: Sendable, Hashable, Secret {
    /// The bytes in the order of the wire.
    public var bytes: [UInt8]
    /// Creates a key from its bytes; a check of the session validates their number.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// The sub-session of a controlee with a key of its own.
  public struct SubSession: Sendable, Hashable {
    /// SUB_SESSION_ID, the same as in the controller's list.
    public var id: UInt32
    /// SUB_SESSION_KEY.
    public var key: SessionKey
    /// Creates a sub-session.
    public init(id: UInt32, key: SessionKey) {
      self.id = id
      self.key = key
    }
  }
}

/// A value that is never shown in a text, also not in a debugger.
package protocol Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Secret {
  /// A placeholder without the bytes.
  public var description: String { "(hidden)" }
  /// A placeholder without the bytes.
  public var debugDescription: String { "(hidden)" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(reflecting: "(hidden)") }
}
