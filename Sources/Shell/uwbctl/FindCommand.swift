// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import CommandSupport
import Formats
import Ranging
import Synchronization
import UCI
import UWB
import UWBLink

struct FindCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find a Nearby Interaction accessory: show its distance and direction.",
    discussion: """
      Acts as the app: connects to an accessory, such as uwbctl accessory, ranges with it and shows its \
      smoothed distance and its direction as seen from the chip. Tries again when the accessory falls \
      silent. --ble searches over Bluetooth LE for kits with the Nordic UART Service or Qorvo's QNIS, \
      which needs bluetoothd. Without --device, embedded simulated chips play both sides. Stops on \
      Ctrl-C, and when the accessory closes the connection.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @Option(
    help: "Where the accessory listens: tcp:port (this machine), tcp:host:port or unix:/path.")
  var accessory: String?
  @OptionGroup(title: "Bluetooth LE") var bluetooth: BluetoothFindOptions
  @Option(help: "Output format (default: text on a terminal, otherwise json).")
  var format: OutputFormat?
  @OptionGroup(title: "End") var end: RunOptions

  func validate() throws {
    try require(
      accessory == nil || !bluetooth.ble, "Give either --accessory or --ble.")
    if bluetooth.list { return }
    let isSimulated = accessory == nil && !bluetooth.ble
    guard options.isSimulated == isSimulated else {
      throw ValidationError(
        options.isSimulated
          ? "\(bluetooth.ble ? "--ble" : "--accessory") needs --device: a simulated chip can only reach a "
            + "simulated accessory."
          : "Name the address of the accessory: --accessory tcp:host:port, or give --ble.")
    }
    if let accessory { try AccessoryOptions.check(accessory) }
  }

  func execute() async throws {
    let printer = FindPrinter(format ?? (standardOutput.isTerminal ? .text : .json))
    defer { printer.finish() }
    if bluetooth.list { return try await bluetooth.list(printer) }
    let found = try await options.withDevice(peers: 1, end) { device, simulated in
      if bluetooth.ble {
        return try await bluetooth.withChannel(printer) {
          try await find(with: device, over: $0, printer)
        }
      }
      if let accessory {
        return try await find(with: device, at: ChannelEndpoint(accessory), printer)
      }
      guard let chip = simulated?.others.first else { return 0 }
      let other = try await UWBDevice.open(SimulatedPeers.endpoint(chip))
      let served = try Accessory(other)
      let listener = try await SocketListener(ChannelEndpoint("tcp:0"))
      let serving = Task { await served.serve(listener) }
      return try await lending {
        try await find(with: device, at: listener.endpoint, printer)
      } end: {
        serving.cancel()
        await served.close()
        await other.close()
      }
    }
    if found ?? 0 == 0, !Task.isCancelled {
      throw Failure(
        .noPeer, "The accessory was not measured.",
        try: "Check that it is near, and that its chip works: uwbctl doctor DEVICE.")
    }
  }

  /// Ranges until there are enough distances, or the task is cancelled.
  ///
  /// - Returns: The number of distances.
  private func find(
    with device: UWBDevice, at endpoint: ChannelEndpoint, _ printer: FindPrinter
  ) async throws -> Int {
    try await find(with: device, over: SocketChannel.connect(to: endpoint), printer)
  }

  private func find(
    with device: UWBDevice, over channel: any DataChannel, _ printer: FindPrinter
  ) async throws -> Int {
    let finder = AccessoryFinder(device: device, channel: channel)
    let limit = end.count ?? .max
    var found = 0
    try await finder.run { event in
      printer.print(event)
      if case .found = event { found += 1 }
      return found < limit
    }
    return found
  }
}

/// Prints the position of an accessory: one updated line on a terminal, or else a line for each
/// event.
final class FindPrinter: Sendable {
  private let format: OutputFormat
  /// The text of the updated line; empty before the first measurement.
  private let update = Mutex("")
  private let live = Mutex<LiveLines?>(nil)
  /// The name of the peer in texts, such as `the accessory`.
  private let subject: String

  init(_ format: OutputFormat, of subject: String = "the accessory") {
    (self.format, self.subject) = (format, subject)
    guard format == .text, standardOutput.canRedraw else { return }
    let live = LiveLines { [weak self] in self?.lines($0) ?? [] }
    self.live.withLock { $0 = live }
  }

  private func lines(_ size: Output.Size) -> [String] {
    let text = update.withLock { $0 }
    guard !text.isEmpty else { return [] }
    return text.wrapped(to: max(20, size.columns - 1), indent: 3).split(separator: "\n")
      .map(String.init)
  }

  func print(_ event: AccessoryFinder.Event) {
    let (word, text, values) = described(event)
    // Measurements overwrite the line; other events stay visible.
    if case .found = event {
      say(word, text, values, overwrites: true)
    } else {
      say(word, text, values)
    }
  }

  /// Prints an event.
  ///
  /// - Parameter word: The stable name of the event for programs.
  func say(
    _ word: String, _ text: String?, _ values: KeyValuePairs<String, (any JSONValue)?>,
    overwrites: Bool = false
  ) {
    if case .json = format {
      var line: JSONLine = ["event": word]
      for (key, value) in values { line.add(key, value) }
      return standardOutput.write(line.json + "\n")
    }
    guard let text else { return }
    guard let live = live.withLock({ $0 }) else { return standardOutput.write(text + "\n") }
    if overwrites {
      update.withLock { $0 = text }
      live.draw()
    } else {
      live.write(standardOutput.wrapped(text, indent: 2) + "\n", to: standardOutput)
    }
  }

  /// Ends the updated line.
  func finish() { live.withLock { $0 }?.finish() }

  static let json = JSONEntry(
    "find", each: "event",
    [
      "event":
        "accessory, started, shareable_data, accessory_started, found, out_of_range, region, removed, accessory_stopped, suspended, suspension_ended, invalidated",
      "cause?": "timeout or peer_ended for removed, words for invalidated",
      "distance_m?": "smoothed distance, metres",
      "distance_sd_m?": "its standard deviation, metres",
      "raw_m?": "distance reported by the chip, metres", "azimuth_deg?": "degrees to the right",
      "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
      "nlos_probability?": "probability that the direct path is blocked, 0…1",
      "outlier?": "whether the distance of the chip was ignored",
      "quality?": "good, fair or poor", "region?": "region of the accessory",
      "change?": "entered, left or dwelled",
      "address?": "address of the accessory, over Bluetooth LE", "name?": "name that it advertises",
      "paired?": "whether it is paired with this machine",
    ])

  /// Returns the stable name of the event for programs, the text if any, and the values.
  private func described(
    _ event: AccessoryFinder.Event
  ) -> (word: String, text: String?, values: KeyValuePairs<String, (any JSONValue)?>) {
    switch event {
    case .started: ("started", nil, [:])
    case .shareableData: ("shareable_data", nil, [:])
    case .accessoryStarted: ("accessory_started", "\(subject) has started ranging", [:])
    case .accessoryStopped: ("accessory_stopped", "\(subject) has stopped ranging", [:])
    case .region(let notice):
      (
        "region", "\(subject) reports: \(notice.kind.rawValue) \(notice.region)",
        [
          "region": notice.region, "change": notice.kind.rawValue,
          "distance_m": Fixed(notice.distance, 3),
          "distance_sd_m": Fixed(notice.standardDeviation, 3),
        ]
      )
    case .found(let sight): ("found", sight.text, sight.values)
    case .outOfRange: ("out_of_range", "\(subject) is out of range", [:])
    case .silent: ("removed", "\(subject) is silent; trying again", ["cause": "timeout"])
    case .ended: ("removed", "\(subject) has ended", ["cause": "peer_ended"])
    case .suspended: ("suspended", "waiting for the chip", [:])
    case .suspensionEnded: ("suspension_ended", "the chip is back", [:])
    case .invalidated(let error): ("invalidated", nil, ["cause": error.description])
    }
  }
}

/// The position of the accessory relative to the chip.
struct Sight: Sendable {
  private let distance: Double
  private let deviation: Double
  private let isOutlier: Bool
  private let blocked: Double?
  private let measured: TwoWayMeasurement

  /// Creates a sight; nil without a measurement.
  init?(_ estimate: EstimatedMeasurement) {
    measured = estimate.measurement.result
    guard let centimetres = measured.distanceCentimetres else { return nil }
    distance = max(0, estimate.track?.distance ?? Double(centimetres) / 100)
    deviation = estimate.track?.standardDeviation ?? 0.1
    isOutlier = estimate.track?.isOutlier ?? false
    blocked = estimate.nonLineOfSight
  }

  /// The reliability of the measurement in one word.
  private var quality: String {
    let blocked = blocked ?? 0
    if isOutlier || blocked > 0.5 || deviation > 0.3 { return "poor" }
    return blocked > 0.25 || deviation > 0.1 ? "fair" : "good"
  }

  /// `↗   3.02 m ±0.03   az  30°   good`
  var text: String {
    var line = "\(arrow)  \(fixed(distance, 2).right(6)) m ±\(fixed(deviation, 2))"
    if let azimuth = measured.azimuth.valid { line += "   az \(fixed(azimuth, 0).right(4))°" }
    if let elevation = measured.elevation.valid { line += "   el \(fixed(elevation, 0).right(4))°" }
    return line + "   " + quality
  }

  private var arrow: String {
    guard let azimuth = measured.azimuth.valid else { return "·" }
    let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
    return arrows[(Int((azimuth / 45).rounded()) + 8) % 8]
  }

  var values: KeyValuePairs<String, (any JSONValue)?> {
    [
      "distance_m": Fixed(distance, 3), "distance_sd_m": Fixed(deviation, 3),
      "raw_m": Fixed(measured.distanceCentimetres.map { Double($0) / 100 }, 2),
      "azimuth_deg": Fixed(measured.azimuth.valid, 2),
      "elevation_deg": Fixed(measured.elevation.valid, 2),
      "rssi_dbm": Fixed(measured.rssiDBm, 1), "nlos_probability": Fixed(blocked, 3),
      "outlier": isOutlier, "quality": quality,
    ]
  }
}
