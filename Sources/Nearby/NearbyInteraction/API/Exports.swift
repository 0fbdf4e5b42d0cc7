// SPDX-License-Identifier: Apache-2.0

// Importing NearbyInteraction on Apple's platforms makes these names visible too, and apps rely on it.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import SIMDMath
