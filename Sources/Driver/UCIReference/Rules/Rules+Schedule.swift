// SPDX-License-Identifier: Apache-2.0

import UCI

// Rules for slots, rounds and blocks.
extension ConfigurationCheck {
  mutating func schedule() {
    if 7...8 ~= parameters.usage, parameters.isScheduled {
      add(
        .advice,
        "\(text(.rangingRoundUsage)) is for contention-based rounds, and SCHEDULE_MODE "
          + "is time scheduled.", [.scheduleMode, .rangingRoundUsage])
    }
    if number(.scheduleMode) == 2, parameters.usage != 10, parameters.isTwoWay {
      add(
        .advice,
        "SCHEDULE_MODE is hybrid, whose phases have to be configured by a session of "
          + "their own.", [.scheduleMode])
    }
    if let slot = given(.slotDuration), slot > 0, slot < leastSlot.rstu {
      add(
        leastSlot.isSaid ? .warning : .advice,
        "Slots of \(slot) RSTU are shorter than \(leastSlot.rstu), which is the least "
          + (leastSlot.isSaid ? "that this chip lists." : "for many chips."), [.slotDuration],
        try: "Use 2400 RSTU (2 ms), which every chip takes.")
    }
  }

  /// The shortest slot, and whether the chip reported it.
  private var leastSlot: (rstu: UInt64, isSaid: Bool) {
    let said = capabilities.flatMap { $0[.minSlotDuration] ?? $0[.androidMinSlotDuration] }
    if let rstu = said.flatMap({ TLV(0, $0).integer }), rstu > 0 { return (rstu, true) }
    return (1_200, false)
  }

  /// Checks that a ranging round fits into a block.
  mutating func blocks() {
    guard let slot = number(.slotDuration), let slots = number(.slotsPerRR),
      let interval = number(.rangingDuration)
    else { return }
    let names: [AppConfigID] = [.rangingDuration, .slotsPerRR, .slotDuration]
    guard slot > 0, slots > 0, interval > 0 else {
      return add(
        .preventsRanging, "A ranging round has no slots, or takes no time.", names,
        try: "Give SLOT_DURATION, SLOTS_PER_RR and RANGING_DURATION more than 0.")
    }
    let (round, block) = (slot * slots, interval * 1_200)
    guard round <= block else {
      return add(
        .preventsRanging,
        "A ranging round of \(counted(slots, "slot")) of \(Self.milliseconds(slot)) takes "
          + "\(Self.milliseconds(round)), more than the interval of \(interval) ms.", names,
        try: "Lengthen the interval to \((round + 1_199) / 1_200) ms, or use at most "
          + "\(counted(block / slot, "slot")).")
    }
    if (number(.hoppingMode) ?? 0) > 0, block / round < 2 {
      add(
        .advice, "Hopping is on, but a block has room for one ranging round only.",
        [.hoppingMode] + names)
    }
    if let least = capabilities?.minRangingIntervalMilliseconds, Int(clamping: interval) < least {
      add(
        .warning,
        "The interval of \(interval) ms is shorter than the \(least) ms that this chip lists.",
        [.rangingDuration], try: "If the chip refuses it, lengthen it.")
    }
  }

  /// Checks that every frame of a round has a slot of its own.
  ///
  /// The frames are control, initiation, one response for each controlee, the final frame, the
  /// report of measurements, and one report of results from each controlee. One controlee needs six
  /// slots and four need twelve, as on boards on the market.
  mutating func slots() {
    guard (1...4).contains(parameters.usage), parameters.isScheduled,
      let slots = number(.slotsPerRR), slots > 0
    else { return }
    let count = UInt64(parameters.controlees)
    let isDouble = parameters.usage % 2 == 0
    let isDeferred = parameters.usage <= 2
    let ranging = 1 + count + (isDouble ? 1 : 0)
    let control = number(.rangingRoundControl) ?? 3
    let whole =
      ranging + (control & 0b100 != 0 && !isDeferred ? 0 : 1) + (isDeferred ? 1 : 0)
      + (isDeferred && control & 1 != 0 ? count : 0)
    let controlees = counted(count, "controlee")
    if slots < ranging {
      return add(
        .preventsRanging,
        "\(counted(slots, "slot is", "slots are")) too few for \(text(.rangingRoundUsage)) with \(controlees): its "
          + "frames alone take \(ranging).", [.slotsPerRR], try: "Use \(whole) or more.")
    }
    guard slots < whole else { return }
    add(
      .advice,
      "\(counted(slots, "slot is", "slots are")) few for \(text(.rangingRoundUsage)) with \(controlees): with control "
        + "message and reports it takes \(whole).", [.slotsPerRR],
      try: "Use \(whole) or more, or the chip may say INSUFFICIENT_SLOTS_PER_RR.")
  }

  /// Returns a text such as `2 ms` or `1.5 ms`.
  static func milliseconds(_ rstu: UInt64) -> String {
    let thousandths = (rstu * 10 + 6) / 12
    let rest = String(thousandths % 1_000)
    var decimals = String(repeating: "0", count: 3 - rest.count) + rest
    while decimals.last == "0" { decimals.removeLast() }
    return "\(thousandths / 1_000)" + (decimals.isEmpty ? "" : "." + decimals) + " ms"
  }
}
