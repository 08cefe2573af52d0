// The demo's statements about a decision are true even if no user made one: a flag allows it, or there is no user to
// ask.
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

describe("the user is not asked", () => {
  test("a flag allows it: the demo does not say that the user did", async () => {
    expect(await answerTo("approve", { yes: true })).toBe(
      "It was allowed, so I pretended to run `rm -rf build`.",
    );
  });

  test("without a user: it was not allowed, and not declined", async () => {
    expect(await answerTo("approve")).toBe("It was not allowed. I did nothing.");
  });

  test("a question without a user gets no answer", async () => {
    expect(await answerTo("ask me")).toBe("I got no answer.");
  });
});
