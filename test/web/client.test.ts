// The page's client against a real daemon over loopback: entering by a link, what happens in a session, a restart.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import type { HttpApi } from "../../src/client/http/api.ts";
import { HttpClient } from "../../src/client/http.ts";
import { shareChanges } from "../../src/client/view/share.ts";
import { openSource } from "../../src/client/view/source.ts";
import type { RequestRow, View } from "../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../src/client/view.ts";
import { createApi } from "../../web/src/api/client.ts";
import { type Slots, UNLIMITED } from "../../web/src/api/slots.ts";
import { withSlots } from "../../web/src/api/streams.ts";
import { type BrowserEnv, enter } from "../../web/src/auth.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

/** Without a pause between words. */
const QUICK = { pace_ms: 0 };

interface Entered {
  daemon: TestDaemon;
  origin: string;
  token: string;
}

let shared: Entered;
beforeAll(async () => {
  shared = await entered();
});
afterAll(() => shared.daemon.close());

async function entered(): Promise<Entered> {
  const daemon = await startDaemon();
  const { hash, origin } = new URL(
    (await new HttpClient({ socket: daemon.socket }).webLink({ port: 0 })).url,
  );
  const entrance = await enter(placeAt(origin, hash));
  if (entrance.kind === "out") throw new Error(`the link was refused: ${entrance.why}`);
  return { daemon, origin, token: entrance.token };
}

function placeAt(origin: string, hash: string): BrowserEnv {
  const nothing = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  return {
    location: { hash, pathname: "/" },
    history: { replaceState: () => undefined },
    storage: nothing,
    fetch: (path, init) => fetch(origin + path, init),
  };
}

/** A live view; `until` resolves when it matches. */
function watching(client: HttpApi, session_id: string, slots = UNLIMITED) {
  let view: View = emptyView();
  let check = (): void => undefined;
  const source = openSource(shareChanges(withSlots(client, slots, 20)), session_id, (inputs) => {
    view = applyInputs(view, inputs);
    check();
  });
  const until = <T>(find: (view: View) => T | undefined | false): Promise<T> =>
    new Promise((resolve) => {
      check = () => {
        const found = find(view);
        if (found !== undefined && found !== false) resolve(found);
      };
      check();
    });
  return { until, source, view: () => view };
}
const textIn = (view: View, words: string): boolean =>
  view.entries.some((entry) => entry.kind === "text" && !entry.isOpen && entry.text.includes(words));

describe("client", () => {
  test("a wrong token is refused, and the page is informed", async () => {
    let refusals = 0;
    const client = createApi({ origin: shared.origin, token: "wrong", onRefused: () => (refusals += 1) });
    await expect(client.sessions()).rejects.toMatchObject({ code: "unauthorized" });
    expect(refusals).toBe(1);
  });

  test("a request is seen, answered with its hash, and the agent continues", async () => {
    const client = createApi(shared);
    const { session } = await client.spawn({ backend: "demo", prompt: "approve", options: QUICK });
    const { until, source } = watching(client, session.session_id);
    const request = await until((view): RequestRow | undefined => view.requests[0]);
    await expect(client.input(session.session_id, { text: "more" })).rejects.toMatchObject({
      code: "pending_structured_request",
    });
    const { session_id, request_id, shown_hash } = request;
    await expect(
      client.respond(session_id, request_id, { decision: "accept" }, { shown_hash: "0".repeat(64) }),
    ).rejects.toMatchObject({ code: "request_changed" });
    const reply = await client.respond(
      session_id,
      request_id,
      { decision: "decline", message: "not today" },
      { shown_hash, source: "web" },
    );
    expect(reply.request).toMatchObject({
      resolution_source: "web",
      answer: { decision: "decline", message: "not today" },
    });
    await until((view) => textIn(view, "not today") && view.requests.length === 0);
    await source.close();
  });

  test("where there is no connection for a stream, the session is read in pieces", async () => {
    const none: Slots = { take: async () => undefined };
    const client = createApi(shared);
    const { session } = await client.spawn({ backend: "demo", prompt: "hello", options: QUICK });
    const { until, source } = watching(client, session.session_id, none);
    await until((view) => textIn(view, 'You said: "hello"') && view.link.state === "live");
    await source.close();
  });

  test("an error has the daemon's code and message, a daemon that is away has ours", async () => {
    const client = createApi(shared);
    await expect(client.session("nobody")).rejects.toMatchObject({ code: "session_unknown" });
    const away = createApi({ ...shared, origin: "http://127.0.0.1:9" });
    const error = await away.sessions().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: "connection_lost" });
  });

  test("a restart of the daemon loses nothing and repeats nothing", async () => {
    const { daemon, origin, token } = await entered();
    const client = createApi({ origin, token });
    const { session } = await client.spawn({ backend: "demo", prompt: "one", options: QUICK });
    const { until, source, view } = watching(client, session.session_id);
    await until((now) => textIn(now, '"one"') && now.session?.turn === undefined);
    const before = view().entries.map(({ id }) => id);
    await daemon.kill("SIGTERM");
    await until((now) => now.link.state === "lost");
    const again = await startDaemon({ home: daemon.home, args: ["--http", new URL(origin).port] });
    await until((now) => now.link.state === "live");
    await client.input(session.session_id, { text: "two" });
    await until((now) => textIn(now, '"two"'));
    const ids = view().entries.map(({ id }) => id);
    expect(ids.slice(0, before.length)).toEqual(before);
    expect(new Set(ids).size).toBe(ids.length);
    await source.close();
    await again.close();
  });
});
