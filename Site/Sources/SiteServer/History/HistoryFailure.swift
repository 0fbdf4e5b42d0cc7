// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The reason why a history cannot be read or written.
package struct HistoryFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable {
    case missing, foreign, newer, damaged, full, busy, unusable
  }

  package let kind: Kind
  /// The path of the file.
  package let file: String
  let detail: String

  init(_ kind: Kind, _ file: String, _ detail: String = "") {
    (self.kind, self.file, self.detail) = (kind, file, detail)
  }

  init(_ error: any Error, _ file: String) {
    if let failure = error as? HistoryFailure {
      self = failure
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(.unusable, file, "\(error)")
      return
    }
    let kind: Kind =
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT, .SQLITE_SCHEMA: .damaged
      case .SQLITE_FULL: .full
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      default: .unusable
      }
    let message = error.message ?? "SQLite's error"
    self.init(kind, file, "\(message), error \(error.extendedResultCode.rawValue) of SQLite")
  }

  package var description: String {
    switch kind {
    case .missing: "\(file): there is no such folder, or it has no history"
    case .foreign:
      "\(file): this is not a history of uwbsite; move the file, or choose another folder"
    case .newer: "\(file): a newer version of uwbsite has written it; install that version"
    case .damaged:
      "\(file): the file is damaged (\(detail)); the command .recover of sqlite3 saves the rest"
    case .full: "\(file): the disk is full; delete files, or choose a folder on another disk"
    case .busy: "\(file): another program uses it (\(detail)); end that program, or try again"
    case .unusable:
      "\(file): it cannot be used (\(detail)); check the permissions of its folder, and its disk"
    }
  }
}
