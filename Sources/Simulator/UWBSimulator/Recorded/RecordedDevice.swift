// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SystemPackage

/// A recorded chip on a pseudo-terminal.
///
/// One thread serves it between `start()` and `stop()`, and ends with the device.
package final class RecordedDevice: Sendable {
  private let server: PortServer<RecordedPort>
  /// The path for the host to open, like `/dev/pts/5`.
  package let path: String

  /// A limit so large that no part of a recording is dropped for a slow host.
  private static let queueLimit = 1 << 26

  /// Creates the device and powers the chip up.
  ///
  /// - Parameters: see `RecordedChip`.
  /// - Throws: `Errno` if no pseudo-terminal can be opened.
  package init(
    _ recording: Recording, speed: Double = 1, repeats: Bool = false
  ) throws(Errno) {
    var chip = RecordedChip(recording, speed: speed, repeats: repeats)
    chip.powerUp(at: 0)
    server = PortServer(RecordedPort(chip: chip))
    let terminal = try server.openTerminal()
    path = terminal.path
    server.update { port, _ in port.port = Port(terminal: terminal, limit: Self.queueLimit) }
  }

  deinit { server.end() }

  package var statistics: RecordedChip.Statistics {
    server.update { port, _ in port.chip.statistics }
  }

  /// Creates a symbolic link to the path, replacing an existing link; removed with the device.
  package func link(at path: String) throws(Errno) {
    try server.update { port, _ throws(Errno) in try port.port?.makeLink(at: path) }
  }

  /// Starts to serve the chip. Does nothing if it is served.
  package func start() { server.start() }

  /// Stops serving the chip. The pseudo-terminal stays open.
  package func stop() { server.stop() }
}

private struct RecordedPort: Served {
  var chip: RecordedChip
  var port: Port?

  var ports: [Port] { port.map { [$0] } ?? [] }

  mutating func serve(
    at now: UInt64, _ buffer: inout [UInt8]
  ) -> (descriptors: [pollfd], deadline: UInt64?) {
    // Due packets are sent before new requests are handled.
    port?.enqueue(chip.takeOutput(at: now))
    for bytes in port?.terminal?.read(&buffer) ?? [] { chip.receive(bytes, at: now) }
    port?.enqueue(chip.takeOutput(at: now))
    port?.flush()
    return (port?.waiting ?? [], chip.nextDeadline)
  }
}
