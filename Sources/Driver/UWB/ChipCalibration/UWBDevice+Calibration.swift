// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

extension UWBDevice {
  /// Reads values of the calibration.
  ///
  /// - Parameter names: the values to read, which have to exist. Empty: every known value that the
  ///   chip has.
  /// - Throws: `CalibrationError`.
  public func calibration(
    _ names: [String] = []
  ) async throws(CalibrationError) -> [CalibrationEntry] {
    for name in names { _ = try value(named: name) }
    switch profile.calibration {
    case .unknown: throw .unsupported(chip: profile.name)
    case .namedKeys: return try await namedKeys(names)
    case .numberedParameters: return try await numberedParameters(names)
    }
  }

  /// Writes values and reads each one back.
  ///
  /// - Throws: `CalibrationError`; values that were written before the error stay written.
  ///   `.wrongLength` if the chip has another number of bytes for a value; then nothing was
  ///   written. `.notKept` if the chip stores another value than the written one.
  public func calibrate(_ entries: [CalibrationEntry]) async throws(CalibrationError) {
    let before = try await calibration(entries.map(\.name))
    for entry in entries {
      guard let old = before.first(where: { $0.name == entry.name })?.bytes,
        profile.calibration == .namedKeys, old.count != entry.bytes.count
      else { continue }
      throw .wrongLength(name: entry.name, expected: old.count, given: entry.bytes.count)
    }
    for entry in entries {
      try await write(entry)
      let read = try await calibration([entry.name]).first?.bytes ?? []
      guard read == entry.bytes else {
        throw .notKept(name: entry.name, wrote: entry.bytes, read: read)
      }
    }
  }

  /// Returns the description of a value of this chip.
  ///
  /// - Throws: `CalibrationError.unknownName`, or `.unsupported`.
  package func value(named name: String) throws(CalibrationError) -> CalibrationValue {
    guard profile.calibration != .unknown else { throw .unsupported(chip: profile.name) }
    guard let value = profile.calibration.value(named: name) else {
      throw .unknownName(
        name, nearest: nearestNames(to: name, in: profile.calibration.values.map(\.name)))
    }
    return value
  }

  private func write(_ entry: CalibrationEntry) async throws(CalibrationError) {
    let status: Status
    switch profile.calibration {
    case .unknown: throw .unsupported(chip: profile.name)
    case .namedKeys:
      let key = Array(entry.name.utf8)
      status = try await ask(
        QorvoSetCalibration([.init(key: key, value: entry.bytes)])
      ).status
    case .numberedParameters:
      guard let (channel, parameter) = NXPCalibrationTable.wire(entry.name) else {
        throw .unknownName(entry.name, nearest: [])
      }
      status = try await ask(
        NXPSetCalibration(channel: channel, parameter: parameter, value: entry.bytes)
      ).status
    }
    guard status == .ok else { throw refusal(entry.name, status) }
  }

  // MARK: Qorvo

  /// The greatest number of bytes of names in one command. The vendor's tool splits commands at
  /// 250.
  private static let namesLimit = 200

  private func namedKeys(
    _ names: [String]
  ) async throws(CalibrationError) -> [CalibrationEntry] {
    var list: [CalibrationEntry] = []
    if names.isEmpty {
      let response = try await ask(QorvoGetCalibration(keys: []))
      if response.status == .ok, let entries = response.entries, !entries.isEmpty {
        return entries.compactMap { entry in
          guard entry.status == .ok else { return nil }
          return CalibrationEntry(
            name: String(decoding: entry.key, as: UTF8.self), bytes: entry.value)
        }
      }
    }
    // Some firmware rejects "all". Then every known value is requested by name.
    var rest = (names.isEmpty ? profile.calibration.values.map(\.name) : names)[...]
    while !rest.isEmpty {
      var count = 0
      var bytes = 0
      for name in rest {
        bytes += name.utf8.count + 1
        if count > 0, bytes > Self.namesLimit { break }
        count += 1
      }
      let chunk = rest.prefix(count)
      rest = rest.dropFirst(count)
      let response = try await ask(QorvoGetCalibration(keys: chunk.map { Array($0.utf8) }))
      for name in chunk {
        let entry = response.entries?.first { $0.key.elementsEqual(name.utf8) }
        if let entry, entry.status == .ok {
          list.append(CalibrationEntry(name: name, bytes: entry.value))
        } else if !names.isEmpty {
          let status = entry?.status ?? response.status
          throw refusal(name, status == .ok ? .failed : status)
        }
      }
    }
    return list
  }

  // MARK: NXP

  private func numberedParameters(
    _ names: [String]
  ) async throws(CalibrationError) -> [CalibrationEntry] {
    var list: [CalibrationEntry] = []
    for name in names.isEmpty ? profile.calibration.values.map(\.name) : names {
      guard let (channel, parameter) = NXPCalibrationTable.wire(name) else { continue }
      let response = try await ask(NXPGetCalibration(channel: channel, parameter: parameter))
      if response.status == .ok, let value = response.body {
        list.append(CalibrationEntry(name: name, bytes: value.bytes))
      } else if !names.isEmpty {
        throw refusal(name, response.status == .ok ? .failed : response.status)
      }
    }
    return list
  }

  private func refusal(_ name: String, _ status: Status) -> CalibrationError {
    .refused(name: name, status: "\(status)", code: status.rawValue)
  }

  private func ask<C: UCICommand>(_ command: C) async throws(CalibrationError) -> C.Response {
    do { return try await send(command) } catch { throw .device(error) }
  }
}
