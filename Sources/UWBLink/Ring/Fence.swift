// SPDX-License-Identifier: Apache-2.0
public import Atomics

/// Orders everything before it against everything after it. In a file of its own because
/// `Synchronization`, which the ring needs for its mutexes, has orderings of the same names.
@inlinable @inline(__always)
func fullFence() { atomicMemoryFence(ordering: .sequentiallyConsistent) }
