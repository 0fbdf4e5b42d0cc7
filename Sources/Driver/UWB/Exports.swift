// SPDX-License-Identifier: Apache-2.0

// `import UWB` imports the whole library, with the types of the codec and the link in its API.
@_exported public import UCI
@_exported public import UCIReference
@_exported public import UWBLink
