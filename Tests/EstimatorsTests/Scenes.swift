// SPDX-License-Identifier: Apache-2.0

/// Noise, scenes and recordings, which the benchmarks share.
@_exported import RangingScenes
