// The announcement of a result: frames before it are stored with their own place in the output.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createClaudeBackend } from "../../../src/backends/claude/index.ts";
import { startBackend, user } from "../conformance.ts";
import { isRunning } from "../processes.ts";
import { tempDir } from "../temp-dir.ts";
import { fakeHome } from "./fake.ts";

/** A stub that answers every line with a delta and a result in one write; the text is not ASCII. */
const STUB = `#!/bin/sh
[ "$1" = --version ] && { echo "1.0.0 (stub)"; exit 0; }
while read -r line; do
  printf '%s\\n%s\\n' '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"grüße"}}}' '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'
done
`;

test("a result in one read with other output is announced, and the mark then is the end of what came before", async () => {
  const home = fakeHome();
  const bin = join(home.home, "stub");
  writeFileSync(bin, STUB, { mode: 0o755 });
  const root = tempDir("runs");
  const backend = createClaudeBackend({ bin, env: home.env, runs: { root, version: "1" } });
  const { run, sink } = await startBackend({ backend, options: { cwd: home.cwd } }, {});
  onTestFinished(() => run.stop("now"));
  const seen: { types: string[]; out: number }[] = [];
  const ending = () => {
    seen.push({ types: sink.events.map(({ type }) => type), out: run.keeper?.mark.out ?? -1 });
  };
  Object.assign(sink, { ending });
  await run.send(user("hello"));
  await sink.untilResults(1);
  const output = readFileSync(join(root, run.keeper?.mark.run_id ?? "", "out"));
  expect(seen).toEqual([{ types: ["agent.delta"], out: output.indexOf('{"type":"result"') }]);
  expect(run.keeper?.mark.out).toBe(output.length);
  expect(isRunning(run.pid ?? 0)).toBe(true);
});
