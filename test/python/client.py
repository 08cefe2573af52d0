"""A client of blemees/2 written from the protocol's text alone: standard library, no code of the project.

    python3 client.py SOCKET RECORD CWD

Drives every verb, checks the replies itself, and writes everything it sent and received to RECORD, one JSON
object a line: {"dir": "out" | "in", "conn": n, "frame": {...}, "bad": true}. `bad` marks what was sent wrong on
purpose. The fake agent understands "#say text", "#slow n ms", "#hang", "#crash", "#stderr n", "#ask command".
"""

import hashlib
import json
import queue
import socket
import sys
import threading
import uuid

SOCKET, RECORD, CWD = sys.argv[1:4]
PATIENCE_S = 15
record = open(RECORD, "w", encoding="utf-8")
record_lock = threading.Lock()
checks = 0


def note(direction, conn, frame, bad=False):
    entry = {"dir": direction, "conn": conn, "frame": frame}
    if bad:
        entry["bad"] = True
    with record_lock:
        record.write(json.dumps(entry, ensure_ascii=False) + "\n")


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(what)


def check_equal(got, expected, what):
    check(got == expected, f"{what}: expected {expected!r}, got {got!r}")


class Client:
    count = 0

    def __init__(self, hello=True):
        Client.count += 1
        self.number = Client.count
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(None)
        self.socket.connect(SOCKET)
        self.inbox = queue.Queue()
        self.seen = []
        self.ids = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if hello:
            self.send({"type": "blemeesd.hello", "client": "python/1", "protocol": "blemees/2"})
            self.ack = self.next(lambda f: f["type"] == "blemeesd.hello_ack")

    def _read(self):
        rest = b""
        while True:
            try:
                chunk = self.socket.recv(65536)
            except OSError:
                chunk = b""
            if not chunk:
                self.inbox.put(None)
                return
            rest += chunk
            *lines, rest = rest.split(b"\n")
            for line in lines:
                frame = json.loads(line.decode("utf-8"))
                note("in", self.number, frame)
                self.inbox.put(frame)

    def send(self, frame, bad=False):
        note("out", self.number, frame, bad)
        self.socket.sendall(json.dumps(frame, ensure_ascii=False).encode("utf-8") + b"\n")

    def next(self, wants):
        """The next matching frame; the others are kept in `seen`."""
        while True:
            frame = self.inbox.get(timeout=PATIENCE_S)
            if frame is None:
                raise AssertionError("the daemon closed the connection")
            self.seen.append(frame)
            if wants(frame):
                return frame

    def until_closed(self):
        while True:
            frame = self.inbox.get(timeout=PATIENCE_S)
            if frame is None:
                return
            self.seen.append(frame)

    def request(self, frame, bad=False):
        self.ids += 1
        request_id = f"py_{self.number}_{self.ids}"
        self.send({**frame, "id": request_id}, bad)
        return self.next(lambda f: f.get("id") == request_id)

    def open(self, session_id, bad=False, **fields):
        frame = {"type": "blemeesd.open", "session_id": session_id, "backend": "claude", "options": {"claude": {"cwd": CWD}}}
        return self.request({**frame, **fields}, bad)

    def user(self, session_id, content):
        self.send({"type": "agent.user", "session_id": session_id, "message": {"role": "user", "content": content}})

    def result(self, session_id):
        return self.next(lambda f: f["type"] == "agent.result" and f["session_id"] == session_id)

    def turn(self, session_id, content):
        self.user(session_id, content)
        return self.result(session_id)

    def stream(self, session_id):
        """The frames of the session's stream on this connection: those with a seq."""
        return [f for f in self.seen if f.get("session_id") == session_id and "seq" in f]

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def handshake():
    client = Client()
    check_equal(client.ack["protocol"], "blemees/2", "hello_ack.protocol")
    check(client.ack["daemon"].startswith("blemeesd/"), "hello_ack.daemon")
    check(isinstance(client.ack["pid"], int), "hello_ack.pid")
    check("claude" in client.ack["backends"], "hello_ack.backends")
    client.send({"type": "blemeesd.hello", "protocol": "blemees/2"})
    check_equal(client.next(lambda f: f["type"] == "blemeesd.error")["code"], "invalid_message", "second hello")
    client.close()
    wrong = Client(hello=False)
    wrong.send({"type": "blemeesd.hello", "protocol": "blemees/99"})
    check_equal(wrong.next(lambda f: True)["code"], "protocol_mismatch", "wrong protocol")
    wrong.until_closed()


def liveness():
    client = Client()
    pong = client.request({"type": "blemeesd.ping", "data": {"any": ["thing", None, "ü"]}})
    check_equal(pong["type"], "blemeesd.pong", "pong")
    check_equal(pong["data"], {"any": ["thing", None, "ü"]}, "pong.data")
    status = client.request({"type": "blemeesd.status"})
    check_equal(status["type"], "blemeesd.status_reply", "status")
    check_equal(status["socket_path"], SOCKET, "status.socket_path")
    for key in ("total", "attached", "detached", "active_turns", "by_backend"):
        check(key in status["sessions"], f"status.sessions.{key}")
    for key in ("ring_buffer_size", "event_log_enabled", "idle_timeout_s", "shutdown_grace_s"):
        check(key in status["config"], f"status.config.{key}")
    check_equal(status["config"]["max_line_bytes"], 16777216, "status.config.max_line_bytes")
    client.close()


def refusals():
    client = Client()
    session = str(uuid.uuid4())
    for fields, code in (
        ({"backend": "nobody"}, "unknown_backend"),
        ({"options": {"claude": {"modle": "x"}}}, "invalid_message"),
        ({"options": {"claude": {"dangerously_skip_permissions": True}}}, "unsafe_flag"),
        ({"options": {"claude": {"add_dir": ["--continue"]}}}, "unsafe_flag"),
    ):
        check_equal(client.open(session, **fields)["code"], code, f"open {fields}")
    for fields in ({"resume": "yes"}, {"last_seen_seq": -1}, {"surprise": 1}, {"options": None}):
        check_equal(client.open(session, bad=True, **fields)["code"], "invalid_message", f"open {fields}")
    check_equal(client.open("../escape", bad=True)["code"], "invalid_message", "traversal")
    for frame, code in (
        ({"type": "blemeesd.nonsense"}, "unknown_message"),
        ({"no": "type"}, "invalid_message"),
        ({"type": "agent.user", "session_id": session, "message": {"role": "system", "content": "x"}}, "invalid_message"),
        ({"type": "blemeesd.close", "session_id": session, "delete": "false"}, "invalid_message"),
    ):
        client.send(frame, bad=True)
        check_equal(client.next(lambda f: f["type"] == "blemeesd.error")["code"], code, str(frame))
    client.user(session, "nobody home")
    check_equal(client.next(lambda f: f["type"] == "blemeesd.error")["code"], "session_unknown", "user of unknown")
    check_equal(client.request({"type": "blemeesd.watch", "session_id": session})["code"], "session_unknown", "watch")
    check_equal(client.request({"type": "blemeesd.session_info", "session_id": session})["code"], "session_unknown", "info")
    check_equal(client.request({"type": "blemeesd.close", "session_id": session})["type"], "blemeesd.closed", "close unknown")
    client.close()


def conversation():
    client = Client()
    session = str(uuid.uuid4())
    opened = client.open(session)
    check_equal(opened["type"], "blemeesd.opened", "opened")
    check_equal((opened["backend"], opened["last_seq"]), ("claude", 0), "opened fields")
    check("native_session_id" not in opened, "claude's id is the daemon's")
    check_equal(client.open(session)["code"], "session_exists", "open twice")
    result = client.turn(session, "#say hello from python")
    check_equal(result["subtype"], "success", "turn")
    frames = client.stream(session)
    check_equal([f["seq"] for f in frames], list(range(1, len(frames) + 1)), "seq")
    check_equal(frames[0]["type"], "agent.system_init", "first frame")
    check_equal(frames[-1], result, "the result is last")
    check(all(f["backend"] == "claude" for f in frames if f["type"].startswith("agent.")), "backend on every frame")
    text = next(f for f in frames if f["type"] == "agent.message")["content"][0]["text"]
    check_equal(text, "hello from python", "text")
    blocks = [{"type": "text", "text": "#image"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]
    check_equal(client.turn(session, blocks)["subtype"], "success", "multimodal")
    client.user(session, "#slow 5 20")
    client.user(session, "too early")
    check_equal(client.next(lambda f: f["type"] == "blemeesd.error")["code"], "session_busy", "busy")
    client.result(session)
    client.turn(session, "#stderr 3 #say after warnings")
    if not any(f["type"] == "blemeesd.stderr" for f in client.stream(session)):
        client.next(lambda f: f["type"] == "blemeesd.stderr")  # another pipe: it may arrive after the result
    crashed = client.turn(session, "#crash 2")
    check_equal(crashed["subtype"], "error", "crash")
    error = client.seen[-2] if client.seen[-2]["type"] == "blemeesd.error" else None
    check(error is not None and error["code"] == "backend_crashed" and "seq" in error, "backend_crashed before the result")
    check_equal(client.turn(session, "#say alive")["subtype"], "success", "after the crash")
    info = client.request({"type": "blemeesd.session_info", "session_id": session})
    check_equal(info["type"], "blemeesd.session_info_reply", "info")
    check(info["turns"] >= 4 and info["attached"] and info["subprocess_running"], "info fields")
    check_equal(info["context_tokens"], sum(info["last_turn_usage"].get(k, 0) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")), "context_tokens")
    check_equal(info["last_seq"], client.stream(session)[-1]["seq"], "info.last_seq")
    return client, session


def interrupts(client, session):
    client.send({"type": "blemeesd.interrupt", "session_id": session})
    idle = client.next(lambda f: f["type"] == "blemeesd.interrupted")
    check_equal(idle["was_idle"], True, "idle interrupt")
    client.user(session, "#hang")
    client.next(lambda f: f.get("category") == "task_started")
    client.send({"type": "blemeesd.interrupt", "session_id": session})
    check_equal(client.next(lambda f: f["type"] == "blemeesd.interrupted").get("was_idle"), False, "interrupt")
    check_equal(client.result(session)["subtype"], "interrupted", "interrupted turn")
    check_equal(client.turn(session, "#say again")["subtype"], "success", "after the interrupt")


def watching(client, session):
    last = client.stream(session)[-1]["seq"]
    watcher = Client()
    ack = watcher.request({"type": "blemeesd.watch", "session_id": session, "last_seen_seq": 0})
    check_equal((ack["type"], ack["last_seq"]), ("blemeesd.watching", last), "watching")
    watcher.next(lambda f: f.get("seq") == last)
    check_equal(watcher.stream(session), client.stream(session), "replay is what the owner saw")
    watcher.user(session, "may I?")
    check_equal(watcher.next(lambda f: f["type"] == "blemeesd.error")["code"], "session_unknown", "watchers cannot drive")
    result = client.turn(session, "#say watched")
    check_equal(watcher.result(session), result, "live frames")
    check_equal(watcher.request({"type": "blemeesd.unwatch", "session_id": session})["was_watching"], True, "unwatch")
    check_equal(watcher.request({"type": "blemeesd.unwatch", "session_id": session})["was_watching"], False, "unwatch again")
    watcher.request({"type": "blemeesd.watch", "session_id": session})
    return watcher


def listing(client, session):
    def ids(**fields):
        reply = client.request({"type": "blemeesd.list_sessions", **fields})
        check_equal(reply["type"], "blemeesd.sessions", "sessions")
        check_equal(reply.get("cwd"), fields.get("cwd"), "cwd is echoed only when given")
        return {row["session_id"]: row for row in reply["sessions"]}

    for fields in ({}, {"cwd": CWD}, {"live": True}, {"cwd": CWD, "live": True}):
        row = ids(**fields).get(session)
        check(row is not None and row["attached"], f"listed with {fields}")
    check_equal(ids(live=True)[session]["title"], "#say hello from python", "title")
    for fields in ({"live": False}, {"cwd": CWD, "live": False}, {"cwd": "/nowhere"}):
        check(session not in ids(**fields), f"not listed with {fields}")


def takeover(client, session):
    thief = Client()
    last = client.stream(session)[-1]["seq"]
    opened = thief.open(session, resume=True, last_seen_seq=last)
    check_equal(opened["type"], "blemeesd.opened", "takeover")
    taken = client.next(lambda f: f["type"] == "blemeesd.session_taken")
    check_equal(taken["session_id"], session, "session_taken")
    client.user(session, "mine?")
    check_equal(client.next(lambda f: f["type"] == "blemeesd.error")["code"], "session_unknown", "ex-owner")
    check_equal(thief.turn(session, "#say mine")["seq"] > last, True, "new owner drives")
    return thief


def reconnect(owner, session):
    owner.user(session, "#slow 20 10 #say finished alone")
    owner.next(lambda f: f.get("category") == "task_started")
    last = owner.stream(session)[-1]["seq"]
    owner.close()
    back = Client()
    opened = back.open(session, resume=True, last_seen_seq=last)
    check_equal(opened["type"], "blemeesd.opened", "reattach")
    result = back.result(session)
    check_equal([f["seq"] for f in back.stream(session)], list(range(last + 1, result["seq"] + 1)), "nothing missed")
    return back


def ending(owner, watcher, session):
    last = owner.stream(session)[-1]["seq"]
    closed = owner.request({"type": "blemeesd.close", "session_id": session})
    check_equal(closed["type"], "blemeesd.closed", "closed")
    notice = watcher.next(lambda f: f["type"] == "blemeesd.session_closed")
    check_equal((notice["session_id"], notice["reason"]), (session, "owner_closed"), "session_closed")
    opened = owner.open(session, resume=True, last_seen_seq=last - 1)
    check_equal(opened["last_seq"], last, "history is kept")
    check_equal(owner.next(lambda f: f.get("seq") == last)["type"], "agent.result", "replay after reopen")
    owner.request({"type": "blemeesd.close", "session_id": session, "delete": True})
    opened = owner.open(session, resume=True, last_seen_seq=last)
    check_equal(opened["last_seq"], 0, "history is deleted")
    gap = owner.next(lambda f: f["type"] == "blemeesd.replay_gap")
    check_equal(gap["since_seq"], last, "the client learns that its place is gone")
    owner.request({"type": "blemeesd.close", "session_id": session, "delete": True})


def approvals():
    client = Client()
    session = str(uuid.uuid4())
    client.open(session, answers="owner", options={"claude": {"cwd": CWD, "approvals": True}})

    def respond(row, answer, bad=False, **fields):
        ids = {"session_id": session, "request_id": row["request_id"]}
        return client.request({"type": "blemeesd.respond", **ids, "answer": answer, **fields}, bad)

    def asked(text):
        client.user(session, text)
        notice = client.next(lambda f: f.get("category") == "request_pending")
        return notice["data"]["request"]

    row = asked("#ask mkdir ü")
    check_equal((row["status"], row["session_id"], row["request_type"]), ("pending", session, "command"), "request")
    check_equal(row["payload"]["command"], "mkdir ü", "the whole command")
    shown = json.dumps(row["payload"], ensure_ascii=False, separators=(",", ":"))
    check_equal(hashlib.sha256(shown.encode("utf-8")).hexdigest(), row["shown_hash"], "the hash of what is shown")
    listed = client.request({"type": "blemeesd.list_requests", "session_id": session})
    check_equal((listed["type"], listed["requests"]), ("blemeesd.requests", [row]), "list_requests")
    check_equal(respond(row, {"decision": "perhaps"}, bad=True)["code"], "invalid_message", "malformed answer")
    check_equal(respond(row, {"answers": {}})["code"], "invalid_answer", "answer that does not fit")
    check_equal(respond(row, {"decision": "accept"}, shown_hash="0")["code"], "request_changed", "another hash")
    reply = respond(row, {"decision": "accept"}, shown_hash=row["shown_hash"], source="tui")
    check_equal((reply["type"], reply["repeated"]), ("blemeesd.responded", False), "responded")
    check_equal(reply["request"]["status"], "resolved", "resolved")
    if not any(f["type"] == "agent.result" for f in client.stream(session)):
        client.result(session)
    again = respond(row, {"decision": "decline"})
    check_equal((again["repeated"], again["request"]), (True, reply["request"]), "the first answer counts")
    check_equal(respond({"request_id": "nothing"}, {"decision": "accept"})["code"], "request_unknown", "unknown")
    check_equal(client.request({"type": "blemeesd.list_requests"})["requests"], [], "nothing waits")
    row = asked("#ask ls")
    client.send({"type": "blemeesd.interrupt", "session_id": session})
    client.result(session)
    check_equal(respond(row, {"decision": "accept"})["code"], "request_withdrawn", "interrupted meanwhile")
    client.request({"type": "blemeesd.close", "session_id": session, "delete": True})
    listed = client.request({"type": "blemeesd.list_requests", "session_id": session, "include_orphaned": True, "include_settled": True})
    check_equal(listed["requests"], [], "deleted with its session")
    client.close()


def main():
    handshake()
    liveness()
    refusals()
    client, session = conversation()
    interrupts(client, session)
    watcher = watching(client, session)
    listing(client, session)
    owner = takeover(client, session)
    owner = reconnect(owner, session)
    ending(owner, watcher, session)
    approvals()
    record.flush()
    print(f"ok {checks} checks")


main()
