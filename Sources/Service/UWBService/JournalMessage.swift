// SPDX-License-Identifier: Apache-2.0
import Logging

/// The kinds of log messages with a number. `journalctl MESSAGE_ID=…` finds all messages of a kind.
enum JournalMessage: String {
  case chipOpened = "be17043f6c2b421eb1a347bde9da9961"
  case chipLost = "488999cf75fe410ba9c0fddd93133daa"
  case chipBack = "b7c975d6574b44f58e482fe395a34105"
  case chipLent = "36967a9d94114bd9a7b8172b6517cc01"
  case sessionStarted = "23647b040cc94ac192a26ec38d46de9f"
  case clientStuck = "5de22ab908894988bf55e339fd308cd1"

  /// Returns the metadata of a message of this kind, with further fields.
  func metadata(_ fields: Logger.Metadata = [:]) -> Logger.Metadata {
    fields.merging(["MESSAGE_ID": "\(rawValue)"]) { $1 }
  }
}
