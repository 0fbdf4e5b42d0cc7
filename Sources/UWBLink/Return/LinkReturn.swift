// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import SystemPackage

/// Where a device that goes away comes back, and how it is waited for.
///
/// The same device is one with the same USB serial number, at whatever path; where there is none, it
/// is whatever appears at the same path, or answers at the same host and port.
public struct LinkReturn: Sendable {
  /// What is opened again.
  public let endpoint: LinkEndpoint
  private let discovery: Discovery

  /// Looks the device up: to be made while it is there.
  public init(of endpoint: LinkEndpoint, discovery: Discovery = Discovery()) {
    self.endpoint = discovery.stableEndpoint(of: endpoint).resetting
    self.discovery = discovery
  }

  /// Whether there is anything to open again. A descriptor that was handed over is gone for good, and
  /// so is a pseudo-terminal that was opened by its number: the next one to get that number is another
  /// program's. A link that leads to one may lead to another one later.
  public var canReturn: Bool {
    if case .descriptor = endpoint { return false }
    return !(endpoint.path?.starts(with: "/dev/pts") ?? false)
  }

  /// Waits for the device and opens it.
  ///
  /// A device that appears is opened at once, and again a little later while udev has not given it
  /// its permissions, or another program looks at it.
  ///
  /// - Returns: nil when the task is cancelled, or nothing can return.
  public func open() async -> Link? {
    guard canReturn else { return nil }
    let watch = PathWatch(paths)
    var pause = Self.firstPause
    while !Task.isCancelled {
      let attempt = await onOwnThread { () -> Result<Link, LinkError> in
        Result { () throws(LinkError) in
          try Link(try endpoint.resolved(with: discovery), connectTimeout: Self.connectTimeout)
        }
      }
      let isThere: Bool
      switch attempt {
      case .success(let link): return Task.isCancelled ? nil : link
      case .failure(let error):
        // Between boot and plug these are one and the same.
        isThere = ![.notFound, .deviceGone].contains(error.code)
      }
      pause = isThere ? min(2 * pause, Self.longestPause) : Self.firstPause
      await watch.wait(milliseconds: isThere ? pause : Self.longestPause)
    }
    return nil
  }

  /// Milliseconds between two attempts at a device that is there, but cannot be opened yet.
  private static let firstPause: Int32 = 20
  /// Milliseconds after which a look is taken whether anything was noticed or not.
  private static let longestPause: Int32 = 500
  private static let connectTimeout: Int32 = 1_000

  /// What to watch: the path, what it leads to, or the folder of all device nodes.
  private var paths: [FilePath] {
    if case .usb = endpoint { return [discovery.dev.appending("ttyACM0")] }
    guard let path = endpoint.path else { return [] }
    let target = FileTree.target(of: path).map { path.removingLastComponent().pushing($0) }
    return [path] + (target.map { [$0] } ?? [])
  }
}

extension LinkEndpoint {
  /// The same with the chip switched off and on, or reset, where it does not lose its firmware by
  /// that: whatever it hangs in is over then.
  fileprivate var resetting: LinkEndpoint {
    switch self {
    case .spi(var spi) where spi.chip.family != .sr1xx:
      spi.start = .cycle
      return .spi(spi)
    case .uci(let path, _): return .uci(path: path, start: .cycle)
    case .nxpBoard(var board):
      board.start = .cycle
      return .nxpBoard(board)
    default: return self
    }
  }
}
