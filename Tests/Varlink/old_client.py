# SPDX-License-Identifier: Apache-2.0
"""Uses a service of today with a client of version 1 of the protocol: see .ci/clients.

old_client.py SOCKET PROFILE
"""

import sys

import uwb

PATH, PROFILE = sys.argv[1:]
with uwb.connect(PATH) as service:
    assert not hasattr(service, "watch"), "the client is not the older one"
    chip = service.describe()
    assert chip.channels == (5, 9), chip
    with service.start(PROFILE) as session:
        stream = session.measurements(peer="0x0001", keep="newest", queue=10)
        found = [next(stream) for _ in range(5)]
        # The client keeps members that its version does not define.
        later = {"estimate_short_sd_m", "computed_noise_m"}
        assert all(isinstance(m, uwb.Measurement) and set(m.extra) == later for m in found), found
        assert service.chips()[0].sessions[0].session_id == session.session_id
print("clients: the Python client of version 1 measures")
