// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage
package import UWBLink

/// Loads the firmware of a chip from the user's file. NXP's images may not be redistributed.
package enum Firmware {
  /// The image that was loaded, and the loader's report about the chip.
  package struct Report: Sendable, Hashable {
    package var bytes: Int
    /// SR1xx: whether the chip accepts images signed for production; nil if unreported.
    package var isProduction: Bool?
    /// SR1xx: 0xB0, 0xB1 or 0xB2.
    package var revision: UInt8?
  }

  /// Loads an image into the chip at `endpoint`, which no other program may be using.
  ///
  /// - SR1xx: loads into memory. Makes at most five attempts, and switches the chip off and on
  ///   before each.
  /// - SR2xx: writes flash, in a single attempt. If this fails, the error has the number of bytes
  ///   written.
  ///
  /// - Parameter progress: Called on a blocking thread, after each step and segment.
  /// - Throws: `FirmwareError`.
  package static func load(
    _ image: FirmwareImage, onto endpoint: LinkEndpoint,
    progress: @escaping @Sendable (FirmwareProgress) -> Void = { _ in }
  ) async throws(FirmwareError) -> Report {
    let result: Result<Report, FirmwareError>
    do throws(LinkError) {
      result = try await Link.with(endpoint, connector: Link.serviceConnector) { link in
        do throws(FirmwareError) {
          return .success(try await load(image, through: link, progress: progress))
        } catch {
          return .failure(error)
        }
      }
    } catch {
      throw .link(error)
    }
    return try result.get()
  }

  /// Loads an image. Nothing else may read from the link at this time.
  static func load(
    _ image: FirmwareImage, through port: some LoaderPort,
    progress: @escaping @Sendable (FirmwareProgress) -> Void,
    pause: @escaping @Sendable (Int) -> Void = { usleep(UInt32($0) * 1_000) }
  ) async throws(FirmwareError) -> Report {
    let cancelled = Locked(false)
    let isCancelled: @Sendable () -> Bool = { cancelled.withLock { $0 } }
    let result = await withTaskCancellationHandler {
      await onBlockingThread { () throws(FirmwareError) in
        switch image.kind {
        case .hbci:
          let chip = try HBCILoader(
            port: port, image: image.bytes, isCancelled: isCancelled, progress: progress,
            pause: pause
          ).load()
          return Report(
            bytes: image.bytes.count, isProduction: chip.isProduction, revision: chip.revision)
        case .hdll:
          try HDLLLoader(
            port: port, image: image, isCancelled: isCancelled, progress: progress
          ).load()
          return Report(bytes: image.bytes.count)
        }
      }
    } onCancel: {
      cancelled.withLock { $0 = true }
    }
    return try result.get()
  }

  static func onBlockingThread<R: Sendable>(
    _ body: @escaping @Sendable () throws(FirmwareError) -> R
  ) async -> Result<R, FirmwareError> {
    do throws(LinkError) { return try await runBlocking { Result(catching: body) } } catch {
      return .failure(.link(error))
    }
  }
}

extension LinkEndpoint {
  /// The loader of the chip; nil where firmware is not loaded over this link.
  package var firmwareKind: FirmwareImage.Kind? {
    switch self {
    case .spi(let spi):
      switch spi.chip.family {
      case .sr1xx: .hbci
      case .sr2xx: .hdll
      case .hsspi: nil
      }
    case .srxxx: .hbci
    default: nil
    }
  }

  /// Whether opening starts the chip, which then reports its state by itself.
  var startsChip: Bool {
    switch self {
    case .spi(let spi): spi.firmware != nil || (spi.chip.family != .sr1xx && spi.start == .cycle)
    case .srxxx(let device): device.firmware != nil
    case .nxpBoard(let board): board.start == .cycle
    case .serial, .usb, .qorvoCharacterDevice, .tcp, .service, .descriptor: false
    }
  }

  /// Opens a link. Loads the firmware that `fw=` refers to if the chip loses its firmware with its
  /// power.
  ///
  /// - Throws: `DriverError`.
  func openLink(
    loadsFirmware: Bool, progress: (@Sendable (FirmwareProgress) -> Void)?
  ) async throws(DriverError) -> Link {
    // The file is checked before opening, so that a wrong file has no effect on the chip.
    let image = loadsFirmware ? try await firmwareToLoad() : nil
    let link: Link
    do { link = try await Link.open(self, connector: Link.serviceConnector) } catch {
      throw .link(error)
    }
    if let image { try await link.load(image, progress) }
    return link
  }

  /// Reads and checks the file, on a blocking thread.
  ///
  /// - Throws: `DriverError.firmware`.
  func firmwareToLoad() async throws(DriverError) -> FirmwareImage? {
    guard let firmware, firmwareKind == .hbci else { return nil }
    let image = await Firmware.onBlockingThread { () throws(FirmwareError) in
      try FirmwareImage(path: firmware.string, kind: .hbci)
    }
    do { return try image.get() } catch { throw .firmware(error) }
  }
}

extension LoaderPort {
  /// Receives from the loader like `receiveFromLoader`. Errors have the step.
  func receive(
    _ count: Int, _ step: FirmwareStep, timeout: Int32
  ) throws(FirmwareError) -> [UInt8] {
    do { return try receiveFromLoader(count, timeout: timeout) } catch {
      throw error.code == .timeout ? .noAnswer(step: step) : .link(error)
    }
  }
}

extension Link {
  func load(
    _ image: FirmwareImage, _ progress: (@Sendable (FirmwareProgress) -> Void)?
  ) async throws(DriverError) {
    do {
      _ = try await Firmware.load(image, through: self, progress: progress ?? { _ in })
    } catch {
      throw .firmware(error)
    }
  }
}
