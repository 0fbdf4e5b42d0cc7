// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@Suite struct SiteFileFuzzTests {
  @Test("A damaged site file is a site or has problems with their places", arguments: [1, 2, 3])
  func damaged(_ seed: UInt64) {
    var fuzz = SiteFileFuzz(seed: seed)
    let result = fuzz.run(2000)
    #expect(result.wrong == [])
    #expect(result.readable > 50)
    #expect(result.problems > 1000)
    #expect(result.named > result.problems * 9 / 10)
  }
}
