// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UWBSimulator

/// The stamps of simulated exchanges as CSV, as read by `compute ds-twr` and `compute ss-twr`, with
/// the true distances beside them.
struct ExchangeFile {
  private var writer: CSVWriter

  /// Begins a file.
  init(_ path: String) throws(LabError) {
    writer = try CSVWriter(to: path)
    let header = "time_s,peer,t1,t2,t3,t4,t5,t6,cfo_ppm,rx_power_dbm,truth_m"
    for name in header.split(separator: ",") { writer.add(String(name)) }
    try writer.endRow()
    try writer.flush()
  }

  mutating func write(_ exchanges: [RecordedExchange]) throws(LabError) {
    for exchange in exchanges {
      writer.add(exchange.time, digits: 6)
      writer.add("\(exchange.initiator)-\(exchange.responder)")
      for stamp in [exchange.t1, exchange.t2, exchange.t3, exchange.t4] { writer.add("\(stamp)") }
      for stamp in [exchange.t5, exchange.t6] { writer.add(stamp.map { "\($0)" } ?? "") }
      writer.add(exchange.carrierOffset, digits: 4)
      writer.add(exchange.level, digits: 2)
      writer.add(exchange.truth, digits: 4)
      try writer.endRow()
    }
    try writer.flush()
  }
}
