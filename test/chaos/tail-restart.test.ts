// `sm tail -f` over kills of the daemon, many times. Not in the gate: one of 45 runs followed nothing after the new start,
// and why is not known yet. Each wait ends with what was printed until then.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { BuiltProgram } from "../cli/built-program.ts";
import { startDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

const ROUNDS = 50;

let program: BuiltProgram;
beforeAll(() => {
  program = new BuiltProgram("sm");
});
afterAll(() => program.remove());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
  "tail -f continues after kill %i",
  async () => {
    const first = await startDaemon();
    const run = (...args: string[]) => program.run(first.socket, args);
    const id = (await run("spawn", "demo", "-o", "pace_ms=0", "hello")).stdout.trim();
    await run("wait", id);
    const tail = program.start(first.socket, ["tail", "-f", "-n", "0", id]);
    closers.push(() => void tail.kill("SIGKILL"));
    let printed = "";
    for (const stream of [tail.stdout, tail.stderr])
      stream.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
      });
    const prints = (text: string) => vi.waitFor(() => expect(printed).toContain(text), PATIENT);
    // Only what comes after its start is followed, and that moment is not visible.
    for (let sent = 1; sent <= 100 && !printed.includes('You said: "before the crash'); sent += 1)
      await run("send", id, "--wait", `before the crash ${sent}`);
    await prints('You said: "before the crash');
    await first.kill("SIGKILL");
    await prints("reconnecting");
    const second = await startDaemon({ home: first.home });
    closers.push(() => second.close());
    await run("send", id, "--wait", "after the crash");
    await prints('You said: "after the crash"');
    const seen = printed.match(/You said: "before the crash \d+"/g) ?? [];
    expect(new Set(seen).size).toBe(seen.length);
  },
);
