# SPDX-License-Identifier: Apache-2.0
"""The client of a site for asyncio."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import Any

from .._protocol import SITE_INTERFACE, check
from ..aio import Caller, _Stream
from ._model import SiteInfo, SiteUpdate, State, Updates

__all__ = ["Client", "Watch", "connect"]


class Watch(_Stream[SiteUpdate]):
    """The events and the places of a site, with a value for each interruption: iterate over it."""


class Client(Caller):
    """A user of the service of a site; `connect` makes one."""

    def __repr__(self) -> str:
        return f"<uwb.site.aio.Client of {self._path}>"

    async def info(self) -> SiteInfo:
        """Returns the version of the interface, and the run."""
        return SiteInfo.from_json(await self._call(f"{SITE_INTERFACE}.GetInfo"))

    async def state(self) -> State:
        """Returns the anchors, tags with their places, zones, doors and counters now."""
        return State.from_json(await self._call(f"{SITE_INTERFACE}.List"))

    def watch(
        self,
        *,
        run: str | None = None,
        after: int | None = None,
        tags: Iterable[str] | None = None,
        interval: float | None = None,
        reconnect: float = 60,
    ) -> Watch:
        """Returns places and events; see `uwb.site.Client.watch`."""
        return Watch(self, Updates(run, after, tags, interval), reconnect)


class _Connecting:
    """A client that is being connected: await it, or use it with `async with`."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self._path, self._timeout = path, timeout
        self._client: Client | None = None

    async def _connect(self) -> Client:
        client = Client(self._path, self._timeout)
        try:
            check(await client._call("org.varlink.service.GetInfo"), "uwbsite", SITE_INTERFACE)
        except BaseException:
            await client.close()
            raise
        return client

    def __await__(self) -> Generator[Any, None, Client]:
        return self._connect().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._connect()
        return self._client

    async def __aexit__(self, *exception: object) -> None:
        if self._client:
            await self._client.close()


def connect(path: str | os.PathLike[str], *, timeout: float | None = 30) -> _Connecting:
    """Connects to the service of a site: `async with connect(path) as site`, or await it.

    path    -- its socket, as given to `uwbsite run --listen`
    timeout -- the seconds that a call may take; None: no limit
    """
    return _Connecting(os.fspath(path), timeout)
