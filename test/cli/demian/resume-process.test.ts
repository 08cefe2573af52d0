// demian, killed in the middle of a tool call, and its conversation continued with each kind of provider.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { anthropicReply, chatReply, startModelServer } from "../../support/model-server.ts";
import { completed, created, message, responsesEvents } from "../../support/responses.ts";
import { BuiltDemian } from "./built-demian.ts";
import { run } from "./in-process.ts";
import { World } from "./world.ts";

const world = new World();
afterAll(() => world.remove());

interface Pairs {
  calls: string[];
  results: string[];
}

/** The calls and results of a request, in order; throws if a result does not follow its call at once. */
const READ: Readonly<Record<string, (body: never) => Pairs>> = {
  local: ({
    messages,
  }: {
    messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
  }) => {
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const at = messages.findIndex(({ tool_calls }) => tool_calls !== undefined);
    const after = messages.slice(at + 1, at + 1 + calls.length);
    expect(after.map(({ role }) => role)).toEqual(["tool", "tool"]);
    return { calls, results: messages.flatMap(({ tool_call_id: id }) => id ?? []) };
  },
  claude: ({ messages }: { messages: { role: string; content: string | Record<string, string>[] }[] }) => {
    for (const [index, { role }] of messages.entries())
      expect(role).toBe(index % 2 === 0 ? "user" : "assistant");
    const blocks = messages.map(({ content }) => (typeof content === "string" ? [] : content));
    const at = blocks.findIndex((some) => some.some(({ type }) => type === "tool_use"));
    const idsOf = (some: Record<string, string>[] = [], type: string, key: string) =>
      some.filter((block) => block["type"] === type).map((block) => block[key] ?? "");
    return {
      calls: idsOf(blocks[at], "tool_use", "id"),
      results: idsOf(blocks[at + 1], "tool_result", "tool_use_id"),
    };
  },
  codex: ({ input }: { input: { type: string; call_id: string }[] }) => {
    const idsOf = (type: string) => input.filter((item) => item.type === type).map(({ call_id }) => call_id);
    return { calls: idsOf("function_call"), results: idsOf("function_call_output") };
  },
};

test("after kill -9 the history is valid for every provider, and the call is not finished", async () => {
  const model = await startModelServer();
  const { url: baseURL } = model;
  world.begin(baseURL, {
    providers: {
      claude: { type: "anthropic", baseURL, apiKey: "k", model: "c", maxRetries: 0 },
      codex: { type: "codex", model: "g", apiKeyBaseURL: baseURL, allowApiKeyFallback: true, maxRetries: 0 },
    },
  });
  // It ends by itself once demian is gone.
  const hang = 'touch started; while kill -0 "$PPID"; do sleep 0.05; done';
  const calls = ["touch made", hang].map((command) => ({ name: "bash", input: { command } }));
  model.script(chatReply("I run it.", calls));
  const child = new BuiltDemian(world).start("-y", "run it");
  child.stdin.end();
  let shown = "";
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (text: Buffer) => {
      shown += text.toString();
      if (shown.includes("touch started")) resolve();
    });
  });
  child.kill("SIGKILL");
  await once(child, "close");

  model.script(
    chatReply("chat"),
    anthropicReply("claude"),
    responsesEvents(created, ...message(0, "codex"), completed()),
  );
  const env = { OPENAI_API_KEY: "k" };
  for (const provider of ["local", "claude", "codex"]) {
    const { code, stderr } = await run(world, ["--continue", "--provider", provider, "go on"], "", env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("continuing run it") });
    const body = model.requests.at(-1)?.body;
    const { calls, results } = READ[provider]?.(body as never) ?? { calls: [], results: [] };
    expect(calls).toHaveLength(2);
    expect(results).toEqual(calls);
    expect(JSON.stringify(body).match(/Not finished: demian ended before this call/g)).toHaveLength(1);
  }
  expect(world.has("made")).toBe(true);
  await model.close();
  rmSync(join(world.home, ".local"), { recursive: true });
});
