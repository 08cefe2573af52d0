"""HTTP on the daemon's Unix socket: one request, or one stream of server-sent events."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple
from urllib.parse import urlencode

# The connection was cut, or the daemon is shutting down and did nothing.
CUT = {"connection_lost", "daemon_shutdown"}
# Also: it is not back yet.
AWAY = CUT | {"no_daemon"}


class BlemeesError(Exception):
    """What the daemon refused, with its code (docs/errors.md), or `connection_lost`, `no_daemon`, `timeout`."""

    def __init__(self, code: str, message: str, data: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data or {}


def find_socket(environ: Mapping[str, str] = os.environ) -> str:
    """The socket of the user's daemon, as every program of blemees finds it."""
    named = environ.get("BLEMEESD_SOCKET") or environ.get("BLEMEES_SOCKET")
    if named:
        return named
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "blemeesd.sock")
    return f"/tmp/blemeesd-{os.getuid()}/blemeesd.sock"


class Transport:
    def __init__(self, path: str, session_id: Optional[str], timeout_s: float):
        self.path = path
        self._timeout_s = timeout_s
        self._headers = {} if session_id is None else {"X-Blemees-Session": session_id}

    def request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        timeout_s: Optional[float] = None,
    ) -> Any:
        connection = self._connect(self._timeout_s if timeout_s is None else timeout_s)
        try:
            response = self._send(connection, method, path, query, body, "application/json")
            try:
                text = response.read()
            except socket.timeout as error:
                raise BlemeesError("timeout", f"no reply to {method} {path} in time") from error
            except (OSError, http.client.HTTPException) as error:
                raise _lost(error) from error
            return self._parse(response.status, text, method, path)
        finally:
            connection.close()

    def stream(self, path: str, query: Mapping[str, Any]) -> Iterator[Tuple[str, Any]]:
        """Events with their names, until the daemon ends the stream (then `connection_lost`) or the caller stops."""
        # The daemon sends something at least every 15 seconds.
        connection = self._connect(60)
        try:
            response = self._send(connection, "GET", path, query, None, "text/event-stream")
            if response.status != 200:
                self._parse(response.status, response.read(), "GET", path)
            name, data = "message", []
            while True:
                try:
                    line = response.readline()
                except (OSError, http.client.HTTPException) as error:
                    raise _lost(error) from error
                if line == b"":
                    raise BlemeesError("connection_lost", "the daemon ended the stream")
                text = line.decode("utf-8").rstrip("\r\n")
                if text == "":
                    if data:
                        yield name, json.loads("\n".join(data))
                    name, data = "message", []
                elif text.startswith("event:"):
                    name = text[6:].lstrip()
                elif text.startswith("data:"):
                    data.append(text[5:].lstrip(" "))
        finally:
            connection.close()

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        self._check_directory()
        connection = http.client.HTTPConnection("localhost", timeout=timeout_s)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(timeout_s)
        try:
            connection.sock.connect(self.path)
        except OSError as error:
            connection.sock.close()
            hint = "start one with `blemeesd`, or set BLEMEESD_SOCKET to the socket of a running one"
            raise BlemeesError("no_daemon", f"no daemon at {self.path} ({error}); {hint}") from error
        return connection

    def _check_directory(self) -> None:
        """In /tmp, another user could have made the directory."""
        directory = os.path.dirname(self.path)
        if directory != f"/tmp/blemeesd-{os.getuid()}" or not os.path.lexists(directory):
            return
        found = os.lstat(directory)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700:
            return
        raise BlemeesError("socket_directory_unsafe", f"{directory} is not a directory that only you can access")

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[Mapping[str, Any]],
        accept: str,
    ) -> http.client.HTTPResponse:
        given = {key: _to_text(value) for key, value in (query or {}).items() if value is not None}
        url = path if not given else f"{path}?{urlencode(given)}"
        headers = {"Accept": accept, **self._headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, url, None if body is None else json.dumps(body), headers)
            return connection.getresponse()
        except socket.timeout as error:
            raise BlemeesError("timeout", f"no reply to {method} {path} in time") from error
        except (OSError, http.client.HTTPException) as error:
            raise _lost(error) from error

    @staticmethod
    def _parse(status: int, text: bytes, method: str, path: str) -> Any:
        try:
            value = json.loads(text) if text else None
        except ValueError as error:
            raise BlemeesError("bad_reply", f"the reply to {method} {path} is not JSON") from error
        if status < 400:
            return value
        error = value.get("error", {}) if isinstance(value, dict) else {}
        raise BlemeesError(error.get("code", "bad_reply"), error.get("message", f"status {status}"), error.get("data"))


def _lost(error: Exception) -> BlemeesError:
    return BlemeesError("connection_lost", f"the connection to the daemon was lost: {error or type(error).__name__}")


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
