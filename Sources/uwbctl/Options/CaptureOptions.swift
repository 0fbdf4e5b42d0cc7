// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Glibc
import UWB

/// Whether and where packets are recorded.
struct CaptureOptions: ParsableArguments {
  @Option(
    help: "Record every packet in this file (pcapng), overwriting it.",
    completion: .file(extensions: ["pcapng"]))
  var capture: String?

  @Flag(help: "Record keys in clear instead of as zeros.")
  var includeSecrets = false

  func validate() throws {
    if includeSecrets, capture == nil {
      throw ValidationError("--include-secrets needs --capture.")
    }
  }

  /// Creates the file, before the device is opened so that nothing is missing; nil without --capture.
  func start(_ device: DeviceOptions) throws -> CaptureFile? {
    try start(named: device.device, simulated: device.isSimulated ? device.simChip : nil)
  }

  /// The same for a command that names its device differently.
  func start(
    named device: String, simulated: ChipOptions.SimulatedChip?
  ) throws -> CaptureFile? {
    try capture.map { path in
      try CaptureFile(
        path,
        description: .init(
          hardware: simulated.map { "simulated \($0.rawValue)" },
          os: Self.system, userApplication: "uwbctl", interfaceName: device,
          interfaceDescription: "UWB chip, UCI"),
        includeSecrets: includeSecrets)
    }
  }

  /// Warns if the file is incomplete, which does not stop ranging.
  func finish(_ file: CaptureFile?) {
    if let failure = file?.failure { _ = Failure(failure)?.report() }
  }

  /// For example `Linux 6.12.0 aarch64`.
  private static var system: String {
    var name = utsname()
    uname(&name)
    func text<T>(_ field: T) -> String {
      withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
  }
}

extension CaptureFile {
  /// Records a packet.
  var tap: UWBDevice.PacketTap { { self.record($0, $1, time: $2) } }
}
