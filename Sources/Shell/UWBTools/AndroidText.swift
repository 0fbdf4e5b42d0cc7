// SPDX-License-Identifier: Apache-2.0

package import AccessoryProtocol

/// Messages between accessories and Android phones in words.
package enum AndroidText {
  /// Returns the words of a message. Its identifier contains its direction.
  package static func words(_ bytes: [UInt8]) throws(AccessoryError) -> String {
    do throws(AccessoryError) { return try AndroidPhoneMessage(bytes).description } catch {
      guard case .unknownMessage(let id) = error.reason, [0x01, 0x03, 0x07, 0x08].contains(id)
      else { throw error }
      return try AndroidAccessoryMessage(bytes).description
    }
  }
}
