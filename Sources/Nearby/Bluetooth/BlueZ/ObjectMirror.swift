// SPDX-License-Identifier: Apache-2.0

/// The properties of bluetoothd's objects by path and interface.
typealias BlueZObjects = [String: [String: [String: DBusValue]]]

/// A copy of bluetoothd's objects. Each function returns what the program has to report.
struct ObjectMirror {
  enum Effect {
    /// An adapter or a device differs from its former state.
    case event(Bluetooth.Event)
    case change(Bluetooth.Change)
  }

  private(set) var objects: BlueZObjects = [:]

  /// Replaces the copy by the reply to `GetManagedObjects`.
  mutating func replace(by values: [DBusValue]) throws(BluetoothError) -> [Effect] {
    guard let entries = values.first?.entries else {
      throw BluetoothError(.invalidReply("its objects"))
    }
    // Sort adapters before their devices.
    let all = entries.compactMap { entry in
      entry.key.path.flatMap { path in entry.value.entries.map { (path, $0) } }
    }.sorted { $0.0 < $1.0 }
    let names = Dictionary(
      all.map { ($0, Set($1.compactMap(\.key.string))) }, uniquingKeysWith: { $1 })
    var effects: [Effect] = []
    // Objects that the reply lists as well stay, so that they are not reported as removed.
    for (path, interfaces) in objects {
      effects += remove(path, interfaces.keys.filter { names[path]?.contains($0) != true })
    }
    for (path, interfaces) in all { effects += add(path, interfaces) }
    return effects + [.change(.all)]
  }

  /// Applies a signal of bluetoothd. Ignores other signals.
  mutating func apply(_ signal: DBusMessage) -> [Effect] {
    let body = signal.body
    switch (signal.interface, signal.member) {
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
      guard body.count == 2, let path = body[0].path, let interfaces = body[1].entries else {
        return []
      }
      return add(path, interfaces)
        + interfaces.compactMap(\.key.string).map {
          .change(.object(path: path, interface: $0, [:]))
        }
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].path, let names = body[1].strings else { return [] }
      return remove(path, names)
    case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
      guard body.count == 3, let name = body[0].string, let properties = body[1].properties,
        let invalid = body[2].strings, let before = objects[signal.path], before[name] != nil
      else { return [] }
      objects[signal.path]?[name]?.merge(properties) { $1 }
      for property in invalid { objects[signal.path]?[name]?[property] = nil }
      return difference(signal.path, from: before)
        + [.change(.object(path: signal.path, interface: name, properties))]
    default: return []
    }
  }

  /// Removes all objects.
  mutating func removeAll() -> [Effect] {
    var effects: [Effect] = []
    for (path, interfaces) in objects { effects += remove(path, Array(interfaces.keys)) }
    return effects
  }

  private mutating func add(_ path: String, _ interfaces: [DBusValue.Entry]) -> [Effect] {
    var effects: [Effect] = []
    for entry in interfaces {
      guard let name = entry.key.string, let properties = entry.value.properties else { continue }
      let before = objects[path]
      objects[path, default: [:]][name] = properties
      effects += difference(path, from: before)
    }
    return effects
  }

  private mutating func remove(_ path: String, _ interfaces: [String]) -> [Effect] {
    var effects: [Effect] = []
    for name in interfaces {
      guard let before = objects[path], before[name] != nil else { continue }
      objects[path]?[name] = nil
      if objects[path]?.isEmpty == true { objects[path] = nil }
      effects += difference(path, from: before)
      effects.append(.change(.object(path: path, interface: name, [:])))
    }
    return effects
  }

  /// Returns the events for the difference between an object's former and current state.
  private func difference(
    _ path: String, from before: [String: [String: DBusValue]]?
  ) -> [Effect] {
    let now = objects[path]
    var events: [Bluetooth.Event] = []
    let adapters = (
      before.flatMap { BluetoothAdapter(path, $0) }, now.flatMap { BluetoothAdapter(path, $0) }
    )
    switch adapters {
    case (nil, let adapter?): events.append(.adapterAdded(adapter))
    case (let adapter?, nil): events.append(.adapterRemoved(adapter))
    case (let old?, let new?) where old.isPowered != new.isPowered:
      events.append(.adapterChanged(new))
    default: break
    }
    let devices = (
      before.flatMap { BluetoothDevice(path, $0) }, now.flatMap { BluetoothDevice(path, $0) }
    )
    switch devices {
    case (let old, let device?) where old != device: events.append(.deviceChanged(device))
    case (let device?, nil): events.append(.deviceRemoved(device))
    default: break
    }
    return events.map { .event($0) }
  }
}
