# SPDX-License-Identifier: Apache-2.0
"""Places of tags, and how sure they are, from a running `uwbsite run --listen PATH`."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .._client import Caller, _Stream
from .._model import Interruption
from .._protocol import SITE_INTERFACE, NoTag, check, log
from ._model import (
    Anchor,
    Door,
    Place,
    SiteEvent,
    SiteInfo,
    SiteUpdate,
    State,
    Tag,
    Updates,
    Zone,
)

__all__ = [
    "Anchor",
    "Client",
    "Door",
    "Interruption",
    "NoTag",
    "Place",
    "SiteEvent",
    "SiteInfo",
    "SiteUpdate",
    "State",
    "Tag",
    "Watch",
    "Zone",
    "connect",
]


class Watch(_Stream[SiteUpdate]):
    """The events and the places of a site, with a value for each interruption: iterate over it."""


class Client(Caller):
    """A user of the service of a site, in one thread at a time; `connect` makes one."""

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__(path, timeout)
        try:
            check(self._call("org.varlink.service.GetInfo"), "uwbsite", SITE_INTERFACE)
        except BaseException:
            self.close()
            raise
        log.debug("connected to the site at %s", path)

    def __repr__(self) -> str:
        return f"<uwb.site.Client of {self._path}>"

    def info(self) -> SiteInfo:
        """Returns the version of the interface, and the run."""
        return SiteInfo.from_json(self._call(f"{SITE_INTERFACE}.GetInfo"))

    def state(self) -> State:
        """Returns the anchors, tags with their places, zones, doors and counters now."""
        return State.from_json(self._call(f"{SITE_INTERFACE}.List"))

    def watch(
        self,
        *,
        run: str | None = None,
        after: int | None = None,
        tags: Iterable[str] | None = None,
        interval: float | None = None,
        reconnect: float = 60,
    ) -> Watch:
        """Returns the last place of each tag, then each change of a place and each event.

        A program that is slow gets the newest place of each tag, whose `number` shows the gap.
        After a restart of the service, an `Interruption` and all events of the new run follow.

        after     -- the number of the last event that the program has, with its `run`; 0: all that
                     the service still has. Without it, the events from this call on
        tags      -- the tags whose places are wanted; an empty list: none
        interval  -- the least seconds between two replies, each with the newest places
        reconnect -- the seconds to wait for a service that was restarted or killed
        """
        return Watch(self, Updates(run, after, tags, interval), reconnect)


def connect(path: str | os.PathLike[str], *, timeout: float | None = 30) -> Client:
    """Connects to the service of a site.

    path    -- its socket, as given to `uwbsite run --listen`
    timeout -- the seconds that an answer may take; None: no limit
    """
    return Client(os.fspath(path), timeout)
