// SPDX-License-Identifier: Apache-2.0

import SystemPackage
import UWBSimulator

/// The stamps of simulated exchanges as CSV: what `compute ds-twr` and `compute ss-twr` read, with
/// the truth beside them.
struct ExchangeFile {
  private static let header =
    "time_s,peer,t1,t2,t3,t4,t5,t6,cfo_ppm,rx_power_dbm,truth_m\n"

  private let descriptor: FileDescriptor

  /// Begins a file.
  init(_ path: String) throws(ComputeError) {
    do {
      descriptor = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .truncate],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch { throw .notCreated(path, "\(error)") }
    try append(Self.header)
  }

  func write(_ exchanges: [RecordedExchange]) throws(ComputeError) {
    try append(exchanges.map(Self.row).joined())
  }

  private func append(_ text: String) throws(ComputeError) {
    do { try descriptor.writeAll(text.utf8) } catch { throw .notWritten("\(error)") }
  }

  private static func row(_ exchange: RecordedExchange) -> String {
    let stamps =
      [exchange.t1, exchange.t2, exchange.t3, exchange.t4].map { "\($0)" }
      + [exchange.t5, exchange.t6].map { $0.map { "\($0)" } ?? "" }
    return
      ([fixed(exchange.time, 6), "\(exchange.initiator)-\(exchange.responder)"] + stamps + [
        fixed(exchange.carrierOffset, 4), fixed(exchange.level, 2), fixed(exchange.truth, 4),
      ]).joined(separator: ",") + "\n"
  }
}
