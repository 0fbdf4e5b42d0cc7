// SPDX-License-Identifier: Apache-2.0

package import Formats
public import FoundationEssentials
internal import UCI

/// The reason why a table, a file or a calibration could not be read, computed or written.
public struct LabError: Error, Hashable, Sendable {
  /// The kinds of failures. Kinds may be added.
  public struct Code: Hashable, Sendable {
    private let name: StaticName
    private enum StaticName {
      case unreadable, notCreated, notWritten, badTable, badFile, insufficientData, noAnswer, usage
      case outputClosed
    }

    /// A file cannot be read.
    public static let unreadable = Code(name: .unreadable)
    /// A file cannot be created.
    public static let notCreated = Code(name: .notCreated)
    /// Output cannot be written.
    public static let notWritten = Code(name: .notWritten)
    /// The reader of standard output has exited.
    public static let outputClosed = Code(name: .outputClosed)
    /// A table cannot be used; `line` is the line of the cause.
    public static let badTable = Code(name: .badTable)
    /// A file of calibrations, anchors or conditions cannot be used.
    public static let badFile = Code(name: .badFile)
    /// The measurements are not sufficient for a result.
    public static let insufficientData = Code(name: .insufficientData)
    /// Standard input ended during the prompts of a calibration.
    package static let noAnswer = Code(name: .noAnswer)
    /// A value that a calibration requires was not given.
    package static let usage = Code(name: .usage)
  }

  /// The kind of the failure.
  public let code: Code
  /// The line of a table, counted from 1; nil for other failures.
  public let line: Int?
  /// The cause as a sentence.
  public let description: String
  /// The next step to try.
  public let recoverySuggestion: String?

  package init(
    _ code: Code, line: Int? = nil, _ description: String, suggestion: String? = nil
  ) {
    self.code = code
    self.line = line
    self.description = description
    recoverySuggestion = suggestion
  }
}

extension LabError: LocalizedError, CustomStringConvertible {
  /// The cause as a sentence.
  public var errorDescription: String? { description }
}

extension LabError {
  package init(_ error: FormatError) {
    let code: Code =
      switch error.code {
      case .unreadable: .unreadable
      case .notCreated: .notCreated
      case .notWritten: .notWritten
      case .badFile: .badFile
      }
    self.init(code, error.description, suggestion: error.recoverySuggestion)
  }

  /// - Parameter path: the path of the file; `-` is standard input.
  package static func unreadable(_ path: String, _ cause: any Error) -> LabError {
    LabError(
      .unreadable, "Cannot read \(path == "-" ? "standard input" : path): \(cause).")
  }

  package static func notCreated(_ path: String, _ cause: any Error) -> LabError {
    LabError(.notCreated, "Cannot write \(path): \(cause).")
  }

  package static func notWritten(_ cause: any Error) -> LabError {
    LabError(.notWritten, "Cannot write the output: \(cause).")
  }

  /// Returns an error at a line of a table.
  static func table(_ line: Int, _ cause: String, suggestion: String? = nil) -> LabError {
    LabError(.badTable, line: line, "Line \(line): \(cause)", suggestion: suggestion)
  }

  static func missingColumn(_ name: String, of table: CSVTable) -> LabError {
    if table.isOtherOutput {
      return LabError(
        .badTable, "The input has lines of text or JSON instead of a table.",
        suggestion: "Give a table with a header, as uwbctl range --format csv prints one.")
    }
    let header = table.commentLine.map { ". " + CSVTable.advice($0) } ?? ""
    return LabError(
      .badTable, "The input has no column \(shortened(name)).",
      suggestion: "Rename "
        + (table.header.count == 1
          ? "its column: " : "one of its \(counted(table.header.count, "column")): ")
        + list(table.header) + header)
  }

  /// Returns the first names of a list, each shortened, and the number of further names.
  static func list(_ names: [String]) -> String {
    let most = 20
    let shown = names.prefix(most).map(shortened).joined(separator: ", ")
    return names.count > most ? "\(shown) and \(names.count - most) more" : shown
  }

  /// Returns at most 40 characters of a name in a table. An empty name becomes two quotation marks.
  static func shortened(_ name: String) -> String {
    if name.isEmpty { return "\"\"" }
    return name.count > 40 ? "\(name.prefix(40))…" : name
  }

  static func insufficient(_ cause: String, suggestion: String? = nil) -> LabError {
    LabError(.insufficientData, cause, suggestion: suggestion)
  }
}
