// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Foundation
internal import Glibc
internal import UWBLink

/// A record of a run with an accessory, with which the program resumes the session after it was
/// killed.
///
/// The record is a file in the runtime folder of the user, which is in memory. The running program
/// holds its lock, which the kernel releases at the end of the program.
struct RunRecord {
  struct Contents: Codable, Sendable {
    /// The chip of the service.
    var device: String
    var accessory: [UInt8]
    var shareable: [UInt8]
    var bluetooth: UUID?
  }

  private let path: String
  private let descriptor: Int32

  /// The folder of the records; nil if the program has no runtime folder.
  private static var folder: String? {
    for name in ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"] {
      if let base = unsafe getenv(name).map({ unsafe String(cString: $0) }), base.hasPrefix("/") {
        return base + "/swift-uwb"
      }
    }
    return nil
  }

  /// Returns the name of a chip whose sessions wait for a killed program; nil for other devices.
  ///
  /// - Parameter lingers: whether a chip without a time to wait has no name.
  static func name(of endpoint: LinkEndpoint, lingers: Bool) -> String? {
    guard case .service(let socket, let chip, let linger) = endpoint, !lingers || linger > .zero
    else { return nil }
    return LinkEndpoint.service(socket: socket, chip: chip).description
  }

  /// Writes a record; nil if it is not needed, or cannot be written.
  init?(_ plan: SessionPlan, shareable: [UInt8]?, at endpoint: LinkEndpoint) {
    guard let folder = Self.folder, let device = Self.name(of: endpoint, lingers: true),
      case .accessory(let accessory, _) = plan.target, let shareable,
      let id = try? ShareableConfigurationData(shareable).sessionID,
      let data = try? JSONEncoder().encode(
        Contents(
          device: device, accessory: accessory.bytes, shareable: shareable,
          bluetooth: plan.bluetoothPeer?.identifier))
    else { return nil }
    _ = unsafe mkdir(folder, 0o700)
    path = "\(folder)/session-\(id)"
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, ftruncate(descriptor, 0) == 0,
      unsafe data.withUnsafeBytes({ unsafe write(descriptor, $0.baseAddress, $0.count) })
        == data.count
    else {
      close(descriptor)
      return nil
    }
  }

  /// Removes the record of a session that has ended.
  func remove() {
    unsafe unlink(path)
    close(descriptor)
  }

  /// Returns the records of programs that have ended without ending their sessions.
  static func ofEndedPrograms() -> [Contents] {
    guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
    else { return [] }
    return names.sorted().compactMap { name in
      let descriptor = unsafe open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return nil }
      let data = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        .readDataToEndOfFile()
      return try? JSONDecoder().decode(Contents.self, from: data)
    }
  }
}
