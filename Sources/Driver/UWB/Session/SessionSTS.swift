// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension SessionConfiguration {
  /// The source of the scrambled timestamp sequence, equal at both ends.
  public enum STS: Sendable, Hashable {
    /// Eight bytes, equal at both ends. Anybody who has these bytes and the session id can range.
    case fixed(StaticSTS)
    /// A key in the chip's secure element.
    case dynamic
    /// A key in the secure element, and an individual key for this controlee. The controller adds
    /// controlees with their keys.
    case dynamicWithControleeKey(subSession: UInt32?)
    /// A key from the host.
    case provisioned(SessionKey)
    /// A key from the host, and an individual key for this controlee.
    case provisionedWithControleeKey(SessionKey, SubSession?)

    /// The value of STS_CONFIG.
    var config: UInt8 {
      switch self {
      case .fixed: 0
      case .dynamic: 1
      case .dynamicWithControleeKey: 2
      case .provisioned: 3
      case .provisionedWithControleeKey: 4
      }
    }

    /// The other parameters of the STS.
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

  /// Eight bytes that both ends share. They are key material, which is never printed.
  public struct StaticSTS: Sendable, Hashable, Secret {
    /// VENDOR_ID, two bytes in the order of the wire.
    public var vendorID: [UInt8]
    /// STATIC_STS_IV, six bytes in the order of the wire.
    public var iv: [UInt8]

    /// Creates the bytes from two parts. The session checks their lengths later.
    public init(vendorID: [UInt8], iv: [UInt8]) {
      self.vendorID = vendorID
      self.iv = iv
    }

    /// The eight bytes that Qorvo's and NXP's samples use: 08 07, 01…06.
    public static let sample = StaticSTS(vendorID: [0x08, 0x07], iv: [1, 2, 3, 4, 5, 6])
  }

  /// A key of 16 or 32 bytes, which is never printed.
  public struct SessionKey: Sendable, Hashable, Secret {
    /// The bytes in the order of the wire.
    public var bytes: [UInt8]
    /// Creates a key from its bytes. The session checks their number later.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// The sub-session of a controlee with an individual key.
  public struct SubSession: Sendable, Hashable {
    /// SUB_SESSION_ID, equal to the id in the controller's list.
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

/// A value that no text shows, not even in a debugger.
package protocol Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Secret {
  /// A placeholder in place of the value.
  public var description: String { "(hidden)" }
  /// A placeholder in place of the value.
  public var debugDescription: String { "(hidden)" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(reflecting: "(hidden)") }
}
