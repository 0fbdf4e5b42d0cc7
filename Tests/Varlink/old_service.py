# SPDX-License-Identifier: Apache-2.0
"""Uses the fake service of version 1 of the protocol with the client of today: see .ci/clients."""

import uwb
import uwb_old
import uwb_old.testing

measurement = uwb_old.Measurement(session_id=7, peer="0x0001", estimate_m=1.0, estimate_sd_m=0.1)
recording = uwb_old.Recording([measurement] * 3)
with uwb_old.testing.FakeService(recording) as fake, uwb.connect(fake.path) as service:
    assert (service.service.protocol, service.service.run) == (1, ""), service.service
    with service.start({"session_id": 7}) as session:
        stream = session.measurements()
        assert [next(stream).distance for _ in range(3)] == [1.0] * 3
    try:
        next(service.watch())
        raise SystemExit("clients: a service without Watch has it")
    except uwb.ServiceError as error:
        assert "MethodNotFound" in str(error), error
print("clients: the Python client measures with a service of version 1")
