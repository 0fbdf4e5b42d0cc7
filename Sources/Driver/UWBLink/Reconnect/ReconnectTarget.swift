// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage

/// A device that goes away and is to be opened again when it comes back.
///
/// The same device is one with the same USB serial number, at whatever path; where there is none, it
/// is whatever appears at the same path, or answers at the same host and port.
package struct ReconnectTarget: Sendable {
  /// What is opened again.
  package let endpoint: LinkEndpoint
  private let discovery: Discovery

  /// Looks the device up on a blocking thread, while it is there.
  package static func find(
    _ endpoint: LinkEndpoint, discovery: Discovery = Discovery()
  ) async throws(LinkError) -> ReconnectTarget {
    try await runBlocking { ReconnectTarget(endpoint, discovery: discovery) }
  }

  /// Looks the device up, while it is there; blocks the calling thread.
  package init(_ endpoint: LinkEndpoint, discovery: Discovery = Discovery()) {
    self.endpoint = discovery.stableEndpoint(of: endpoint).resetting
    self.discovery = discovery
  }

  /// Whether there is anything to open again.
  package var canReturn: Bool { endpoint.canReturn }

  /// Waits for the device and opens it.
  ///
  /// A device that appears is opened at once; while udev has not set its permissions, or another
  /// program looks at it, that is retried.
  ///
  /// - Returns: nil when the task is cancelled, or nothing can return.
  package func open() async -> Link? {
    guard canReturn else { return nil }
    guard let watch = try? await runBlocking({ PathWatch(paths) }) else { return nil }
    var pause = Self.firstPause
    while !Task.isCancelled {
      let isThere: Bool
      do throws(LinkError) {
        let link = try await runBlocking {
          Result { () throws(LinkError) in
            try Link(try endpoint.resolved(with: discovery), connectTimeout: .seconds(1))
          }
        }.get()
        return Task.isCancelled ? nil : link
      } catch {
        // Between boot and plug these two mean the same.
        isThere = ![.notFound, .deviceGone].contains(error.code)
      }
      pause = isThere ? min(2 * pause, Self.longestPause) : Self.firstPause
      await watch.wait(milliseconds: isThere ? pause : Self.longestPause)
    }
    return nil
  }

  /// Waits until the device can be opened: opens it, and closes it again.
  ///
  /// - Returns: false when the task is cancelled, or nothing can return.
  package func waitUntilAvailable() async -> Bool {
    guard let closed = await open()?.closed else { return false }
    await closed.wait()
    return true
  }

  /// Milliseconds between two attempts at a device that is there, but cannot be opened yet.
  private static let firstPause: Int32 = 20
  /// Milliseconds after which an attempt is made whether anything was noticed or not.
  private static let longestPause: Int32 = 500

  /// What to watch: the path, what it leads to, or the folder of all device nodes.
  private var paths: [FilePath] {
    if case .usb = endpoint { return [discovery.dev.appending("ttyACM0")] }
    guard let path = endpoint.path else { return [] }
    let target = FileTree.target(of: path).map { path.removingLastComponent().pushing($0) }
    return [path] + (target.map { [$0] } ?? [])
  }
}

extension LinkEndpoint {
  /// The same endpoint, with the chip reset at opening where it does not lose its firmware by that:
  /// whatever state it is stuck in ends.
  fileprivate var resetting: LinkEndpoint {
    switch self {
    case .spi(var spi) where spi.chip.family != .sr1xx:
      spi.start = .cycle
      return .spi(spi)
    case .qorvoCharacterDevice(let path, _): return .qorvoCharacterDevice(path: path, start: .cycle)
    case .nxpBoard(var board):
      board.start = .cycle
      return .nxpBoard(board)
    default: return self
    }
  }
}

extension LinkEndpoint {
  /// Whether a device that was lost may be found here again. A descriptor that was handed over is gone
  /// for good, and so is a pseudo-terminal that was opened by its number: the next one to get that
  /// number is another program's. A link that leads to one may lead to another one later.
  package var canReturn: Bool {
    if case .descriptor = self { return false }
    return !(path?.starts(with: "/dev/pts") ?? false)
  }
}
