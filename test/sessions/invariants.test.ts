// The invariants of the daemon, one block each. 1 and 8 are checked by test/architecture.test.ts.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { Feed } from "../../src/sessions/stream/feed.ts";
import { createPublisher } from "../../src/sessions/stream/publish.ts";
import { Stream } from "../../src/sessions/stream/stream.ts";
import { createMemoryStore } from "../../src/store/index.ts";
import { isRunning, pidIn } from "../backends/processes.ts";
import { isOf, newId, say, until } from "../servers/socket/talk.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { RawClient } from "../support/raw-client.ts";
import { ROOT } from "../support/root.ts";
import {
  allRequests,
  askOf,
  Ear,
  FakeStore,
  gate,
  type Heard,
  rowOf,
  type Stage,
  settle,
  stage,
  user,
} from "./fakes.ts";

const delta = { type: "agent.delta", backend: "fake", kind: "text", text: "x" };
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe("an event has one path, each piece of state one writer", () => {
  /** Files in src that match the pattern, ignoring comments. */
  function users(pattern: RegExp): string[] {
    return readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("store/"))
      .filter((name) =>
        pattern.test(readFileSync(join(ROOT, "src", name), "utf8").replace(/^\s*(\/\/|\*|\/\*).*$/gm, "")),
      );
  }

  test.each([
    ["writes to the log", /\bstore\.append\(/, ["sessions/stream/publish.ts"]],
    ["puts frames into a stream", /\bstream\.add\(/, ["sessions/stream/publish.ts"]],
    ["gives out seq", /\.last_seq = batch\.last_seq/, ["sessions/stream/stream.ts"]],
    ["delivers to subscribers", /\bfeed\.deliver\(/, ["sessions/stream/stream.ts"]],
    ["ends a turn", /\bstampResult\(turn,/, ["sessions/core/turn-steps.ts"]],
    ["answers an agent", /\basker\s*\.answer\(/, ["sessions/requests/ledger.ts"]],
    ["owns a session", /this\.#owner = /, ["sessions/stream/audience.ts"]],
  ])("one file %s", (_what, pattern, files) => {
    expect(users(pattern)).toEqual(files);
  });

  test("clients see byte for byte what the log has", async () => {
    const { hub, backend, store, open } = stage();
    const client = { id: "c" };
    const ear = await open(client);
    await hub.send(client, "s", user("x"));
    backend.last.event({ type: "agent.system_init", model: "m" });
    backend.last.say("ünï🦀");
    backend.last.result();
    await settle();
    const logged = store.log.flatMap((batch) => Buffer.from(batch.bytes).toString().trimEnd().split("\n"));
    expect(logged.map((line) => JSON.parse(line))).toEqual(ear.heard);
    expect(ear.heard.length).toBeGreaterThan(3);
  });
});

test("seq is gapless and unique, whatever fails and however often the daemon restarts", async () => {
  const step = fc.constantFrom("publish", "publish", "burst", "fail", "heal", "restart", "flush");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = new FakeStore();
      let publisher = createPublisher(store, silentLog);
      const fresh = (last_seq: number) =>
        new Stream({ row: rowOf("s", { last_seq }), ringSize: 8, store, pressure: () => undefined });
      let stream = fresh(0);
      for (const name of steps) {
        if (name === "fail") store.failing = true;
        else if (name === "heal") store.failing = false;
        else if (name === "flush") await stream.settled();
        else if (name === "restart") {
          await stream.settled();
          stream = fresh(store.log.at(-1)?.last_seq ?? 0);
          publisher = createPublisher(store, silentLog);
        } else for (let n = 0; n < (name === "burst" ? 5 : 1); n += 1) publisher.publish(stream, delta);
      }
      await stream.settled();
      const seqs = store.log.flatMap((batch) =>
        Buffer.from(batch.bytes)
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).seq as number),
      );
      expect(seqs).toEqual(range(1, seqs.length));
    }),
    { numRuns: 150 },
  );
});

describe("every turn ends with exactly one result", () => {
  const ann = { id: "ann" };
  const bob = { id: "bob" };

  /** Everything that can happen to a session with an agent; each is tried, none may throw. */
  const STEPS: Record<string, (on: Stage, ear: Ear) => unknown> = {
    send: ({ hub }) => hub.send(ann, "s", user("x")),
    sendBoth: ({ hub }) => Promise.allSettled([hub.send(ann, "s", user("x")), hub.send(ann, "s", user("y"))]),
    init: ({ backend }) => backend.last.event({ type: "agent.system_init", model: "m" }),
    say: ({ backend }) => backend.last.say("x"),
    result: ({ backend }) => backend.last.result(),
    failure: ({ backend }) => backend.last.result("error"),
    twoResults: ({ backend }) => {
      backend.last.result();
      backend.last.result();
    },
    ownTurn: ({ backend }) => backend.last.sink.turnStarted(),
    crash: ({ backend }) => backend.last.end(false, 1),
    exit0: ({ backend }) => backend.last.end(false, 0),
    auth: ({ backend }) => backend.last.sink.authFailed("log in"),
    interrupt: ({ hub }) => hub.interrupt(ann, "s", () => undefined),
    detach: ({ hub }) => hub.detach(ann),
    reopen: ({ open }) => open(ann, { resume: true }),
    takeover: ({ open }) => open(bob, { resume: true }),
    settle: () => settle(),
  };
  const steps = fc.array(fc.constantFrom(...Object.keys(STEPS)), { minLength: 1, maxLength: 25 });

  test("in any order of messages, events, deaths, interrupts, departures and takeovers", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (names) => {
        const on = stage();
        const ear = await on.open(ann);
        const running: Promise<unknown>[] = [];
        for (const name of names) {
          running.push(Promise.resolve(STEPS[name]?.(on, ear)).catch(() => undefined));
          await settle(1);
        }
        await settle();
        await on.open(ann, { resume: true }).catch(() => undefined);
        await on.hub.close(ann, "s", { delete: false, deleteTranscript: false });
        await Promise.all(running);
        const frames = on.store.log.flatMap((batch) =>
          Buffer.from(batch.bytes)
            .toString()
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as Heard),
        );
        const begun = frames
          .filter((frame) => frame["category"] === "task_started")
          .map((frame) => (frame["data"] as { turn_id: string }).turn_id);
        const ended = frames
          .filter((frame) => frame.type === "agent.result")
          .map((frame) => frame["turn_id"]);
        expect(ended).toEqual(begun);
        expect(new Set(begun).size).toBe(begun.length);
        expect(on.backend.alive).toEqual([]);
        expect(on.store.saved.get("s")?.turn).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});

describe("a request is stored before it is shown, answered from the store, dispatched at most once", () => {
  const ann = { id: "ann" };
  const respond = ({ hub }: Stage, request_id: string, decision: "accept" | "decline") =>
    hub.respond(ann, { session_id: "s", request_id, answer: { decision }, source: "api" });

  async function asked(): Promise<Stage & { ear: Ear; request_id: string }> {
    const on = stage();
    const ear = await on.open(ann);
    on.backend.last.ask(askOf("n1"));
    await settle();
    const [row] = await allRequests(on.hub, {});
    return { ...on, ear, request_id: row?.request_id ?? "" };
  }

  test("a request that is not stored is not visible: no frame, no row", async () => {
    const on = stage();
    const ear = await on.open(ann);
    const { open: release, passed } = gate();
    on.store.held = passed;
    on.backend.last.ask(askOf("n1"));
    await settle();
    expect(on.store.orders.at(-1)?.requests).toHaveLength(1);
    expect(ear.of("agent.notice")).toEqual([]);
    expect(await allRequests(on.hub, { orphaned: true, settled: true })).toEqual([]);
    release();
    await settle();
    expect(ear.of("agent.notice")).toMatchObject([{ category: "request_pending", seq: 1 }]);
    expect(await allRequests(on.hub, {})).toMatchObject([{ status: "pending" }]);
  });

  test("the agent gets what the store has", async () => {
    const on = await asked();
    const load = on.store.request.bind(on.store);
    on.store.request = async (...ids) => {
      const row = await load(...ids);
      return row === undefined ? undefined : { ...row, answer: { decision: "decline", message: "stored" } };
    };
    await respond(on, on.request_id, "accept");
    expect(on.backend.last.answered).toEqual([
      { native_id: "n1", answer: { decision: "decline", message: "stored" } },
    ]);
  });

  test("of many simultaneous answers the agent gets one, and every client gets that one", async () => {
    const on = await asked();
    const all = await Promise.all(
      range(1, 8).map((n) => respond(on, on.request_id, n % 2 === 1 ? "accept" : "decline")),
    );
    expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: { decision: "accept" } }]);
    expect(all.map(({ repeated }) => repeated)).toEqual([false, ...range(2, 8).map(() => true)]);
    expect(all.every(({ request }) => JSON.stringify(request.answer) === '{"decision":"accept"}')).toBe(true);
  });
});

test("a reader receives every seq once, in order, or exactly what is missing", async () => {
  const step = fc.constantFrom("publish", "burst", "full", "room", "settle");
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.nat(5),
      fc.constantFrom("owner", "watcher"),
      async (steps, after_seq, role) => {
        const store = createMemoryStore();
        const publisher = createPublisher(store, silentLog);
        const stream = new Stream({ row: rowOf("s"), ringSize: 6, store, pressure: () => undefined });
        for (let n = 0; n < 10; n += 1) publisher.publish(stream, delta);
        await stream.settled();
        const ear = new Ear();
        const feed = new Feed({
          client: { id: "c" },
          subscriber: ear,
          stream,
          role: role as "owner" | "watcher",
          after_seq,
        });
        feed.start();
        for (const name of steps) {
          if (name === "full") ear.full = true;
          else if (name === "settle") await settle(1);
          else if (name === "room") {
            ear.full = false;
            feed.onDrain();
          } else for (let n = 0; n < (name === "burst" ? 9 : 1); n += 1) publisher.publish(stream, delta);
        }
        ear.full = false;
        await stream.settled();
        feed.onDrain();
        await settle(6);
        let next = after_seq + 1;
        for (const frame of ear.heard) {
          if (frame.type === "gap") {
            expect(frame["since_seq"]).toBe(next - 1);
            next = Number(frame["first_available_seq"]);
          } else if (frame.type !== "lagging") {
            expect(frame["seq"]).toBe(next);
            next += 1;
          }
        }
        expect(next).toBe(stream.last_seq + 1);
      },
    ),
    { numRuns: 300 },
  );
});

describe.skipIf(process.platform !== "linux")("no process outlives its purpose", () => {
  const place = mkdtempSync(join(tmpdir(), "blemees-left-"));

  /** A turn whose agent runs a tool, with a detached process beside it; returns all three pids. */
  async function family(client: RawClient, session_id: string, agent: number): Promise<number[]> {
    const sleeper = (name: string) =>
      `sh -c 'echo $$ > ${join(place, `${session_id}.${name}`)}; exec sleep 1000'`;
    say(client, session_id, `#orphan ${sleeper("orphan")} #tool exec ${sleeper("tool")}`);
    await client.next(isOf("agent.message", session_id));
    const pids = await Promise.all(
      ["orphan", "tool"].map((name) => pidIn(join(place, `${session_id}.${name}`))),
    );
    return [agent, ...pids];
  }

  /** How it ends, and which of agent, orphan and tool must be gone then. */
  const ENDS: [
    what: string,
    gone: number[],
    end: (daemon: TestDaemon, client: RawClient, session_id: string) => Promise<unknown>,
  ][] = [
    [
      "an interrupt ends the tool and what this turn detached",
      [1, 2],
      async (_daemon, client, session_id) => {
        client.send({ type: "blemeesd.interrupt", session_id });
        await client.next(isOf("agent.result", session_id));
      },
    ],
    [
      "a close ends all",
      [0, 1, 2],
      (_daemon, client, session_id) =>
        client.request({ type: "blemeesd.close", session_id } as { id?: string }),
    ],
    [
      "a crash of the agent ends all",
      [0, 1, 2],
      async (_daemon, client, session_id) => {
        const opened = client.frames.find(isOf("blemeesd.opened", session_id));
        process.kill(Number(opened?.["subprocess_pid"]), "SIGKILL");
        await client.next(isOf("agent.result", session_id));
      },
    ],
    ["a stop of the daemon ends all", [0, 1, 2], (daemon) => daemon.kill("SIGTERM")],
  ];

  test.each(ENDS)("%s", async (_what, gone, end) => {
    const daemon = await startDaemon({ env: { BLEMEESD_SHUTDOWN_GRACE: "0" } });
    try {
      const client = await daemon.connect();
      const session_id = newId();
      const opened = await client.open(session_id);
      const pids = await family(client, session_id, Number(opened["subprocess_pid"]));
      expect(pids.every(isRunning)).toBe(true);
      await end(daemon, client, session_id);
      await until(
        async () => gone.map((index) => pids[index]).filter((pid) => isRunning(Number(pid))),
        (left) => left.length === 0,
      );
    } finally {
      await daemon.close();
    }
  });

  // Known bug: base/child.ts sweeps once, so processes forked during the sweep survive. Remove `.fails` with the fix.
  test("an agent that dies while its tool is still forking leaves nothing", async () => {
    const daemon = await startDaemon();
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    const fork = "i=0; while [ $i -lt 150 ]; do sleep 1000 & i=$((i+1)); done; wait";
    await client.turn(session_id, `#crash-tool ${fork}`);
    await client.request({ type: "blemeesd.close", session_id } as { id?: string });
    await daemon.close();
    const left = processesOf(session_id);
    for (const pid of left) process.kill(pid, "SIGKILL");
    expect(left).toEqual([]);
  });

  /** Every process that carries the session's id in its environment. */
  function processesOf(session_id: string): number[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`BLEMEES_SESSION_ID=${session_id}`);
      } catch {
        return false; // it has just ended
      }
    });
  }

  test("a killed daemon without run directories leaves them, and the next one on the socket ends them", async () => {
    const env = { BLEMEESD_AGENT_STDIO: "pipes" };
    const first = await startDaemon({ env });
    const client = await first.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    const pids = await family(client, session_id, Number(opened["subprocess_pid"]));
    await first.kill("SIGKILL");
    const second = await startDaemon({ home: first.home, env });
    try {
      await until(
        async () => pids.filter(isRunning),
        (left) => left.length === 0,
      );
    } finally {
      await second.close();
    }
  });
});
