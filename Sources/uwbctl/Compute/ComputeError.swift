// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// Why a table could not be computed.
enum ComputeError: Error {
  case unreadable(String, String)
  case notCreated(String, String)
  case notWritten(String)
  case noHeader
  case notText(line: Int, String)
  case openQuote(line: Int)
  case unknownUnit(line: Int, column: String, accepted: [String])
  case noRow(count: Int, line: Int, String)
  case tooLong
  case missingColumn(String, has: [String])
  case badFile(String, String)
  case tooLittle(String)

  var status: ExitStatus {
    switch self {
    case .unreadable: .noInput
    case .notCreated: .cannotCreate
    case .notWritten: .system
    default: .data
    }
  }

  var cause: String {
    switch self {
    case .unreadable(let path, let why): "\(path) cannot be read: \(why)"
    case .notCreated(let path, let why): "\(path) cannot be written: \(why)"
    case .notWritten(let why): "The output cannot be written: \(why)"
    case .noHeader: "The input is empty: not even a line with the names of columns."
    case .notText(let line, let why): "Line \(line): this is no text, \(why)."
    case .openQuote(let line): "Line \(line): a quotation mark is never closed."
    case .unknownUnit(let line, let column, _):
      "Line \(line): the unit of the column \(column) is not known."
    case .noRow(let count, let line, let why):
      "None of the \(count) rows can be used. The first is line \(line): \(why)."
    case .tooLong: "The input is longer than 4 GiB."
    case .missingColumn(let name, _): "The input has no column \(name)."
    case .badFile(let path, let why): "\(path): \(why)"
    case .tooLittle(let why): why
    }
  }

  var suggestion: String? {
    switch self {
    case .missingColumn(_, let header):
      "one of its \(header.count) columns by another name: "
        + header.joined(separator: ", ")
    case .tooLong: "parts of it, each with the header."
    case .notText: "the table as CSV in UTF-8."
    case .unknownUnit(_, _, let accepted): "one of " + accepted.joined(separator: ", ") + "."
    default: nil
    }
  }
}

/// Runs the body of a computation; a failure becomes a sentence and a status.
func computing(_ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as ComputeError {
    standardError.write("uwbctl: \(printable(error.cause))\n")
    if let suggestion = error.suggestion {
      standardError.write("  try: \(printable(suggestion))\n")
    }
    throw ExitCode(error.status.rawValue)
  }
}
