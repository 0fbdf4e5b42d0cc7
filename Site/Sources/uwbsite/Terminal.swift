// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The standard streams.
enum Terminal {
  /// Writes a text completely to standard output.
  ///
  /// - Throws: `CommandFailure` with `.inputOutput`, for example when the disk is full.
  static func write(_ text: String) throws(CommandFailure) {
    try write(text, to: STDOUT_FILENO)
  }

  /// Writes a line to standard error.
  static func note(_ text: String) { try? write("uwbsite: \(text)\n", to: STDERR_FILENO) }

  /// Runs a blocking body on a thread of its own, so that the threads of tasks stay free.
  static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "run").async { continuation.resume(with: Result(catching: body)) }
    }
  }

  /// Runs a command, and exits with the status of its error.
  static func run(_ body: () throws(CommandFailure) -> Void) throws {
    do { try body() } catch {
      note(error.description)
      throw ExitCode(error.kind.rawValue)
    }
  }

  private static func write(_ text: String, to descriptor: Int32) throws(CommandFailure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe writeBytes(descriptor, $0) }
      if count < 0 {
        let number = errno
        if number == EINTR { continue }
        if number == EPIPE {
          throw CommandFailure(.inputOutput, "the reader of the output has closed it")
        }
        throw CommandFailure(.inputOutput, "the output cannot be written: error \(number)")
      }
      rest = rest.dropFirst(count)
    }
  }
}

/// The call of the C library, which `Terminal.write` hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
