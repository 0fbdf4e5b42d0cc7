// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bluetooth
import CommandSupport
import Formats
import UWBTools

struct BondsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "bonds",
    abstract: "List devices paired over Bluetooth, or forget some.",
    discussion: """
      bluetoothd keeps the keys of phones and accessories that are paired, as it does those of keyboards \
      and headsets. A phone that has forgotten this machine cannot pair again while its keys are kept \
      here; see also uwbctl doctor ble.
      """)

  @Option(
    help: "Forget this device and disconnect it: its name or address. Repeat it for more than one.")
  var remove: [String] = []
  @Option(help: "Only this Bluetooth adapter, such as hci0, or its address (default: all).")
  var bleAdapter: String?
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func execute() async throws {
    let bluetooth = try await Bluetooth.open()
    let rows = try await lending {
      try await bonds(on: bluetooth)
    } end: {
      await bluetooth.close()
    }
    format.print(rows, BondRow.json, text: \.text)
    if rows.isEmpty { note("No device is paired.") }
    if !remove.isEmpty {
      note(
        "The removed device must also forget this machine before they can pair again.",
        try: "On an iPhone: Settings, Bluetooth, the device, Forget This Device.")
    }
  }

  /// Returns all bonds, or the removed ones.
  @BluetoothActor private func bonds(on bluetooth: Bluetooth) async throws -> [BondRow] {
    let adapters = try bluetooth.adapters(named: bleAdapter)
    let bonds = bluetooth.bonds.compactMap { device in
      bluetooth.adapter(of: device).flatMap { adapter in
        adapters.contains { $0.address == adapter.address }
          ? BondRow(device: device, adapter: adapter.name, isRemoved: !remove.isEmpty) : nil
      }
    }
    // All names are checked before the first removal.
    let removed = try remove.map { try Self.bond($0, of: bonds) }
    for row in removed { try await bluetooth.removeBond(row.device.id) }
    return remove.isEmpty ? bonds : removed
  }

  private static func bond(_ wanted: String, of bonds: [BondRow]) throws -> BondRow {
    let found = bonds.filter { $0.device.isCalled(wanted) }
    if let only = found.first, found.count == 1 { return only }
    let known = (found.isEmpty ? bonds : found).map { row in
      [row.device.address, row.device.name, "on \(row.adapter)"].compactMap { $0 }
        .joined(separator: " ")
    }.joined(separator: ", ")
    guard !found.isEmpty else {
      throw Failure(
        .unavailable, "No paired device is called \(wanted).",
        try: bonds.isEmpty ? nil : "Name one of these: \(known).")
    }
    throw Failure(
      .usage, "\(found.count) paired devices are called \(wanted).",
      try: "Give the address, and --ble-adapter: \(known).")
  }
}

/// A row of the list of paired devices.
struct BondRow: Sendable {
  let device: BluetoothDevice
  let adapter: String
  let isRemoved: Bool

  var text: String {
    let state = isRemoved ? "removed" : device.isConnected ? "connected" : "paired"
    return "\(device.address)  \(adapter)  \(state.left(9))  \(device.name.map(printable) ?? "–")\n"
  }

  static let json = JSONTable<BondRow>("bonds", each: "paired device") {
    $0.key("address", "address; the identity address of a phone with private addresses") {
      $0.device.address
    }
    $0.key("name", "name that the device reports") { $0.device.name }
    $0.key("adapter", "adapter of this machine, such as hci0") { $0.adapter }
    $0.key("connected", "whether it is connected") { $0.device.isConnected && !$0.isRemoved }
    $0.key("removed", "whether it has been forgotten now") { $0.isRemoved }
  }
}
