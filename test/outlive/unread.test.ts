// An agent that ends while no daemon runs loses nothing that it has written: the next daemon reads its output to the end,
// and only then reports its end. On the built program.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import type { Frame } from "./checker.ts";
import { ACP, CLAUDE, CODEX, DEMO, furnish, type Kind } from "./kinds.ts";
import { findLeft, killLeft } from "./proof.ts";

interface World {
  home: string;
  env: Record<string, string>;
  daemon: TestDaemon;
  http: HttpClient;
  /** The next daemon. */
  start(): Promise<void>;
}

async function newWorld(): Promise<World> {
  const { home, env } = furnish();
  const start = async () => {
    const daemon = await startDaemon({ home, env });
    onTestFinished(() => daemon.close());
    Object.assign(world, { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }) });
  };
  const world = { home, env, start } as World;
  onTestFinished(() => killLeft(home));
  await start();
  return world;
}

async function framesOf({ http }: World, session_id: string): Promise<Frame[]> {
  const { events } = await http.events(session_id, { limit: 1000 });
  return events.map(({ frame }) => frame as Frame);
}

const ofType = (frames: readonly Frame[], type: string) => frames.filter((frame) => frame.type === type);

function textOf(frames: readonly Frame[]): string {
  return ofType(frames, "agent.delta")
    .filter((frame) => frame["kind"] === "text")
    .map((frame) => frame["text"])
    .join("");
}

/** Everything that the agents of this home have written. */
function outputOf(home: string): string {
  const runs = join(home, "state/blemees/runs");
  return readdirSync(runs)
    .map((id) => readFileSync(join(runs, id, "out"), "utf8"))
    .join("");
}

/** All of them, by force, as the kernel does when memory is short. */
async function killAgents(home: string): Promise<void> {
  await vi.waitFor(() => {
    killLeft(home);
    expect(findLeft(home)).toEqual([]);
  }, PATIENT);
}

const TICKS = 40;
const SCRIPT = { label: "unread", ticks: TICKS, asks: false };
/** What each writes last in a turn. */
const ENDS = new Map<Kind, string>([
  [CLAUDE, '"type":"result"'],
  [CODEX, '"turn/completed"'],
  [ACP, '"stopReason"'],
  [DEMO, '"stopReason"'],
]);

async function beginTurn(world: World, kind: Kind, prompt = kind.prompt(SCRIPT)): Promise<string> {
  const { backend, options } = kind;
  const { session } = await world.http.spawn({ backend, options, prompt });
  await vi.waitFor(
    async () => expect(textOf(await framesOf(world, session.session_id)).length).toBeGreaterThan(20),
    PATIENT,
  );
  return session.session_id;
}

describe.skipIf(process.platform !== "linux")("an agent that ends while no daemon runs", () => {
  test.each([...ENDS])(
    "$backend: its turn ends with the result that it wrote, every tick once",
    async (kind, end) => {
      const world = await newWorld();
      const session_id = await beginTurn(world, kind);
      await world.daemon.kill("SIGKILL");
      await vi.waitFor(() => expect(outputOf(world.home)).toContain(end), PATIENT);
      await killAgents(world.home);
      await world.start();
      await world.http.wait(session_id, { until: ["idle"] });
      const frames = await framesOf(world, session_id);
      expect(textOf(frames)).toBe(kind.text(SCRIPT, undefined));
      expect(ofType(frames, "agent.result")).toMatchObject([{ subtype: "success" }]);
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at + 1));
      expect(ofType(frames, "blemeesd.error")).toEqual([]);
      await vi.waitFor(
        () => expect(readdirSync(join(world.home, "state/blemees/runs"))).toEqual([]),
        PATIENT,
      );
    },
  );

  test.each([CLAUDE, CODEX, ACP])(
    "$backend: a turn without a result is read as far as it goes, and ends once",
    async (kind) => {
      const world = await newWorld();
      const session_id = await beginTurn(world, kind, kind.prompt({ ...SCRIPT, ticks: 10_000 }));
      await world.daemon.kill("SIGKILL");
      const before = outputOf(world.home).length;
      await vi.waitFor(() => expect(outputOf(world.home).length).toBeGreaterThan(before + 5000), PATIENT);
      await killAgents(world.home);
      const ticks = new Set(outputOf(world.home).match(/(?:tick|word)\d+ /g)).size;
      await world.start();
      await world.http.wait(session_id, { until: ["idle"] });
      const frames = await framesOf(world, session_id);
      expect(textOf(frames)).toBe(kind.text({ ...SCRIPT, ticks }, undefined));
      expect(ofType(frames, "agent.result")).toMatchObject([
        { subtype: "error", error: { code: "backend_crashed" } },
      ]);
    },
  );

  test("its request, which nobody saw, is shown and orphaned; the owner's next message is taken at once", async () => {
    const world = await newWorld();
    const session_id = await beginTurn(world, CLAUDE, `${CLAUDE.prompt(SCRIPT)} #ask late`);
    await world.daemon.kill("SIGKILL");
    await vi.waitFor(() => expect(outputOf(world.home)).toContain("can_use_tool"), PATIENT);
    await killAgents(world.home);
    await world.start();
    const client = await world.daemon.connect();
    await client.open(session_id, {}, { backend: "claude", resume: true, last_seen_seq: 0 });
    client.send({ type: "agent.user", session_id, message: { role: "user", content: "#say again" } });
    await client.next((frame) => frame["type"] === "agent.result" && frame["subtype"] === "success");
    expect(client.frames.filter((frame) => frame["code"] === "session_busy")).toEqual([]);
    const states = (await framesOf(world, session_id)).flatMap((frame) => {
      const { request } = (frame["data"] ?? {}) as { request?: { status: string; error_code?: string } };
      return request === undefined ? [] : [[request.status, request.error_code]];
    });
    expect(states).toEqual([
      ["pending", undefined],
      ["orphaned", "server_restarted"],
    ]);
  });
});
