// SPDX-License-Identifier: Apache-2.0

/// A subscription to the notifications of a characteristic.
@BluetoothActor package final class GATTNotifications: Sendable {
  /// The values in order, for one consumer. The stream ends with the connection or `cancel()`.
  package nonisolated let values: AsyncStream<[UInt8]>
  /// Whether values arrive over a socket, which is faster than D-Bus signals.
  package nonisolated let isDirect: Bool
  private let end: @BluetoothActor () -> Void

  fileprivate init(
    _ values: AsyncStream<[UInt8]>, isDirect: Bool, _ end: @escaping @BluetoothActor () -> Void
  ) {
    self.values = values
    self.isDirect = isDirect
    self.end = end
  }

  isolated deinit { end() }

  /// Ends the subscription.
  package func cancel() { end() }
}

extension Bluetooth {
  /// Returns the characteristics of a connected device, in the order of their handles.
  package func characteristics(of device: BluetoothDeviceID) -> [RemoteCharacteristic] {
    objects.keys.filter { $0.hasPrefix(device.path + "/") }.sorted().compactMap {
      RemoteCharacteristic($0, objects)
    }
  }

  /// Returns the first characteristic with a UUID.
  ///
  /// - Throws: `BluetoothError` with the reason `noCharacteristic`.
  package func characteristic(
    _ uuid: BluetoothUUID, of device: BluetoothDeviceID
  ) throws(BluetoothError) -> RemoteCharacteristic {
    guard let found = characteristics(of: device).first(where: { $0.uuid == uuid }) else {
      throw BluetoothError(.noCharacteristic(uuid))
    }
    return found
  }

  /// Reads a value.
  ///
  /// BlueZ pairs if the value requires encryption; calling `pair` first is more reliable.
  package func read(
    _ characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) -> [UInt8] {
    let values = try await call(characteristic, "ReadValue", [.properties([])])
    guard let value = values.first?.bytes else { throw BluetoothError(.invalidReply("a value")) }
    return value
  }

  /// Writes a value, and waits for the response of the device.
  ///
  /// - Throws: `BluetoothError` with the reason `messageSize` if the value does not fit; nothing
  ///   is written.
  package func write(
    _ value: [UInt8], to characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) {
    try await write(value, to: characteristic, "request")
  }

  /// Writes a value without waiting for a response, which is faster.
  ///
  /// - Throws: `BluetoothError` with the reason `messageSize` if the value does not fit; nothing
  ///   is written.
  package func writeWithoutResponse(
    _ value: [UInt8], to characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) {
    if writers[characteristic.path] == nil {
      do throws(BluetoothError) {
        try await acquireWriter(characteristic)
      } catch {
        guard Self.isNotAcquirable(error) else { throw error }
      }
    }
    guard let writer = writers[characteristic.path] else {
      return try await write(value, to: characteristic, "command")
    }
    guard value.count <= writer.messageLimit else {
      throw BluetoothError(.messageSize(bytes: value.count, limit: writer.messageLimit))
    }
    try writer.socket.send(value)
  }

  private func write(
    _ value: [UInt8], to characteristic: RemoteCharacteristic, _ type: String
  ) async throws(BluetoothError) {
    // The MTU may have changed.
    let now = RemoteCharacteristic(characteristic.path, objects) ?? characteristic
    if let limit = now.messageLimit, value.count > limit {
      throw BluetoothError(.messageSize(bytes: value.count, limit: limit))
    }
    _ = try await call(
      characteristic, "WriteValue", [.bytes(value), .properties(["type": .string(type)])])
  }

  private func acquireWriter(
    _ characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) {
    let path = characteristic.path
    let answer = try await call(characteristic, "AcquireWrite", [.properties([])])
    guard let descriptor = answer.first?.descriptor, let unit = answer.last?.integer else {
      throw BluetoothError(.invalidReply("a socket"))
    }
    let socket = PacketSocket(descriptor) { _ in
    } ended: { [weak self] in
      self?.writers[path] = nil
    }
    writers[path]?.socket.close()
    writers[path] = (socket, max(0, unit - 3))
  }

  private nonisolated static func isNotAcquirable(_ error: BluetoothError) -> Bool {
    switch error.reason {
    case .unsupported, .refused(_, "NotSupported", _), .refused(_, "NotPermitted", _): true
    default: false
    }
  }

  /// Subscribes to the notifications of a characteristic.
  ///
  /// - Throws: `BluetoothError`.
  package func notifications(
    of characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) -> GATTNotifications {
    do throws(BluetoothError) {
      let answer = try await call(characteristic, "AcquireNotify", [.properties([])])
      guard let descriptor = answer.first?.descriptor else {
        throw BluetoothError(.invalidReply("a socket"))
      }
      let (values, continuation) = Self.values()
      let number = next()
      let socket = PacketSocket(descriptor) {
        continuation.yield($0)
      } ended: { [weak self] in
        self?.readers[number]?()
      }
      // bluetoothd keeps the socket open if the service disappears during a connection.
      let path = characteristic.path
      let watch = watch { [weak self] change in
        guard case .object(path, _, _) = change, self?.objects[path] == nil else { return }
        self?.readers[number]?()
      }
      let end: @BluetoothActor () -> Void = { [weak self] in
        self?.readers[number] = nil
        self?.unwatch(watch)
        socket.close()
        continuation.finish()
      }
      readers[number] = end
      return GATTNotifications(values, isDirect: true, end)
    } catch {
      guard Self.isNotAcquirable(error) else { throw error }
      return try await notificationsBySignals(of: characteristic)
    }
  }

  /// Subscribes through signals of D-Bus, because the characteristic cannot be acquired.
  ///
  /// Either another program has subscribed, or BlueZ is too old.
  private func notificationsBySignals(
    of characteristic: RemoteCharacteristic
  ) async throws(BluetoothError) -> GATTNotifications {
    let (values, continuation) = Self.values()
    let path = characteristic.path
    let watch = watch { [weak self] change in
      guard case .object(path, "org.bluez.GattCharacteristic1", let changed) = change else {
        return
      }
      if let value = changed["Value"]?.bytes { continuation.yield(value) }
      if self?.objects[path] == nil || changed["Notifying"]?.bool == false { continuation.finish() }
    }
    do throws(BluetoothError) {
      _ = try await call(characteristic, "StartNotify", [])
    } catch {
      unwatch(watch)
      throw error
    }
    return GATTNotifications(values, isDirect: false) { [weak self] in
      self?.unwatch(watch)
      continuation.finish()
      // The result does not matter.
      self?.connection.call(
        DBusMethod("org.bluez", path, "org.bluez.GattCharacteristic1", "StopNotify")
      ) { _ in }
    }
  }

  private nonisolated static func values() -> (
    AsyncStream<[UInt8]>, AsyncStream<[UInt8]>.Continuation
  ) {
    AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingNewest(256))
  }

  private func call(
    _ characteristic: RemoteCharacteristic, _ member: String, _ arguments: [DBusValue]
  ) async throws(BluetoothError) -> [DBusValue] {
    do throws(BluetoothError) {
      return try await connection.call(
        DBusMethod(
          "org.bluez", characteristic.path, "org.bluez.GattCharacteristic1", member), arguments,
        // The time-out of ATT is 30 s.
        within: .seconds(35))
    } catch {
      // BlueZ removes the objects when the device disconnects.
      guard case .noDevice = error.reason else { throw error }
      throw BluetoothError(.notConnected(characteristic.device.description))
    }
  }
}
