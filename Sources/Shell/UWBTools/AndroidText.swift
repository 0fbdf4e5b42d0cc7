// SPDX-License-Identifier: Apache-2.0

package import AccessoryProtocol
import Formats

/// Messages between accessories and Android phones in words.
package enum AndroidText {
  /// Returns the words of a message, which may be inside a frame of Find Hub. The identifier of a
  /// message implies its direction.
  package static func words(_ bytes: [UInt8]) throws(AccessoryError) -> String {
    if let message = findHubMessage(bytes) {
      return "Find Hub frame 0x\(hexDigits([bytes[0]])), not authenticated here; "
        + (try words(message))
    }
    do throws(AccessoryError) { return try AndroidPhoneMessage(bytes).description } catch {
      guard case .unknownMessage(let id) = error.reason, [0x01, 0x03, 0x07, 0x08].contains(id)
      else { throw error }
      return try AndroidAccessoryMessage(bytes).description
    }
  }

  /// Returns the message in a frame of Precision Finding: its operation, the length of the rest,
  /// eight bytes of HMAC-SHA256, the message. Source: Google's Find Hub Network Accessory
  /// Specification 1.3.
  private static func findHubMessage(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= 12, [0x0A, 0x0B, 0x0D].contains(bytes[0]),
      Int(bytes[1]) == bytes.count - 2
    else { return nil }
    return Array(bytes[10...])
  }
}
