// SPDX-License-Identifier: Apache-2.0

package import UWB

/// The values of a chip's calibration that differ from wanted ones.
package struct CalibrationChange {
  package let device: UWBDevice
  /// The new values, and the bytes that the chip has now.
  package let changes: [(new: CalibrationEntry, old: [UInt8])]

  /// Reads the present values.
  package init(_ device: UWBDevice, _ wanted: [CalibrationEntry]) async throws {
    self.device = device
    let present = try await device.calibration(wanted.map(\.name))
    changes = wanted.compactMap { entry in
      let old = present.first { $0.name == entry.name }?.bytes ?? []
      return old == entry.bytes ? nil : (entry, old)
    }
  }

  /// Writes the new values and reads each one back.
  ///
  /// - Parameter isAtomic: values that belong together: cancellation waits for the last of them, and
  ///   when one fails those before it are restored.
  package func write(isAtomic: Bool) async throws {
    let (device, changes) = (device, changes)
    guard isAtomic else { return try await device.calibrate(changes.map(\.new)) }
    // A task of its own is not cancelled with this one.
    try await Task {
      do { try await device.calibrate(changes.map(\.new)) } catch {
        for change in changes where !change.old.isEmpty {
          try? await device.calibrate([
            CalibrationEntry(name: change.new.name, bytes: change.old)
          ])
        }
        throw error
      }
    }.value
  }
}
