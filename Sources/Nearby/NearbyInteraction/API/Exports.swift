// SPDX-License-Identifier: Apache-2.0

// On Apple's platforms, importing NearbyInteraction also makes these names visible. Apps rely on
// it.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import SIMDMath
