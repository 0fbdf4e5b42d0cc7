// SPDX-License-Identifier: Apache-2.0

package import AccessoryProtocol
import CommandSupport
import Formats
import UCI
package import UWB

extension CaptureFile {
  /// Writes a message between an accessory and a phone, without its keys unless the file has them.
  ///
  /// - Parameter name: The name of the other end.
  package func record(_ message: DialogueMessage, with name: String) {
    let sender = message.isFromPhone ? "phone" : "accessory"
    let failure = record(
      (name == "accessory") == message.isFromPhone ? .outbound : .inbound,
      message: includesSecrets ? message.bytes : message.withoutKeys,
      comment: "\(message.kind.rawValue) from \(sender) with \(name)", time: PacketLink.now())
    if let failure { Ending.captureFailed(failure) }
  }
}

/// A message between an accessory and a phone that was read from a capture.
struct RecordedMessage: CustomStringConvertible {
  /// The message; nil if the comment of the capture does not name its protocol.
  private let message: DialogueMessage?
  private let bytes: [UInt8]
  private let name: String

  init(_ captured: CapturedMessage) {
    // The comment has a form such as "android from phone with app 1".
    let words = captured.comment.split(separator: " ", maxSplits: 4).map(String.init)
    let kind = words.count == 5 ? DialogueMessage.Kind(rawValue: words[0]) : nil
    message = kind.map { DialogueMessage(captured.bytes, $0, isFromPhone: words[2] == "phone") }
    (bytes, name) = (captured.bytes, kind == nil ? captured.comment : words[4])
  }

  /// The message in words, without its keys.
  var description: String {
    let words = message.map(\.description) ?? "of an unknown protocol"
    return "message with \(printable(name))\n  \(printable(words))"
  }

  func fields(showingSecrets: Bool) -> [Field] {
    [
      Field("message", .text(message.map(\.description) ?? "of an unknown protocol")),
      Field("protocol", message.map { .text($0.kind.rawValue) } ?? .null),
      Field("from_phone", message.map { .bool($0.isFromPhone) } ?? .null),
      Field("with", .text(name)),
      Field("bytes", .bytes(showingSecrets ? bytes : message?.withoutKeys ?? [])),
    ]
  }
}
