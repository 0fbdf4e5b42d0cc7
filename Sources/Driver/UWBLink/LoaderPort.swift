// SPDX-License-Identifier: Apache-2.0
internal import CUWB

/// A chip before its firmware runs: transfers bytes to and from its loader.
///
/// All calls block, so they belong on blocking threads.
package protocol LoaderPort: Sendable {
  /// Switches the chip off and on, and into its loader.
  ///
  /// - Throws: `LinkError`; code `invalidEndpoint` if this kind of link has no loader.
  func beginLoading() throws(LinkError)

  /// Sends raw bytes while the chip select line stays active.
  func sendToLoader(_ bytes: [UInt8]) throws(LinkError)

  /// Reads `count` bytes while the chip select line stays active, once the chip is ready.
  ///
  /// - Parameter timeout: The time-out in milliseconds; 0 if the chip is already ready.
  /// - Throws: `LinkError`; code `timeout` if the chip is not ready in time.
  func receiveFromLoader(_ count: Int, timeout: Int32) throws(LinkError) -> [UInt8]

  /// Ends loading. The firmware runs, and the link carries frames from here on.
  func endLoading() throws(LinkError)
}

extension Link: LoaderPort {
  package func beginLoading() throws(LinkError) {
    let result = unsafe cuwb_boot_begin(raw)
    guard result.outcome != CUWB_INVALID else {
      throw LinkError(
        .invalidEndpoint, endpoint: endpoint.description,
        detail: "firmware cannot be loaded through it",
        recoverySuggestion: "Use spi:/dev/spidev0.0?chip=…, or sr1xx:/dev/srxxx.")
    }
    try check(result)
  }

  package func sendToLoader(_ bytes: [UInt8]) throws(LinkError) {
    try check(unsafe cuwb_boot_write(raw, bytes, bytes.count))
  }

  package func receiveFromLoader(
    _ count: Int, timeout: Int32
  ) throws(LinkError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try check(unsafe cuwb_boot_read(raw, &bytes, count, timeout))
    return bytes
  }

  package func endLoading() throws(LinkError) { try check(unsafe cuwb_boot_end(raw)) }

  private func check(_ result: cuwb_result) throws(LinkError) {
    guard result.outcome == CUWB_OK else { throw LinkError(result, endpoint: endpoint) }
  }
}
