// The demo as the daemon runs it: `demian acp --demo`, the built program, in its own home.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createDemoBackend } from "../../../src/backends/acp/demo.ts";
import type { Answer } from "../../../src/protocol/requests.ts";
import { ROOT } from "../../support/root.ts";
import { startBackend, testBackend, user } from "../conformance.ts";

const home = mkdtempSync(join(tmpdir(), "demo-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: home };
const program = { script: join(ROOT, "dist/demian.js"), version: "1.0.0" };
const setup = {
  backend: createDemoBackend(program, { env, lingerMs: 0 }),
  options: { pace_ms: 0, cwd: home },
};

afterAll(async () => {
  await setup.backend.close?.();
  rmSync(home, { recursive: true, force: true });
});

testBackend("demo", {
  ...setup,
  prompts: { quick: "hello", slow: "slow", many: "word ".repeat(500), ask: "please approve" },
});

async function answered(prompt: string, ...answers: Answer[]) {
  const { run, sink } = await startBackend(setup);
  for (const [turn, answer] of answers.entries()) {
    await run.send(user(prompt));
    const ask = await sink.untilAsk(turn + 1);
    await run.answer?.(ask.native_id, answer);
    await sink.untilResults(turn + 1);
  }
  return { run, sink };
}

describe("the demo agent asks", () => {
  test("for permission to run a command, and shows the command", async () => {
    const { sink } = await answered("approve", { decision: "accept" });
    expect(sink.asks).toMatchObject([{ request_type: "command", payload: { command: "rm -rf build" } }]);
    const use = sink.events.find((event) => event.type === "agent.tool_use");
    expect(sink.asks[0]?.item_id).toBe(use?.tool_use_id);
    expect(sink.texts).toEqual(["It was allowed, so I pretended to run `rm -rf build`."]);
  });

  test("only once after an approval for the session", async () => {
    const { run, sink } = await answered("approve", { decision: "acceptForSession" });
    await run.send(user("approve"));
    await sink.untilResults(2);
    expect(sink.asks).toHaveLength(1);
    expect(sink.texts).toHaveLength(2);
  });

  test("again after an approval for once", async () => {
    const { sink } = await answered("approve", { decision: "accept" }, { decision: "accept" });
    expect(new Set(sink.asks.map((ask) => ask.native_id)).size).toBe(2);
  });

  test("and repeats the message of a refusal", async () => {
    const { sink } = await answered("approve", { decision: "decline", message: "not today" });
    expect(sink.texts).toEqual(['It was declined: "not today". I did nothing.']);
    const result = sink.events.find((event) => event.type === "agent.tool_result");
    expect(result).toMatchObject({ is_error: true });
  });

  test.each(["approve", "ask me"])("%s: cancel stops the turn", async (prompt) => {
    const { sink } = await answered(prompt, { decision: "cancel" });
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(sink.withdrawals).toEqual([]);
  });

  test("a question, and accepts its answer", async () => {
    const { sink } = await answered(
      "ask me",
      { answers: { answer: "Blue" } },
      { answers: { answer: ["Red"] } },
    );
    expect(sink.asks[0]?.request_type).toBe("user_input");
    expect(sink.asks[0]?.payload.questions).toMatchObject([
      { id: "answer", options: [{ label: "Red" }, { label: "Blue" }] },
    ]);
    expect(sink.texts).toEqual(["You said Blue.", "You said Red."]);
  });

  test("and a prompt that asks for a tool still gets the tool", async () => {
    const { run, sink } = await startBackend(setup);
    await run.send(user("ask for a tool"));
    await sink.untilResults(1);
    expect(sink.asks).toEqual([]);
  });
});
