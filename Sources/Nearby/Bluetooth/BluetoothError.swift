// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// An error that has the cause and, where there is one, the next step to try.
package struct BluetoothError: LocalizedError, Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// Neither libsystemd nor libelogind can be loaded.
    case noLibrary(String)
    case noBus(address: String, errno: Int32)
    case busLost
    /// bluetoothd is not on the bus.
    case noDaemon
    /// There is no adapter, or no adapter has this name.
    case noAdapter(name: String?, known: [String])
    case adapterOff(String)
    /// rfkill or a hardware switch keeps the adapter off.
    case adapterBlocked(String)
    case noRole(adapter: String, BluetoothAdapter.Role)
    case noPermission(String)
    /// BlueZ is too old, or lacks a feature by its build or configuration.
    case unsupported(String, since: String)
    case noDevice(String)
    case notConnected(String)
    /// The link dropped before the services were resolved.
    case linkDropped(String)
    case noCharacteristic(BluetoothUUID)
    case messageSize(bytes: Int, limit: Int)
    case peerNotReading
    case notSubscribed
    case pairing(String)
    /// The advertisement was refused, such as for its size.
    case advertisement(String)
    case timeout(String, Duration)
    case cancelled
    /// bluetoothd, or another called program, replied with an error.
    case refused(String, name: String, text: String)
    /// A reply differs from BlueZ's documentation.
    case invalidReply(String)
    case unsendable(String, Int32)
    case system(String, Int32)
  }
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// Creates the error for a bus that cannot be reached or was lost.
  init(bus address: String, _ errno: Int32, isOpen: Bool) {
    switch errno {
    case EACCES, EPERM: self.init(.noPermission("connecting to \(address)"))
    case _ where isOpen: self.init(.busLost)
    default: self.init(.noBus(address: address, errno: errno))
    }
  }

  /// Creates the error for an error reply to a call.
  init(_ method: DBusMethod, _ name: String, _ text: String, _ limit: Duration) {
    let short = name.split(separator: ".").last ?? ""
    switch name {
    case "org.freedesktop.DBus.Error.AccessDenied":
      self.init(.noPermission("calling \(method.member) of \(method.destination)"))
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
      "org.freedesktop.DBus.Error.TimedOut":
      self.init(.timeout(method.member, limit))
    case "org.freedesktop.DBus.Error.ServiceUnknown",
      "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.UnitMasked":
      self.init(.noDaemon)
    case _ where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."): self.init(.noDaemon)
    case "org.freedesktop.DBus.Error.UnknownMethod",
      "org.freedesktop.DBus.Error.UnknownInterface",
      "org.freedesktop.DBus.Error.UnknownProperty":
      self.init(.unsupported("\(method.interface).\(method.member)", since: "5.55"))
    case "org.freedesktop.DBus.Error.UnknownObject": self.init(.noDevice(method.path))
    case "org.bluez.Error.NotConnected": self.init(.notConnected(method.path))
    default:
      self.init(.refused(method.member, name: String(short), text: text))
    }
  }

  /// The cause in one sentence.
  package var errorDescription: String? { description }

  /// The next step to try; nil where the cause suffices.
  package var recoverySuggestion: String? {
    switch reason {
    case .noLibrary:
      "Install libsystemd (Debian: libsystemd0) or elogind (Debian: libelogind0)."
    case .noBus:
      "Start the message bus: sudo systemctl start dbus. In a container, mount its socket."
    case .busLost: "Start the message bus and bluetoothd: sudo systemctl start dbus bluetooth."
    case .noDaemon:
      "Install BlueZ (Debian: bluez) and start it: sudo systemctl start bluetooth."
    case .noAdapter(_, let known) where !known.isEmpty:
      "Use one of these: \(known.joined(separator: ", "))."
    case .noAdapter:
      "Plug in a Bluetooth adapter. If one is plugged in, see: sudo dmesg | grep -i bluetooth."
    case .adapterOff: "Switch it on: bluetoothctl power on."
    case .adapterBlocked: "Unblock it: rfkill unblock bluetooth. Laptops have a key for it."
    case .noRole: "Use another adapter, one for Bluetooth 4.1 or later."
    case .noPermission:
      "Join the group bluetooth (sudo usermod -a -G bluetooth $USER, then log in again), or see the "
        + "rules of /etc/dbus-1/system.d/bluetooth.conf."
    case .unsupported(_, let version): "Use BlueZ \(version) or later: bluetoothd --version."
    case .noDevice: "Scan again: BlueZ removes a device 30 seconds after its last advertisement."
    case .notConnected: "Connect again."
    case .linkDropped:
      "Go nearer. If only one side remembers the other's keys, remove the bond on both."
    case .noCharacteristic: "Check that it is the right device, and its firmware."
    case .messageSize:
      "Use an adapter and a peer that agree on a larger MTU; 52 carries the accessory protocol."
    case .peerNotReading: "Disconnect, and connect again."
    case .notSubscribed: "Let the peer subscribe first."
    case .pairing:
      "Remove the bond on both sides, then pair again. Apps on phones: forget the device in Settings."
    case .advertisement: "Use a shorter name, or one service in each advertisement."
    case .timeout: "Check that the device is near and on, then try again."
    case .cancelled: nil
    case .refused(_, "InProgress", _): "Wait until the other operation has ended, then try again."
    case .refused, .invalidReply: "See the log of bluetoothd: journalctl -u bluetooth."
    case .unsendable, .system: nil
    }
  }
}

extension BluetoothError: CustomStringConvertible {
  /// The cause in one sentence.
  package var description: String {
    func words(_ errno: Int32) -> String { unsafe String(cString: strerror(errno)) }
    return switch reason {
    case .noLibrary(let why): "Bluetooth needs libsystemd, which cannot be loaded: \(why)."
    case .noBus(let address, let errno):
      "There is no message bus at \(address): \(words(errno))."
    case .busLost: "The message bus has closed the connection."
    case .noDaemon: "bluetoothd is not running."
    case .noAdapter(nil, _): "There is no Bluetooth adapter."
    case .noAdapter(let name?, _): "There is no Bluetooth adapter \(name)."
    case .adapterOff(let name): "The Bluetooth adapter \(name) is switched off."
    case .adapterBlocked(let name): "The Bluetooth adapter \(name) is blocked (rfkill)."
    case .noRole(let adapter, let role):
      "The Bluetooth adapter \(adapter) cannot be a \(role.rawValue)."
    case .noPermission(let what): "This user may not use Bluetooth: \(what) is refused."
    case .unsupported(let what, _): "This version of BlueZ does not support \(what)."
    case .noDevice(let id): "bluetoothd does not list the device \(id)."
    case .linkDropped(let id): "The device \(id) drops the connection."
    case .notConnected(let id): "The device \(id) is not connected."
    case .noCharacteristic(let uuid): "The device has no characteristic \(uuid)."
    case .messageSize(let bytes, let limit):
      "A message of \(bytes) bytes does not fit into the connection's \(limit)."
    case .peerNotReading: "The device does not read the messages sent to it."
    case .notSubscribed: "The device has not subscribed to notifications."
    case .pairing(let why): "Pairing failed: \(why)."
    case .advertisement(let why): "The advertisement is refused: \(why)."
    case .timeout(let what, let limit): "\(what) timed out after \(limit)."
    case .cancelled: "The operation was cancelled."
    case .refused(let what, let name, let text):
      "\(what) failed: \(name)\(text.isEmpty ? "" : " (\(text))")."
    case .invalidReply(let what): "bluetoothd did not reply with \(what)."
    case .unsendable(let what, let errno): "\(what) cannot be sent: \(words(errno))."
    case .system(let what, let errno): "\(what): \(words(errno))."
    }
  }
}
