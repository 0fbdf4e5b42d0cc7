// SPDX-License-Identifier: Apache-2.0

import UCI

// Checks each parameter by itself: its length, its range, its version, its position in the list.
extension ConfigurationCheck {
  mutating func lengthsAndRanges() {
    var seen: Set<UInt8> = []
    for tlv in parameters.list {
      let id = AppConfigID(rawValue: tlv.id)
      if !seen.insert(tlv.id).inserted {
        add(
          .refusedByChip, "\(name(id)) is given twice.", [id], try: "Leave one of them out.")
      }
      // The initiation time has a rule of its own: its length depends on the version.
      guard id != .uwbInitiationTime, let row = id.parameter(in: parameters.dialect) else {
        continue
      }
      if !row.lengths.isEmpty, !row.lengths.contains(tlv.value.count) {
        let lengths = row.lengths.map(String.init).joined(separator: " or ")
        add(
          .refusedByChip,
          "\(row.name) has \(counted(tlv.value.count, "byte")) instead of \(lengths).", [id])
      } else {
        range(of: tlv, id, row)
      }
      if row.isReadOnly {
        add(
          .refusedByChip, "\(row.name) can be read but not written.", [id], try: "Leave it out.")
      }
    }
  }

  private mutating func range(of tlv: TLV, _ id: AppConfigID, _ row: AppConfigParameter) {
    guard let value = row.number(of: tlv.value), let range = row.range else { return }
    if id == .channelNumber, ![5, 6, 8, 9, 10, 12, 13, 14].contains(value) {
      return add(
        .refusedByChip, "There is no UWB channel \(value).", [id],
        try: "Use 9, or 5: nearly every chip has these.")
    }
    // The value is a code without a meaning in the specification, among codes that have one.
    let isUnnamed = row.format == .number && !row.values.isEmpty && row.values[value] == nil
    guard !range.contains(value) || isUnnamed else { return }
    // Some chips follow more than eight controlees; the list of the command has room for them.
    if id == .numberOfControlees, value > 0 {
      return add(.advice, "\(value) controlees are more than most chips follow: 8.", [id])
    }
    add(
      .refusedByChip, "\(row.name) is \(value).", [id],
      try: "It takes \(ParameterForm(row).accepted).")
  }

  /// Checks for parameters of another version or another vendor.
  mutating func versions() {
    let dialect = parameters.dialect
    for id in parameters.list.map({ AppConfigID(rawValue: $0.id) }) {
      let rows = AppConfigParameter.all.filter { $0.id == id }
      guard let row = rows.first, !rows.contains(where: { $0.applies(to: dialect) }) else {
        continue
      }
      if rows.allSatisfy({ !$0.vendors.isEmpty }) {
        guard dialect.vendor != .unknown else { continue }
        let vendors = row.vendors.map(\.title).joined(separator: ", ")
        add(
          .refusedByChip, "\(row.name) exists on chips of \(vendors) only.", [id],
          try: "Leave it out.")
        continue
      }
      let isGone = row.generations.upperBound < dialect.generation
      add(
        isGone ? .refusedByChip : .warning,
        isGone
          ? "\(row.name) was removed in FiRa 2.0; newer firmware refuses the whole command for it."
          : "\(row.name) does not exist before FiRa \(row.generations.lowerBound.rawValue).0.",
        [id], try: isGone ? "Leave it out." : "If the chip refuses it, leave it out.")
    }
  }

  /// Checks the order, for chips that depend on the order of the list.
  mutating func order() {
    let before: [(first: AppConfigID, then: [AppConfigID])] = [
      (.macAddressMode, [.deviceMACAddress, .dstMACAddress]),
      (.numberOfControlees, [.dstMACAddress]),
      (.stsConfig, [.vendorID, .staticSTSIV, .sessionKey, .subSessionKey]),
    ]
    let order = parameters.list.map { AppConfigID(rawValue: $0.id) }
    for (first, then) in before {
      guard let position = order.lastIndex(of: first),
        let early = order[..<position].first(where: { then.contains($0) }),
        number(first) != parameters.defaultNumber(first)
      else { continue }
      add(
        .advice,
        "\(name(first)) comes after \(name(early)), whose length some chips derive from it.",
        [first, early], try: "Send \(name(first)) first.")
    }
  }

  /// Checks UWB_INITIATION_TIME: 4 bytes of milliseconds from now in FiRa 1.x, 8 bytes of the
  /// chip's own microseconds since 2.0. NXP's headers list 4 bytes for chips of FiRa 2.0 and 3.0
  /// too.
  mutating func initiationTime() {
    let id = AppConfigID.uwbInitiationTime
    guard let value = parameters[id] else { return }
    let dialect = parameters.dialect
    let isOld = dialect.generation == .fira1
    guard value.count == (isOld ? 4 : 8) else {
      let takesBoth =
        [4, 8].contains(value.count) && Self.shortInitiationTime.contains(dialect.vendor)
      return add(
        takesBoth && !isOld ? .advice : .refusedByChip,
        "\(name(id)) has \(counted(value.count, "byte")); FiRa \(isOld ? "1.x" : "2.0 and later") has "
          + (isOld ? "4, in milliseconds from now." : "8, in microseconds of the chip's clock."),
        [id])
    }
    guard let time = number(id), time > 0 else { return }
    if isOld {
      if time > 10_000 { add(.refusedByChip, "\(name(id)) is more than 10000 ms from now.", [id]) }
      return
    }
    // Less than ten seconds after the chip's boot: probably intended as a time from now.
    guard time < 10_000_000 else { return }
    add(
      .advice,
      "\(name(id)) is \(time) µs of the chip's clock, which looks like a time from now: the chip "
        + "starts at once or answers ERROR_UWB_INITIATION_TIME_TOO_OLD.", [id],
      try: "Read the chip's clock with CORE_QUERY_UWBS_TIMESTAMP and add to it, or send 0.")
  }

  private static let shortInitiationTime: [Dialect.Vendor] = [.nxp]
}
