// SPDX-License-Identifier: Apache-2.0
internal import Ranging
internal import UCI
internal import UWB

/// A message between an accessory and a phone of either kind, in words or without its keys.
///
/// The kind is not always in the message: the first byte from an accessory is 1 to 3 in both
/// protocols.
package struct DialogueMessage: Sendable, Hashable {
  /// The protocol of a phone.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Nearby Interaction.
    case apple
    /// The out-of-band protocol of Android's ranging.
    case android
  }

  package let kind: Kind
  package let isFromPhone: Bool
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8], _ kind: Kind, isFromPhone: Bool) {
    (self.bytes, self.kind, self.isFromPhone) = (bytes, kind, isFromPhone)
  }

  /// Returns the kind of a message from a phone.
  package static func kind(ofPhone bytes: [UInt8]) -> Kind {
    AndroidPhoneMessage.isRecognized(bytes) ? .android : .apple
  }

  /// The bytes with zeros in place of keys. A message of a phone that is unknown or damaged may
  /// have a key anywhere, and loses everything after its header.
  package var withoutKeys: [UInt8] {
    guard isFromPhone, let first = bytes.first else { return bytes }
    switch (kind, kind == .apple ? first : bytes.dropFirst().first) {
    case (.apple, 0x0B): return appleWithoutKeys
    case (.android, 0x02): return androidWithoutKeys
    case (.apple, 0x0A), (.apple, 0x0C), (.android, 0x00), (.android, 0x06): return bytes
    case (.apple, _): return cut(after: 1)
    case (.android, _): return cut(after: 2)
    }
  }

  private var appleWithoutKeys: [UInt8] {
    guard var data = try? ShareableConfigurationData(Array(bytes.dropFirst())),
      let zeros = ShareableConfigurationData.InitialisationVector([UInt8](repeating: 0, count: 6))
    else { return cut(after: 6) }
    data.initialisationVector = zeros
    return [0x0B] + data.bytes
  }

  /// Blocks of other technologies, whose layout is not known here, lose their data.
  private var androidWithoutKeys: [UInt8] {
    guard (try? AndroidPhoneMessage(bytes)) != nil else { return cut(after: 6) }
    var (copy, start) = (bytes, 6)
    while copy.count - start >= 2 {
      let (technology, end) = (copy[start], start + Int(copy[start + 1]))
      let hidden =
        technology == 0 ? start + 15..<start + 15 + Int(copy[start + 14]) : start + 2..<end
      for index in hidden { copy[index] = 0 }
      start = end
    }
    return copy
  }

  private func cut(after count: Int) -> [UInt8] {
    bytes.prefix(count) + [UInt8](repeating: 0, count: max(0, bytes.count - count))
  }
}

extension DialogueMessage: CustomStringConvertible {
  /// The message in words, without keys; for a damaged message, the reason of the failure.
  package var description: String {
    do throws(AccessoryError) {
      switch (kind, isFromPhone) {
      case (.android, true): return "\(try AndroidPhoneMessage(bytes))"
      case (.android, false): return "\(try AndroidAccessoryMessage(bytes))"
      case (.apple, true): return "iPhone, " + Self.words(try AppMessage(bytes))
      case (.apple, false): return "accessory, " + Self.words(try AccessoryMessage(bytes))
      }
    } catch {
      return "\(isFromPhone ? "phone" : "accessory"), \(counted(bytes.count, "byte")): \(error)"
    }
  }

  private static func words(_ message: AppMessage) -> String {
    guard case .configureAndStart(let bytes) = message,
      let data = try? ShareableConfigurationData(bytes)
    else { return "\(message)" }
    return "configure and start: version \(data.version), session \(data.sessionID), channel "
      + "\(data.channel), preamble code \(data.preambleCode), \(data.interval) ms, slots of "
      + "\(data.slotDuration) RSTU, \(data.slotsPerRound) in a round"
  }

  private static func words(_ message: AccessoryMessage) -> String {
    switch message {
    case .accessoryConfigurationData(let bytes):
      guard let data = try? AccessoryConfigurationData(bytes) else {
        return "configuration data (\(counted(bytes.count, "byte")))"
      }
      let role = data.uwb.role == .controller ? "controller" : "controlee"
      return "configuration data: version \(data.uwb.version), \(role)"
    case .accessoryUwbDidStart: return "ranging has started"
    case .accessoryUwbDidStop: return "ranging has stopped"
    case .regionChanged(let notice): return "\(notice.kind.rawValue) \(notice.region)"
    }
  }
}
