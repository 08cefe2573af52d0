// Streams over HTTP: each event once and in order, whatever happens to the daemon.
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { HttpClient, type StreamItem } from "../../src/client/index.ts";
import { ChangeView } from "../../src/protocol/wire/http.ts";
import { anError, beginEvents, type Received, ScriptedHttp } from "./scripted-http.ts";
import { delta } from "./scripted-server.ts";

type Emit = ReturnType<typeof beginEvents>;
type Script = (emit: Emit, received: Received, response: ServerResponse) => void;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The n-th connection gets the n-th script. */
async function world(scripts: readonly Script[]): Promise<{ http: HttpClient; server: ScriptedHttp }> {
  const server = await ScriptedHttp.start((received, response) => {
    const script = scripts[server.received.length - 1];
    if (script === undefined) return anError("session_unknown");
    script(beginEvents(response), received, response);
    return undefined;
  });
  closers.push(() => server.close());
  return {
    http: new HttpClient({ socket: server.path, retry: { initialMs: 1, maxMs: 2, attempts: 50 } }),
    server,
  };
}

const frames = (emit: Emit, ...seqs: number[]): void => {
  for (const seq of seqs) emit("agent.delta", delta("s1", seq), seq);
};
const cut = (response: ServerResponse): void => void response.destroy();
const DELETED = { session_id: "s1", reason: "deleted" };

async function read(items: AsyncIterable<StreamItem>): Promise<(number | string | null)[]> {
  const seen: (number | string | null)[] = [];
  for await (const item of items) seen.push(item.kind === "frame" ? item.seq : item.kind);
  return seen;
}

describe("the events of a session", () => {
  test("come once and in order across a cut, after the last one seen", async () => {
    const { http, server } = await world([
      (emit, _received, response) => {
        frames(emit, 4, 5);
        emit("agent.delta", delta("s1", 6), 6);
        setImmediate(() => cut(response));
      },
      (emit) => {
        frames(emit, 6, 7);
        emit("closed", DELETED);
      },
    ]);
    expect(await read(http.follow("s1", { since_seq: 3 }))).toEqual([4, 5, 6, 7, "closed"]);
    expect(server.received[0]?.query).toEqual({ since_seq: "3" });
    expect(Number(server.received[1]?.query["since_seq"])).toBeGreaterThanOrEqual(3);
    expect(server.received[0]?.headers.accept).toBe("text/event-stream");
  });

  test("a daemon that disconnects while the stream is being opened is found again", async () => {
    const { http } = await world([
      (_emit, _received, response) => cut(response),
      (emit) => {
        frames(emit, 1);
        emit("closed", DELETED);
      },
    ]);
    expect(await read(http.follow("s1", { since_seq: 0 }))).toEqual([1, "closed"]);
  });

  test("a daemon that is away for a while is found again", async () => {
    const { http, server } = await world([
      (emit) => {
        frames(emit, 1);
        setImmediate(() => void server.kill().then(() => server.listen()));
      },
      (emit) => {
        frames(emit, 2);
        emit("closed", DELETED);
      },
    ]);
    expect(await read(http.follow("s1", { since_seq: 0 }))).toEqual([1, 2, "closed"]);
  });

  test("a gap is reported, and a frame that was never stored is shown and does not move the cursor", async () => {
    const { http, server } = await world([
      (emit, _received, response) => {
        emit("gap", { since_seq: 0, first_available_seq: 5 });
        frames(emit, 5);
        const { seq: _none, ...lost } = delta("s1", 0);
        emit("agent.delta", { ...lost, persisted: false });
        response.end();
      },
      (emit) => emit("closed", DELETED),
    ]);
    expect(await read(http.follow("s1", { since_seq: 0 }))).toEqual(["gap", 5, null, "closed"]);
    expect(server.received[1]?.query).toEqual({ since_seq: "5" });
  });

  test("a session that the daemon only unloaded is still followed", async () => {
    const { http } = await world([
      (emit, _received, response) => {
        frames(emit, 1);
        emit("closed", { session_id: "s1", reason: "idle_timeout" });
        response.end();
      },
      (emit) => {
        frames(emit, 2);
        emit("closed", DELETED);
      },
    ]);
    expect(await read(http.follow("s1", { since_seq: 0 }))).toEqual([1, 2, "closed"]);
  });

  test("an abort ends it without an error", async () => {
    const abort = new AbortController();
    const { http } = await world([(emit) => frames(emit, 1, 2)]);
    const seen: unknown[] = [];
    for await (const item of http.follow("s1", { since_seq: 0, signal: abort.signal })) {
      seen.push(item.kind);
      if (seen.length === 2) abort.abort();
    }
    expect(seen).toEqual(["frame", "frame"]);
  });

  test("a reader that stops closes the connection", async () => {
    let isGone: (value?: unknown) => void = () => undefined;
    const gone = new Promise((resolve) => {
      isGone = resolve;
    });
    const { http } = await world([
      (emit, _received, response) => {
        response.once("close", isGone);
        frames(emit, 1, 2);
      },
    ]);
    for await (const _item of http.follow("s1")) break;
    await gone;
  });

  test("a session that does not exist is an error, not a wait", async () => {
    const { http } = await world([]);
    await expect(read(http.follow("nobody"))).rejects.toMatchObject({ code: "session_unknown" });
  });
});

test("the changes of all sessions start over after a lost connection, with a reset", async () => {
  const removed = (session_id: string) => ChangeView.parse({ kind: "session_removed", session_id });
  const { http } = await world([
    (emit, _received, response) => {
      emit("session_removed", removed("a"));
      response.end();
    },
    (emit) => {
      emit("reset", { kind: "reset" });
      emit("session_removed", removed("b"));
    },
  ]);
  const seen: ChangeView[] = [];
  for await (const change of http.changes()) {
    seen.push(change);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual([removed("a"), { kind: "reset" }, removed("b")]);
});
