// What the demo says about a decision is true also when no person made one: a flag allows it, or nobody can be asked.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { asDemo } from "../../../src/runtime/demo/index.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";

const cwd = mkdtempSync(join(tmpdir(), "demo-claims-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function answerTo(text: string, order: { yes?: boolean } = {}): Promise<string> {
  const runtime = await createRuntime(asDemo({ cwd, env: { HOME: cwd } }));
  const session = await runtime.openSession({
    ...order,
    model: "demo-scripted@0ms",
    ask: () => Promise.resolve({ decision: "deny", by: "nobody" }),
    onEvent: () => undefined,
  });
  const report = await session.run({ text });
  await session.close();
  await runtime.close();
  return report.text;
}

describe("nobody is asked", () => {
  test("a flag allows it: the demo does not say that a person did", async () => {
    expect(await answerTo("approve", { yes: true })).toBe(
      "It was allowed, so I pretended to run `rm -rf build`.",
    );
  });

  test("nobody can be asked: it was not allowed, and nobody declined it", async () => {
    expect(await answerTo("approve")).toBe("It was not allowed. I did nothing.");
  });

  test("a question without anybody there gets no answer, and nobody refused one", async () => {
    expect(await answerTo("ask me")).toBe("I got no answer.");
  });
});
