"""Sessions of the daemon, over its HTTP API (docs/http.md).

A call that is cut by a restart of the daemon is repeated if that is safe: reads, and messages, which carry a key so that
none is delivered twice. Streams continue after the last event that was seen.
"""

from __future__ import annotations

import os
import random
import time
import uuid
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, TypeVar, Union
from urllib.parse import quote

from . import types as t
from .transport import AWAY, CUT, BlemeesError, Transport, find_socket

T = TypeVar("T")

# About 15 seconds, longer than a restart takes.
_ATTEMPTS = 20
_FIRST_DELAY_S = 0.05
_MAX_DELAY_S = 1.0
# A long wait is split, so that a dead connection is noticed.
_WAIT_PIECE_S = 25.0


class Turn(NamedTuple):
    """The end of a message's turn."""

    text: str
    """The agent's last message."""
    result: str
    """`success`, `error`, `interrupted`, `max_turns` or `max_budget`; `blocked` while a request is pending."""
    session: t.SessionView


class Client:
    def __init__(self, socket: Optional[str] = None, session_id: Optional[str] = None, timeout_s: float = 30.0):
        """`session_id`: the session whose agent runs this program, whose children new sessions become."""
        self._transport = Transport(
            socket or find_socket(), session_id or os.environ.get("BLEMEES_SESSION_ID") or None, timeout_s
        )

    def status(self) -> t.StatusReply:
        return self._read("GET", "/status")

    def spawn(self, backend: str, prompt: Optional[str] = None, **body: Any) -> "Session":
        """Starts a session; `body` as in `SpawnBody`: cwd, name, model, labels, options, approvals, …"""
        given: Dict[str, Any] = {"backend": backend, **body}
        if prompt is not None:
            given["prompt"] = prompt
        reply: t.SpawnReply = self._write("POST", "/sessions", given)
        return Session(self, reply["session"]["session_id"], reply.get("message_id"))

    def session(self, session_id: str) -> "Session":
        return Session(self, session_id)

    def sessions(self, **filters: Any) -> Iterator[t.SessionView]:
        """All that fit, most recently active first: state, labels as `label`, project, name, failed, archived, …"""
        after = None
        while True:
            page: t.SessionsReply = self._read("GET", "/sessions", {"limit": 100, **filters, "after": after})
            yield from page["sessions"]
            after = page.get("next")
            if after is None:
                return

    def requests(self, session_id: Optional[str] = None, **filters: Any) -> Iterator[t.RequestRow]:
        """Pending requests, oldest first; `tree=True` with those of all descendants."""
        path = "/requests" if session_id is None else _path(session_id, "requests")
        after = None
        while True:
            page: t.RequestsReply = self._read("GET", path, {**filters, "after": after})
            yield from page["requests"]
            after = page.get("next")
            if after is None:
                return

    def respond(self, request: t.RequestRow, decision: str = "accept", **answer: Any) -> t.RespondReply:
        """Answers what was shown: if the request has changed since, the answer is refused (`request_changed`).

        `answers={question_id: label}` answers questions; `message` goes with a refusal; `option` chooses a wider grant.
        """
        body: Dict[str, Any] = {"shown_hash": request["shown_hash"], **answer}
        if "answers" not in answer:
            body["decision"] = decision
        path = _path(request["session_id"], "requests", request["request_id"], "respond")
        return self._repeat(lambda: self._transport.request("POST", path, None, body))

    def changes(self) -> Iterator[Dict[str, Any]]:
        """Changes of all sessions. Starts with `{"kind": "reset"}`, also after each restart: read again what you show."""
        for _name, data in self._follow(lambda: ("/events", {})):
            yield data

    def _read(self, method: str, path: str, query: Optional[Dict[str, Any]] = None) -> Any:
        return self._repeat(lambda: self._transport.request(method, path, query))

    def _write(self, method: str, path: str, body: Dict[str, Any]) -> Any:
        keyed = {"idempotency_key": uuid.uuid4().hex, **body}
        return self._repeat(lambda: self._transport.request(method, path, None, keyed))

    def _repeat(self, attempt: Callable[[], T]) -> T:
        """A daemon that was never there is not waited for."""
        errors = CUT
        for count in range(_ATTEMPTS + 1):
            try:
                return attempt()
            except BlemeesError as error:
                if error.code not in errors or count == _ATTEMPTS:
                    raise
            errors = AWAY
            time.sleep(_delay_s(count))
        raise AssertionError("unreachable")

    def _follow(self, where: Callable[[], Any]) -> Iterator[Any]:
        """One stream after another; `where` gives the path and the query of the next one."""
        count, errors = 0, CUT
        while True:
            try:
                for item in self._transport.stream(*where()):
                    count, errors = 0, AWAY
                    yield item
            except BlemeesError as error:
                if error.code not in errors or count == _ATTEMPTS:
                    raise
            errors = AWAY
            time.sleep(_delay_s(count))
            count += 1


class Session:
    def __init__(self, client: Client, session_id: str, message_id: Optional[str] = None):
        self.id = session_id
        self._client = client
        self._message_id = message_id

    def view(self) -> t.SessionView:
        return self._client._read("GET", _path(self.id))

    def send(self, text: str, now: bool = False, steer: bool = False) -> t.InputReply:
        """Queues a message. `now` interrupts the running turn; `steer` adds it to that turn, if its agent can."""
        body: Dict[str, Any] = {"text": text, "now": now, "delivery": "steer" if steer else "queue"}
        reply: t.InputReply = self._client._write("POST", _path(self.id, "input"), body)
        self._message_id = reply["input"]["message_id"]
        return reply

    def ask(self, text: str, timeout_s: Optional[float] = None) -> Turn:
        """Sends a message and waits for the end of its turn, or until a request needs an answer."""
        self.send(text)
        return self.turn(timeout_s)

    def turn(self, timeout_s: Optional[float] = None) -> Turn:
        """Waits for the end of the last message's turn. Call it again after answering a request."""
        reply = self.wait(timeout_s=timeout_s, message_id=self._message_id)
        view = reply["session"]
        result: Any = view.get("last_result", {})
        if reply["reason"] == "blocked":
            return Turn("", "blocked", view)
        return Turn(result.get("text", ""), result.get("subtype", ""), view)

    def wait(
        self,
        until: Union[str, List[str]] = "idle,blocked",
        timeout_s: Optional[float] = None,
        message_id: Optional[str] = None,
    ) -> t.WaitReply:
        """Until it is idle, needs an answer (`blocked`), or is gone; `timeout` as the reason if that takes too long."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = _WAIT_PIECE_S if end is None else max(0.0, min(_WAIT_PIECE_S, end - time.monotonic()))
            query = {"until": until, "timeout_s": round(left, 3), "message_id": message_id}
            reply: t.WaitReply = self._client._repeat(
                lambda: self._client._transport.request(
                    "GET", _path(self.id, "wait"), query, timeout_s=_WAIT_PIECE_S + 30
                )
            )
            if reply["reason"] != "timeout" or (end is not None and time.monotonic() >= end):
                return reply

    def events(self, since_seq: Optional[int] = None) -> Iterator[Dict[str, Any]]:
        """Each event after `since_seq` once and in order, over restarts of the daemon; without it, only new ones.

        A missing part of the history is an event too: `{"type": "gap", …}`. Ends when the session is deleted.
        """
        seen = since_seq

        def where() -> Any:
            return _path(self.id, "events"), {"since_seq": seen}

        for name, data in self._client._follow(where):
            if name == "closed":
                if data.get("reason") == "deleted":
                    return
            elif name == "gap":
                yield {"type": "gap", **data}
            elif name != "catching_up":
                seq = data.get("seq")
                if seq is not None:
                    if seen is not None and seq <= seen:
                        continue
                    seen = seq
                yield data

    def requests(self, **filters: Any) -> Iterator[t.RequestRow]:
        return self._client.requests(self.id, **filters)

    def interrupt(self) -> t.InterruptReply:
        return self._client._transport.request("POST", _path(self.id, "interrupt"), None, {})

    def stop(self, tree: bool = False) -> List[str]:
        """Stops the agent; the history stays, and a message starts it again. Returns the ids of what was stopped."""
        return self._client._repeat(
            lambda: self._client._transport.request("POST", _path(self.id, "stop"), None, {"tree": tree})
        )["stopped"]

    def change(self, **change: Any) -> t.SessionView:
        """`name`, `add_labels`, `remove_labels`, `archived`."""
        return self._client._repeat(
            lambda: self._client._transport.request("PATCH", _path(self.id), None, change)
        )

    def remove(self, tree: bool = False) -> List[str]:
        """Deletes it with its history. Returns the ids of what was deleted."""
        return self._client._transport.request("DELETE", _path(self.id), {"tree": tree})["deleted"]


def _path(*parts: str) -> str:
    return "/".join(["/sessions", *(quote(part, safe="") for part in parts)])


def _delay_s(count: int) -> float:
    return min(_MAX_DELAY_S, _FIRST_DELAY_S * 2**count) * random.uniform(0.5, 1)
