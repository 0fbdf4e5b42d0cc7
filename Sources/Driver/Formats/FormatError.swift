// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The reason why a file could not be read, used or written.
package struct FormatError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// The file cannot be read.
    case unreadable
    /// The file cannot be created.
    case notCreated
    /// Output cannot be written.
    case notWritten
    /// The contents cannot be used.
    case badFile
  }

  package let code: Code
  /// The cause in a sentence.
  package let description: String
  /// The next step to try.
  package let recoverySuggestion: String?

  private init(_ code: Code, _ description: String, suggestion: String? = nil) {
    (self.code, self.description, recoverySuggestion) = (code, description, suggestion)
  }

  package static func unreadable(
    _ path: String, _ cause: any Error, suggestion: String? = nil
  ) -> FormatError {
    FormatError(.unreadable, "Cannot read \(path): \(cause).", suggestion: suggestion)
  }

  package static func notCreated(_ path: String, _ cause: any Error) -> FormatError {
    path == "-"
      ? notWritten(cause) : FormatError(.notCreated, "Cannot write \(path): \(cause).")
  }

  package static func notWritten(_ cause: any Error) -> FormatError {
    FormatError(.notWritten, "Cannot write the output: \(cause).")
  }

  package static func badFile(_ path: String, _ cause: String) -> FormatError {
    let name = path == "-" ? "Standard input" : path
    return FormatError(.badFile, "\(name): \(cause)" + (cause.hasSuffix(".") ? "" : "."))
  }
}

extension FormatError: LocalizedError, CustomStringConvertible {
  package var errorDescription: String? { description }
}
