// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage

/// A device to open again when it returns.
///
/// The device is identified by its USB serial number, at any path. A device without a serial number
/// is identified by its path, or by its host and port.
package struct ReconnectTarget: Sendable {
  /// The endpoint to open again.
  package let endpoint: LinkEndpoint
  private let connector: Link.Connector?
  private let discovery: Discovery

  /// Identifies a present device on a blocking thread.
  package static func find(
    _ endpoint: LinkEndpoint, connector: Link.Connector? = nil, discovery: Discovery = Discovery()
  ) async throws(LinkError) -> ReconnectTarget {
    try await runBlocking {
      ReconnectTarget(endpoint, connector: connector, discovery: discovery)
    }
  }

  /// Identifies a present device; blocks the calling thread.
  ///
  /// - Parameter connector: Reaches services; without it, their endpoints are invalid.
  package init(
    _ endpoint: LinkEndpoint, connector: Link.Connector? = nil, discovery: Discovery = Discovery()
  ) {
    self.connector = connector
    self.endpoint = discovery.stableEndpoint(of: endpoint).resetting
    self.discovery = discovery
  }

  /// Whether a lost device can appear again at its endpoint.
  package var canReturn: Bool { endpoint.canReturn }

  /// Waits for the device, and opens it.
  ///
  /// Opens the device as soon as it appears. Retries while udev has not set its permissions, or
  /// another program has it open.
  ///
  /// - Returns: The link; nil if the task is cancelled or the device cannot return.
  package func open() async -> Link? {
    guard canReturn else { return nil }
    guard let watch = try? await runBlocking({ PathWatch(paths) }) else { return nil }
    var pause = Self.firstPause
    while !Task.isCancelled {
      let isThere: Bool
      do throws(LinkError) {
        let link = try await runBlocking {
          Result { () throws(LinkError) in
            try Link(
              try endpoint.resolved(with: discovery), connector: connector,
              connectTimeout: .seconds(1))
          }
        }.get()
        return Task.isCancelled ? nil : link
      } catch {
        // Both codes mean that the device is absent.
        isThere = ![.notFound, .deviceGone].contains(error.code)
      }
      pause = isThere ? min(2 * pause, Self.longestPause) : Self.firstPause
      await watch.wait(milliseconds: isThere ? pause : Self.longestPause)
    }
    return nil
  }

  /// Waits until the device can be opened, by opening and closing it.
  ///
  /// - Returns: False if the task is cancelled or the device cannot return.
  package func waitUntilAvailable() async -> Bool {
    guard let closed = await open()?.closed else { return false }
    await closed.wait()
    return true
  }

  /// The milliseconds between two attempts at a present device that cannot be opened yet.
  private static let firstPause: Int32 = 20
  /// The milliseconds after which an attempt is made without a reported change.
  private static let longestPause: Int32 = 500

  /// The paths to watch: the device's path and its target, or the folder of all device nodes.
  private var paths: [FilePath] {
    if case .usb = endpoint { return [discovery.dev.appending("ttyACM0")] }
    guard let path = endpoint.path else { return [] }
    let target = FileTree.target(of: path).map { path.removingLastComponent().pushing($0) }
    return [path] + (target.map { [$0] } ?? [])
  }
}

extension LinkEndpoint {
  /// The endpoint with a reset at opening, for chips that keep their firmware. The reset ends any
  /// faulty state.
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
  /// Whether a lost device may return at this endpoint.
  ///
  /// A descriptor cannot return. Neither can a pseudo-terminal named by its number, because the
  /// next one with that number belongs to another program. A link to a pseudo-terminal may get a
  /// new target.
  package var canReturn: Bool {
    if case .descriptor = self { return false }
    return !(path?.starts(with: "/dev/pts") ?? false)
  }
}
