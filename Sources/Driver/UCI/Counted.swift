// SPDX-License-Identifier: Apache-2.0

/// Returns a number with its noun, as in `1 round` and `2 rounds`.
///
/// - Parameter many: The words after other numbers than 1; nil appends an s.
package func counted(
  _ count: some BinaryInteger, _ one: String, _ many: String? = nil
) -> String {
  "\(count) " + (count == 1 ? one : many ?? one + "s")
}
