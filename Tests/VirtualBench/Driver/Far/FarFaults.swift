// SPDX-License-Identifier: Apache-2.0

/// What a far side does wrong on purpose: each kind every so many times.
struct FarFaults {
  enum Kind: String, CaseIterable {
    /// IRQ falls and rises once more before RI takes effect.
    case doublePulse = "double-pulse"
    /// RI is not seen: the host has to give up and try again.
    case deafToRI = "deaf-to-ri"
    /// A command is lost.
    case silent
    /// The chip stops doing anything with a command, or with a measurement.
    case hang
    case hangRanging = "hang-ranging"
    /// IRQ rises, and the host's GPIO sees no edge.
    case missedEdge = "missed-edge"
    /// IRQ rises in the middle of a write: what there is to say is held back until then.
    case midWrite = "mid-write"
    /// A bit of what the host loads into the chip is inverted on the way.
    case flippedBit = "flipped-bit"
    /// A bit of what the loader says is inverted on the way.
    case flippedAnswer = "flipped-answer"
    /// The chip answers a transfer with ones, as one that is asleep.
    case absent
    /// The chip's header says that the transfer has failed.
    case transferError = "transfer-error"
    /// SS_RDY is high for less than 100 ns before it is meant.
    case shortReady = "short-ready"
    /// The chip falls asleep when it has nothing to say.
    case sleepy
  }

  private var every: [Kind: Int] = [:]
  private var counts: [Kind: Int] = [:]

  /// `double-pulse=3,deaf-to-ri=50`
  init(_ text: String) {
    for part in text.split(separator: ",") {
      let words = part.split(separator: "=").map(String.init)
      guard words.count == 2, let kind = Kind(rawValue: words[0]), let count = Int(words[1]),
        count > 0
      else { fail("'\(part)' is no fault") }
      every[kind] = count
    }
  }

  mutating func strikes(_ kind: Kind) -> Bool {
    guard let every = every[kind] else { return false }
    counts[kind, default: 0] += 1
    return counts[kind, default: 0] % every == 0
  }
}
