// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Glibc
import System
import SystemPackage
package import UWB

/// The options for recording packets.
package struct CaptureOptions: ParsableArguments {
  @Option(
    help: "Record every packet in this file (pcapng), overwriting it.",
    completion: .file(extensions: ["pcapng"]))
  package var capture: String?

  @Flag(help: "Record keys in clear instead of as zeros.")
  package var includeSecrets = false

  package init() {}

  package func validate() throws {
    if includeSecrets, capture == nil {
      throw ValidationError("--include-secrets needs --capture.")
    }
  }

  /// Creates the file, or returns nil without --capture. The device is opened later, so that no
  /// packet is missing.
  package func start(_ device: String, simulated: ChipOptions.SimulatedChip?) throws -> CaptureFile?
  {
    takeOutput(for: capture)
    if capture == "-", isatty(STDOUT_FILENO) != 0 {
      throw Failure(
        .usage, "A capture is not text, and is not written to a terminal.",
        try: "Name a file, or the program that reads it: uwbctl capture - | wireshark -k -i -")
    }
    guard let capture else { return nil }
    do throws(CaptureError) {
      return try CaptureFile(
        capture,
        description: .init(
          hardware: simulated.map { "simulated \($0.rawValue)" },
          os: Self.system, userApplication: "\(Program.command) \(Program.version)",
          interfaceName: device,
          interfaceDescription: "UWB chip, UCI"),
        includeSecrets: includeSecrets)
    } catch {
      guard case .notWritten(path: "-", let number, _) = error else { throw error }
      Ending.outputFailed(Errno(rawValue: number))
      throw CancellationError()
    }
  }

  /// The operating system, such as `Linux 6.12.0 aarch64`.
  private static var system: String {
    var name = utsname()
    unsafe uname(&name)
    func text<T>(_ field: T) -> String {
      unsafe withUnsafeBytes(of: field) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
    return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
  }
}

extension CaptureFile {
  /// The function that records packets. A failed write does not stop ranging: it is reported at
  /// once, and the command fails at its end.
  package var tap: UWBDevice.PacketTap {
    {
      if let failure = self.record($0, $1, time: $2) { Ending.captureFailed(failure) }
    }
  }
}
