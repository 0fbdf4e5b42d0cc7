# SPDX-License-Identifier: Apache-2.0
"""Streams with interruptions, time-outs in asyncio, recordings, and logs without keys."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import logging
import os
import sys
import threading
import unittest
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any
from unittest.mock import patch

import uwb
import uwb.aio
import uwb.testing
from test_protocol import LateService, recording
from uwb._model import Events
from uwb._protocol import Attempt
from uwb.testing import FakeService

BREAK = uwb.Interruption("service")
# Two measurements, a restart of the service, two more.
BROKEN: list[uwb.Event] = [*recording(2), BREAK, *recording(2)]


def story(events: list[uwb.Event]) -> list[object]:
    """The cause of each interruption; of a measurement its number, negative after a gap."""
    return [
        event.cause
        if isinstance(event, uwb.Interruption)
        else -event.sequence - 1 if event.after_interruption else event.sequence + 1
        for event in events
    ]


class QuietService(FakeService):
    """Measures once for each stream, and nothing after that until it restarts."""

    def __init__(self) -> None:
        super().__init__(recording(1))
        self.over = threading.Event()

    def __exit__(self, *exception: object) -> None:
        self.over.set()
        super().__exit__(*exception)

    def _monitor(self, wanted: dict[str, Any], more: bool) -> Iterator[dict[str, Any]]:
        yield from list(super()._monitor(wanted, more))[:1]
        self.over.wait()


class BusyService(FakeService):
    """Refuses calls after a restart, as long as the chip is not open, for each method once."""

    def __init__(self, refused: dict[str, str]) -> None:
        super().__init__(BROKEN)
        self._refused = refused

    def _answers(self, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
        method = call["method"].rpartition(".")[2]
        if self._position and method in self._refused:
            error = self._refused.pop(method)
            yield {"error": f"org.swift-uwb.Chips.{error}", "parameters": {"reason": "Not yet."}}
        else:
            yield from super()._answers(call)


class StreamTests(unittest.TestCase):
    def test_an_interruption_is_a_value(self) -> None:
        with FakeService(BROKEN) as fake, uwb.connect(fake.path) as service:
            session = service.start({"session_id": 7})
            events: list[uwb.Event] = []
            with self.assertRaises(uwb.SessionEnded):
                for event in session.measurements():
                    events.append(event)
            self.assertEqual(story(events), [1, 2, "service", -1, 2])
            session.stop()
            self.assertEqual(fake.started, [{"session_id": 7}] * 2)

    def test_an_interruption_is_a_value_in_asyncio(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                async with await service.start({"session_id": 7}) as session:
                    events: list[uwb.Event] = []
                    with self.assertRaises(uwb.SessionEnded):
                        async for event in session.measurements():
                            events.append(event)
                    self.assertEqual(story(events), [1, 2, "service", -1, 2])
            self.assertEqual(fake.started, [{"session_id": 7}] * 2)

        with FakeService(BROKEN) as fake:
            asyncio.run(main(fake))

    def test_an_outage_of_the_chip_is_a_value(self) -> None:
        first, second = recording(2)
        second = dataclasses.replace(second, after_interruption=True)
        with FakeService([first, second]) as fake, uwb.connect(fake.path) as service:
            with service.measurements(session_id=7) as stream:
                events = [next(stream) for _ in range(3)]
            self.assertEqual(story(events), [1, "chip", -2])
            assert isinstance(events[1], uwb.Interruption)
            self.assertEqual((events[1].chip, events[1].session_id), ("fake", 7))

    def test_a_session_has_no_other_calls_on_its_connection(self) -> None:
        with FakeService(BROKEN) as fake, uwb.connect(fake.path) as service:
            with service.start({"session_id": 7}) as session:
                service.chips()
                with session.measurements() as stream:
                    events = [next(stream) for _ in range(4)]
                    service.describe()
                    self.assertEqual(story(events), [1, 2, "service", -1])
            owners = [calls for calls in fake.calls if "Start" in calls]
            self.assertEqual(owners, [["Start"], ["Start", "Stop"]])

    def test_a_chip_that_is_not_open_yet_is_awaited(self) -> None:
        async def main(fake: FakeService) -> list[uwb.Event]:
            async with uwb.aio.connect(fake.path) as service:
                async with await service.start({"session_id": 7}) as session:
                    stream = session.measurements()
                    return [await anext(stream) for _ in range(5)]

        for refused in ({"Start": "NoChip"}, {"Start": "Busy", "Monitor": "NoSession"}):
            with BusyService(dict(refused)) as fake, uwb.connect(fake.path) as service:
                with service.start({"session_id": 7}) as session, session.measurements() as stream:
                    self.assertEqual(story([next(stream) for _ in range(5)]), [1, 2, "service", -1, 2])
            with BusyService(dict(refused)) as fake:
                self.assertEqual(story(asyncio.run(main(fake))), [1, 2, "service", -1, 2])

    def test_a_service_that_is_full_after_its_restart_is_tried_again(self) -> None:
        async def main(fake: FakeService) -> list[uwb.Event]:
            async with uwb.aio.connect(fake.path) as service:
                async with await service.start({"session_id": 7}) as session:
                    stream = session.measurements()
                    return [await anext(stream) for _ in range(5)]

        for method in ["GetInfo", "Start", "Monitor"]:
            with BusyService({method: "LimitReached"}) as fake, uwb.connect(fake.path) as service:
                with service.start({"session_id": 7}) as session, session.measurements() as stream:
                    self.assertEqual(story([next(stream) for _ in range(5)]), [1, 2, "service", -1, 2])
            with BusyService({method: "LimitReached"}) as fake:
                self.assertEqual(story(asyncio.run(main(fake))), [1, 2, "service", -1, 2])

    def test_short_steps_do_not_stop_the_reconnection(self) -> None:
        async def main(fake: FakeService) -> list[uwb.Event]:
            events: list[uwb.Event] = []
            async with uwb.aio.connect(fake.path) as service:
                async with await service.start({"session_id": 7}) as session:
                    stream = session.measurements()
                    while len(events) < 5:
                        # Shorter than each pause before a try.
                        with suppress(asyncio.TimeoutError):
                            events.append(await asyncio.wait_for(anext(stream), 0.01))
            return events

        with BusyService({"Start": "NoChip"}) as fake:
            self.assertEqual(story(asyncio.run(main(fake))), [1, 2, "service", -1, 2])

    def test_a_session_that_is_refused_ends_the_stream(self) -> None:
        with BusyService({"Start": "Refused"}) as fake, uwb.connect(fake.path) as service:
            stream = service.start({"session_id": 7}).measurements()
            self.assertEqual(story([next(stream) for _ in range(3)]), [1, 2, "service"])
            with self.assertRaises(uwb.Refused):
                next(stream)
            self.assertEqual(list(stream), [])

    def test_a_service_that_does_not_return_is_lost(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                stream = service.measurements(reconnect=0.01)
                await anext(stream)
                fake.__exit__()
                fake.restart()
                self.assertIsInstance(await anext(stream), uwb.Interruption)
                with self.assertRaises(uwb.ConnectionLost):
                    await anext(stream)
                with self.assertRaises(StopAsyncIteration):
                    await anext(stream)

        fake = QuietService()
        fake.__enter__()
        with uwb.connect(fake.path) as service:
            stream = service.measurements(reconnect=0.01)
            next(stream)
            fake.__exit__()
            fake.restart()
            self.assertIsInstance(next(stream), uwb.Interruption)
            with self.assertRaises(uwb.ConnectionLost):
                next(stream)
            self.assertEqual(list(stream), [])
        fake = QuietService()
        fake.__enter__()
        asyncio.run(main(fake))

    def test_without_reconnect_the_loss_is_an_error(self) -> None:
        with FakeService(BROKEN) as fake, uwb.connect(fake.path) as service:
            stream = service.measurements(reconnect=0)
            self.assertEqual(story([next(stream), next(stream)]), [1, 2])
            with self.assertRaises(uwb.ConnectionLost):
                next(stream)

    def test_a_session_that_has_ended_does_not_start_again(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                early = service.measurements(session_id=7)
                self.assertIsInstance(await anext(early), uwb.Measurement)
                session = await service.start({"session_id": 7})
                # The end that an earlier stream reports is the end of an earlier session.
                with self.assertRaises(uwb.SessionEnded):
                    await anext(early)
                fake.restart()
                await asyncio.sleep(0.01)
                await service._restore()
                self.assertEqual(len(fake.started), 2)
                with self.assertRaises(uwb.SessionEnded):
                    async for _ in session.measurements():
                        pass
                fake.restart()
                await asyncio.sleep(0.01)
                await service._restore()
                self.assertEqual(len(fake.started), 2)

        with FakeService(recording(1)) as fake, uwb.connect(fake.path) as service:
            session = service.start({"session_id": 7})
            with self.assertRaises(uwb.SessionEnded):
                list(session.measurements())
            fake.restart()
            service._restore()
            self.assertEqual(fake.started, [{"session_id": 7}])
        with FakeService(recording(1)) as fake:
            asyncio.run(main(fake))

    def test_a_session_that_was_ended_does_not_start_again(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                await service.start({"session_id": 7})
                await service.end(7)
                await service._restore()
                self.assertEqual(fake.started, [{"session_id": 7}])

        with FakeService([]) as fake, uwb.connect(fake.path) as service:
            service.start({"session_id": 7})
            service.end(7)
            service._restore()
            self.assertEqual(fake.started, [{"session_id": 7}])
            self.assertEqual(service._held, {})
        with FakeService([]) as fake:
            asyncio.run(main(fake))

    def test_an_interrupted_step_loses_nothing(self) -> None:
        folder = os.path.dirname(uwb.__file__)

        class Interrupt:
            """Is Ctrl-C before a line of the package, the one with this number."""

            def __init__(self, number: int) -> None:
                self.number = number

            def __call__(self, frame: FrameType, event: str, _: object) -> Interrupt | None:
                # The service is in the same process, but in another thread.
                if not frame.f_code.co_filename.startswith(folder):
                    return None
                if event == "line":
                    self.number -= 1
                    if self.number == 0:
                        raise KeyboardInterrupt
                return self

        lines = 0
        with FakeService(recording(2)) as fake, uwb.connect(fake.path) as service:
            while True:
                lines += 1
                with service.measurements() as stream:
                    interrupt = Interrupt(lines)
                    before = sys.gettrace()
                    events = []
                    try:
                        sys.settrace(interrupt)
                        events.append(next(stream))
                    except KeyboardInterrupt:
                        pass
                    finally:
                        sys.settrace(before)
                    events += [next(stream) for _ in range(2 - len(events))]
                    self.assertEqual(story(events), [1, 2], f"line {lines}")
                if interrupt.number > 0:
                    break
        self.assertGreater(lines, 20)

    def test_the_error_of_a_block_is_more_important_than_its_end(self) -> None:
        def late() -> None:
            raise TimeoutError("late")

        async def late_too() -> None:
            late()

        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                with patch.object(uwb.aio.Session, "stop", lambda _: late_too()):
                    with self.assertRaises(ZeroDivisionError):
                        async with await service.start({"session_id": 7}):
                            raise ZeroDivisionError
                    with self.assertRaises(TimeoutError):
                        async with await service.start({"session_id": 7}):
                            pass

        with FakeService([]) as fake, uwb.connect(fake.path) as service:
            with patch.object(uwb.Session, "stop", lambda _: late()):
                with self.assertRaises(ZeroDivisionError):
                    with service.start({"session_id": 7}):
                        raise ZeroDivisionError
                with self.assertRaises(TimeoutError):
                    with service.start({"session_id": 7}):
                        pass
        with FakeService([]) as fake:
            asyncio.run(main(fake))

    def test_pauses_grow(self) -> None:
        attempt = Attempt(uwb.ConnectionLost("gone"), 60)
        pauses = [attempt.pause() for _ in range(8)]
        self.assertTrue(all(0.5 * most <= pause <= most for pause, most in
                            zip(pauses, [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2])), pauses)
        self.assertTrue(Attempt(uwb.ConnectionLost("gone"), 0).is_over)

    def test_calls_go_on_after_a_restart(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                await service.chips()
                fake.restart()
                # The end of the connection arrives with the next turn of the loop.
                await asyncio.sleep(0.01)
                self.assertEqual((await service.chips())[0].chip, "fake")

        with FakeService([]) as fake, uwb.connect(fake.path) as service:
            service.chips()
            fake.restart()
            self.assertEqual(service.chips()[0].chip, "fake")
        with FakeService([]) as fake:
            asyncio.run(main(fake))

    def test_streams_that_are_lost_at_once_start_a_session_once(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                session = await service.start({"session_id": 7})
                streams = [session.measurements() for _ in range(3)]
                for stream in streams:
                    await anext(stream)
                fake.restart()
                for stream in streams:
                    self.assertEqual(story([await anext(stream)]), ["service"])
                found = await asyncio.gather(*(anext(stream) for stream in streams))
                self.assertEqual(story(list(found)), [-1, -1, -1])
                self.assertEqual(len(fake.started), 2)

        with QuietService() as fake:
            asyncio.run(main(fake))

    def test_a_cancelled_step_loses_nothing(self) -> None:
        async def main(fake: FakeService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                session = await service.start({"session_id": 7})
                stream = session.measurements()
                await anext(stream)
                for _ in range(3):
                    step = asyncio.ensure_future(anext(stream))
                    await asyncio.sleep(0)
                    step.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await step
                fake.restart()
                self.assertEqual(story([await anext(stream), await anext(stream)]), ["service", -1])

        with QuietService() as fake:
            asyncio.run(main(fake))

    def test_a_stream_that_is_dropped_is_closed(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path) as service:
                await anext(service.measurements())
                await asyncio.to_thread(self.wait_for_connections, fake, 1)

        with LateService() as fake:
            with uwb.connect(fake.path) as service:
                next(service.measurements())
                self.wait_for_connections(fake, 1)
            self.wait_for_connections(fake, 0)
            asyncio.run(main(fake))

    def wait_for_connections(self, fake: LateService, count: int) -> None:
        with fake._change:
            self.assertTrue(fake._change.wait_for(lambda: fake.connections == count, 60))


class TimeOutTests(unittest.TestCase):
    def late(self, *methods: str) -> None:
        """Each of these calls, made at once, is given up in time; the client works after it."""

        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path, timeout=0.5) as service:
                session = await service.start({"session_id": 7})
                calls = {
                    "List": service.chips,
                    "Describe": service.describe,
                    "Start": lambda: service.start({"session_id": 8}),
                    "Stop": session.stop,
                }
                fake.late = dict.fromkeys(methods, 0)
                found = await asyncio.gather(
                    *(calls[method]() for method in methods),  # type: ignore[operator]
                    return_exceptions=True,
                )
                for method, error in zip(methods, found):
                    self.assertIsInstance(error, TimeoutError)
                    self.assertIn("in time", str(error))
                fake.late = {}
                fake.go.set()
                self.assertEqual([chip.chip for chip in await service.chips()], ["fake"])
                held = [] if "Stop" in methods else [7]
                self.assertTrue(await asyncio.to_thread(fake.waits_for, held))

        with LateService() as fake:
            asyncio.run(main(fake))

    def test_each_call_has_a_time_out_in_asyncio(self) -> None:
        for method in ("List", "Describe", "Start", "Stop"):
            with self.subTest(method):
                self.late(method)

    def test_a_call_that_waits_for_its_turn_has_one_too(self) -> None:
        self.late("Describe", "List")

    def test_connecting_has_a_time_out_in_asyncio(self) -> None:
        async def main(path: str) -> None:
            with self.assertRaises(TimeoutError):
                await uwb.aio.connect(path, timeout=0.2)

        with LateService() as fake:
            fake.reads.clear()
            try:
                asyncio.run(main(fake.path))
            finally:
                fake.reads.set()

    def test_a_cancellation_is_no_time_out(self) -> None:
        async def main(fake: LateService) -> None:
            async with uwb.aio.connect(fake.path, timeout=60) as service:
                fake.late = {"Describe": 0}
                call = asyncio.create_task(service.describe())
                await asyncio.to_thread(fake.arrived.get)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                fake.late = {"Describe": 0}
                # The caller's own limit is the caller's error.
                with self.assertRaises(asyncio.TimeoutError) as caught:
                    await asyncio.wait_for(service.describe(), 0.2)
                self.assertNotIn("Describe", str(caught.exception))
                fake.go.set()
                self.assertEqual((await service.chips())[0].chip, "fake")

        with LateService() as fake:
            asyncio.run(main(fake))


class RecordTests(unittest.TestCase):
    def test_recordings_in_asyncio(self) -> None:
        async def main(path: str) -> None:
            async with uwb.aio.connect(path) as service:
                self.assertEqual([m.sequence for m in await service.record(count=10)], list(range(10)))
                self.assertEqual(len(await service.record(seconds=30)), 20)
                with self.assertRaises(ValueError):
                    await service.record()

        with FakeService(recording(20)) as fake:
            asyncio.run(main(fake.path))

    def test_a_recording_ends_in_time(self) -> None:
        async def main(path: str) -> None:
            async with uwb.aio.connect(path) as service:
                self.assertEqual(len(await service.record(seconds=0.2)), 1)
                self.assertEqual((await service.chips())[0].chip, "fake")

        with QuietService() as fake:
            with uwb.connect(fake.path) as service:
                self.assertEqual(len(service.record(seconds=0.2)), 1)
            asyncio.run(main(fake.path))

    def test_a_recording_goes_on_after_a_restart(self) -> None:
        async def main(path: str) -> None:
            async with uwb.aio.connect(path) as service:
                self.assertEqual(story(list(await service.record(count=4))), [1, 2, -1, 2])

        with FakeService(BROKEN) as fake, uwb.connect(fake.path) as service:
            self.assertEqual(story(list(service.record(count=4))), [1, 2, -1, 2])
        with FakeService(BROKEN) as fake:
            asyncio.run(main(fake.path))


class LogTests(unittest.TestCase):
    SECRET = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

    def test_logs_and_representations_have_no_keys(self) -> None:
        profile = {"session_id": 7, "parameters": {"SESSION_KEY": self.SECRET, "STATIC_STS_IV": self.SECRET}}
        shown: list[object] = []

        async def main(path: str) -> None:
            async with uwb.aio.connect(path) as service:
                async with await service.start(profile) as session:
                    stream = session.measurements()
                    shown.extend([await anext(stream) for _ in range(5)])
                    shown.extend([service, session, stream, service._held])

        with self.assertLogs("uwb", logging.DEBUG) as logs:
            with BusyService({"Start": "Busy"}) as fake, uwb.connect(fake.path) as service:
                with service.start(profile) as session, session.measurements() as stream:
                    shown.extend([next(stream) for _ in range(5)])
                    shown.extend([service, session, stream, service._held])
                self.assertEqual(fake.started, [profile] * 2)
            with BusyService({"Start": "Refused"}) as fake, uwb.connect(fake.path) as service:
                fake._position = 3
                with self.assertRaises(uwb.Refused) as caught:
                    service.start(profile)
                shown.append(caught.exception)
            with FakeService(BROKEN) as fake:
                asyncio.run(main(fake.path))
        text = "\n".join(logs.output + [f"{one} {one!r}" for one in shown])
        self.assertNotIn(self.SECRET, text)
        self.assertNotIn("SESSION_KEY", text)
        for line in ("DEBUG:uwb:call Start", "INFO:uwb:session 7 on fake: started", "WARNING:uwb:interrupted",
                     "DEBUG:uwb:not yet: Busy", "INFO:uwb:connected again"):
            self.assertIn(line, text)

    def test_nothing_is_printed_without_a_handler(self) -> None:
        handlers = logging.getLogger("uwb").handlers
        self.assertTrue(any(isinstance(handler, logging.NullHandler) for handler in handlers))


class DocumentationTests(unittest.TestCase):
    def test_each_public_name_has_a_description(self) -> None:
        for module in (uwb, uwb.aio, uwb.testing):
            for name in module.__all__:
                kind = getattr(module, name)
                if not inspect.isclass(kind) and not inspect.isfunction(kind):
                    continue
                self.assertTrue(kind.__doc__, name)
                for method, value in vars(kind).items():
                    value = getattr(value, "__func__", value)
                    if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                        self.assertTrue(value.__doc__, f"{name}.{method}")


class WatchTests(unittest.TestCase):
    def test_sessions_are_events(self) -> None:
        with FakeService(recording(1)) as fake, uwb.connect(fake.path) as service:
            self.assertEqual(service.service.protocol, 2)
            watch = service.watch(after=0)
            with service.start({"session_id": 7}):
                pass
            found = [next(watch) for _ in range(4)]
            kinds = [event.kind for event in found if isinstance(event, uwb.Change)]
            self.assertEqual(
                kinds, ["watching", "chip_added", "session_started", "session_ended"]
            )
            last = found[-1]
            assert isinstance(last, uwb.Change)
            self.assertEqual((last.run, last.sequence), (service.service.run, 3))
            # A restart is a value, and all events of the new run follow.
            fake.restart()
            found = [next(watch) for _ in range(3)]
            self.assertIsInstance(found[0], uwb.Interruption)
            again = found[2]
            assert isinstance(again, uwb.Change)
            self.assertEqual((again.kind, again.sequence), ("chip_added", 1))
            self.assertNotEqual(again.run, last.run)
            watch.close()

    def test_asyncio(self) -> None:
        async def main(path: str) -> list[str]:
            async with uwb.aio.connect(path) as service, service.watch(after=0) as watch:
                found = [await anext(watch), await anext(watch)]
                fake.restart()
                found += [await anext(watch) for _ in range(3)]
            return [e.kind if isinstance(e, uwb.Change) else e.cause for e in found]

        with FakeService(recording(1)) as fake:
            self.assertEqual(
                asyncio.run(main(fake.path)),
                ["watching", "chip_added", "service", "watching", "chip_added"],
            )

    def test_a_lost_chip_is_a_value_at_once(self) -> None:
        first, second = recording(2)
        lost = uwb.Interruption("chip", "It was unplugged.", "fake", 42)
        after = dataclasses.replace(second, after_interruption=True)
        with FakeService([first, lost, after]) as fake, uwb.connect(fake.path) as service:
            found = service.measurements()
            events = [next(found) for _ in range(3)]
            # It is not reported again with the next measurement.
            self.assertEqual(story(events), [1, "chip", -2])
            self.assertEqual(events[1], lost)

    def test_several_peers_and_a_rate(self) -> None:
        with FakeService(recording(1)) as fake, uwb.connect(fake.path) as service:
            peer = recording(1)[0].peer
            self.assertIsInstance(next(service.measurements(peers=["0x9999", peer])), uwb.Measurement)
            for wrong in ({"peer": peer, "peers": [peer]}, {"rate": 0}):
                with self.assertRaises(ValueError):
                    service.measurements(**wrong)

    def test_peers_that_no_session_has_are_logged(self) -> None:
        event = {"kind": "watching", "reason": "No session has the peer 0x0002 yet."}
        with self.assertLogs("uwb", "WARNING") as logs:
            found, _ = Events({}).received({"run": "r", "event": event}, frozenset())
        self.assertEqual((found, len(logs.records)), ([], 1))

    def test_an_older_service_gets_no_unknown_parameters(self) -> None:
        class OlderService(FakeService):
            def _answers(self, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
                known = {"chip", "session_id", "peer", "keep", "queue", "every_ms"}
                unknown = set(call.get("parameters") or {}) - known
                if call["method"].endswith(".GetService"):
                    error = "org.varlink.service.MethodNotFound"
                    yield {"error": error, "parameters": {"method": call["method"]}}
                elif call["method"].endswith(".Monitor") and unknown:
                    error = "org.varlink.service.InvalidParameter"
                    yield {"error": error, "parameters": {"parameter": unknown.pop()}}
                else:
                    yield from super()._answers(call)

        with OlderService(recording(2)) as fake, uwb.connect(fake.path) as service:
            self.assertEqual((service.service.protocol, service.service.run), (1, ""))
            self.assertEqual(len(service.record(count=2)), 2)

    def test_the_origin_of_a_measurement_is_kept(self) -> None:
        reply = recording(1)[0].to_json()
        reply["identity"] = {
            "run": "ab", "host": "h", "device": "usb:7", "serial": "7", "model": "QM33",
            "address": "0x0000",
        }
        found = uwb.Measurement.from_json(reply)
        self.assertEqual((found.run, found.device, found.address), ("ab", "usb:7", "0x0000"))
        self.assertEqual(found.to_json(), reply)


if __name__ == "__main__":
    unittest.main()
