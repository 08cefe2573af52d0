// clients/python against the real daemon: its examples, its streams over a kill -9, and its types.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import { ROOT } from "../support/root.ts";

const HOME = join(ROOT, "clients/python");
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const examples = [...readFileSync(join(HOME, "examples.py"), "utf8").matchAll(/^def (\w+)\(client/gm)].map(
  ([, name = ""]) => name,
);

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startDaemon();
});
afterEach(() => daemon.close());

interface Python {
  output: string;
  ended: Promise<number | null>;
}

function python(args: readonly string[], socket = daemon.socket): Python {
  const child = spawn("python3", ["-B", ...args], {
    cwd: HOME,
    env: { PATH: process.env["PATH"], BLEMEESD_SOCKET: socket },
  });
  const running: Python = {
    output: "",
    ended: new Promise((resolve) => child.once("close", resolve)),
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      running.output += chunk.toString();
    });
  }
  return running;
}

async function run(args: readonly string[], socket?: string): Promise<string> {
  const running = python(args, socket);
  const code = await running.ended;
  expect(code, running.output).toBe(0);
  return running.output;
}

describe.skipIf(!hasPython)("the Python client", () => {
  test("every example runs, and does what its name says", async () => {
    expect(examples).toEqual(["one_turn", "stream", "approve", "three_at_once", "mistakes"]);
    const output = await run(["examples.py"]);
    expect(output).toMatch(/# one_turn\nThe demo clock says .*\n/);
    expect(output).toMatch(/# stream\nThis is the blemees demo agent.*\n/);
    expect(output).toMatch(/# approve\nallowed: .*rm -rf build\nIt was allowed.*\n/);
    expect(output).toMatch(/# three_at_once\n\[1, 1, 1\]\n/);
    expect(output).toMatch(/# mistakes\nsession_unknown: .*nothing/);
  });

  test("a stream has each event once and in order over a kill -9 of the daemon", async () => {
    const http = new HttpClient({ socket: daemon.socket });
    const { session } = await http.spawn({ backend: "demo", prompt: "approve" });
    const id = session.session_id;
    const follow = [
      "from blemees import Client",
      `for event in Client().session("${id}").events(since_seq=0):`,
      '    print("seq", event["seq"], event["type"], flush=True)',
      '    if event["type"] == "agent.result": break',
    ].join("\n");
    const reader = python(["-c", follow]);
    await vi.waitFor(() => expect(reader.output).toContain("agent.notice"), PATIENT);
    await http.wait(id, { until: ["blocked"] });
    const { home } = daemon;
    await daemon.kill("SIGKILL");
    daemon = await startDaemon({ home });
    const again = new HttpClient({ socket: daemon.socket });
    const [request] = await again.allRequests({ session_id: id });
    await again.respond(id, request?.request_id ?? "", { decision: "accept" });
    expect(await reader.ended, reader.output).toBe(0);
    const seqs = [...reader.output.matchAll(/^seq (\d+)/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(reader.output.match(/agent\.result/g)).toHaveLength(1);
  });

  test("without a daemon it says where it looked, at once", async () => {
    const code =
      "import blemees\ntry: blemees.Client().status()\nexcept blemees.BlemeesError as e: print(e.code, e)";
    expect(await run(["-c", code], "/tmp/no-such.sock")).toMatch(
      /^no_daemon no daemon at \/tmp\/no-such\.sock \(/,
    );
  });

  test("every generated type can be resolved", async () => {
    const code = [
      "import typing, blemees.types as t",
      "found = [v for v in vars(t).values() if hasattr(v, '__required_keys__')]",
      "for one in found: typing.get_type_hints(one)",
      "print(len(found) > 100, t.SessionView.__required_keys__ >= {'session_id', 'turns'})",
    ].join("\n");
    expect(await run(["-c", code])).toBe("True True\n");
  });
});

test.skipIf(hasPython)("python3 is missing: the Python client was not run", () => undefined);
