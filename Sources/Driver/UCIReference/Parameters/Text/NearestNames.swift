// SPDX-License-Identifier: Apache-2.0

import UCI

/// Returns the names that a mistyped name probably stands for, the closest first; at most three.
///
/// Ignores case and everything but letters and digits.
package func nearestNames(to text: String, in names: some Sequence<String>) -> [String] {
  let wanted = plain(text)
  guard !wanted.isEmpty else { return [] }
  let limit = max(wanted.count > 3 ? 2 : 1, wanted.count / 3)
  let letters = LetterCounts(wanted)
  var found: [(name: String, distance: Int)] = []
  for name in names where name.utf8.count + limit >= wanted.count {
    let candidate = plain(name)
    // A missing part of the name is not a typing error.
    let isPart = wanted.count >= 3 && contains(candidate, wanted)
    // The counts of letters alone exclude nearly all names, at little cost.
    var distance = isPart ? 1 : Int.max
    if abs(candidate.count - wanted.count) <= limit, letters.distance(to: candidate) <= limit {
      distance = min(distance, edits(wanted, candidate))
    }
    // Codes of several families have the same name.
    guard distance <= limit, !found.contains(where: { $0.name == name }) else { continue }
    found.append((name, distance))
  }
  // Sorting is not stable, so names at the same distance keep the order of the list by their index.
  let ranked = found.enumerated().sorted {
    ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
  }
  return ranked.prefix(3).map(\.element.name)
}

/// Returns the letters and digits of a text, in lower case.
func plain(_ text: String) -> [UInt8] {
  var letters: [UInt8] = []
  letters.reserveCapacity(text.utf8.count)
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): letters.append(byte + 32)
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      letters.append(byte)
    default: continue
    }
  }
  return letters
}

/// The number of times that each letter and digit is in a word.
private struct LetterCounts {
  private var counts = InlineArray<128, Int32>(repeating: 0)

  init(_ word: [UInt8]) { for byte in word { counts[Int(byte & 0x7F)] += 1 } }

  /// Returns a lower bound of the number of edits between two words, which ignores the order of
  /// letters.
  func distance(to other: [UInt8]) -> Int {
    var rest = counts
    for byte in other { rest[Int(byte & 0x7F)] -= 1 }
    var (tooMany, missing): (Int32, Int32) = (0, 0)
    for index in rest.indices {
      if rest[index] > 0 { tooMany += rest[index] } else { missing -= rest[index] }
    }
    return Int(max(tooMany, missing))
  }
}

/// Returns the insertions, deletions, replacements and swaps of neighbours between two words
/// (optimal string alignment). Words longer than 64 bytes count as entirely different.
private func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
  guard !a.isEmpty, !b.isEmpty, a.count <= 64, b.count <= 64 else { return max(a.count, b.count) }
  var before = [Int](repeating: 0, count: b.count + 1)
  var last = Array(0...b.count)
  for i in 1...a.count {
    var row = [i] + [Int](repeating: 0, count: b.count)
    for j in 1...b.count {
      row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        row[j] = min(row[j], before[j - 2] + 1)
      }
    }
    (before, last) = (last, row)
  }
  return last[b.count]
}

private func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
  guard part.count <= text.count else { return false }
  return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
}

/// Returns whether the letters and digits of a name contain the given letters and digits.
func containsPlain(_ name: String, _ part: [UInt8]) -> Bool { contains(plain(name), part) }
