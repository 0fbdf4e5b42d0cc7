// SPDX-License-Identifier: Apache-2.0

// `import UWB` is the library: what its API names of the codec and the link comes with it.
@_exported public import UCI
@_exported public import UCIReference
@_exported public import UWBLink
