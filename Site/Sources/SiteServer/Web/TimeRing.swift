// SPDX-License-Identifier: Apache-2.0

/// The last elements of a run in the order of their times, for pages that show the past.
struct TimeRing<Element: Timed>: Sendable {
  private let capacity: Int
  private var elements: [Element] = []
  private var start = 0

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { elements.count }

  subscript(index: Int) -> Element { elements[(start + index) % elements.count] }

  mutating func add(_ element: Element) {
    guard elements.count == capacity else { return elements.append(element) }
    elements[start] = element
    start = (start + 1) % capacity
  }

  /// Returns the index of the first element at or after a time.
  ///
  /// Elements of different tags may be slightly out of order.
  func index(from time: Double) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// An element of a run.
protocol Timed: Sendable {
  /// The time in seconds by the clock of the run.
  var time: Double { get }
}
