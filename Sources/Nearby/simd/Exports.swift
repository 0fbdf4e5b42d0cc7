// SPDX-License-Identifier: Apache-2.0

// `import simd` in code written for Apple's platforms. A product of its own: an app that brings its
// own module of this name does not depend on this one.
@_exported public import SIMDMath
