// Tool modules: the form of a module, its inputs, and that its effects
// stay inside its call.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  callModule,
  type ModuleContext,
  type ModuleExecute,
} from "../../../src/runtime/tools/module-call.ts";
import { loadModule } from "../../../src/runtime/tools/module-load.ts";
import { loadToolModule } from "../../../src/runtime/tools/modules.ts";
import type { ToolContext } from "../../../src/runtime/tools/types.ts";

function bytesOf(source: string) {
  const bytes = Buffer.from(source);
  return { path: "/w/.demian/tools/x.mjs", bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

const SCHEMA = `{ type: "object", properties: { file: { type: "string" }, line: { type: "integer", minimum: 1 } }, required: ["file"] }`;

function source({
  name = "lookup",
  more = "",
  execute = "return { ok: true, content: input.file }",
} = {}): string {
  return `export default { name: "${name}", description: "Looks up.", inputSchema: ${SCHEMA}, ${more} async execute(input, ctx) { ${execute} } }`;
}

async function load(text: string, warnings: string[] = []) {
  return loadToolModule(bytesOf(text), warnings);
}

interface Given {
  context: ToolContext;
  shown: string[];
  kept: string[];
  abort: AbortController;
}

function given(more: Partial<ToolContext> = {}): Given {
  const [shown, kept, abort] = [[] as string[], [] as string[], new AbortController()];
  const context = {
    sessionId: "s",
    callId: "c",
    agent: "build",
    workspace: { root: "/w" },
    env: { TOKEN: "secret" },
    signal: abort.signal,
    dryRun: false,
    progress: (text: string) => void shown.push(text),
    keepOutput: async (text: string) => {
      kept.push(text);
      return ".demian/tmp/kept.txt";
    },
    delegator: { plan: () => undefined, run: () => undefined },
    ...more,
  };
  // A module must not see the rest of it, so it need not be there.
  return { context: context as unknown as ToolContext, shown, kept, abort };
}

const call = (execute: ModuleExecute, { context }: Given, limitMs?: number) =>
  callModule("lookup", execute, { file: "a" }, context, limitMs);

describe("18: a tool module becomes a tool", () => {
  test("that is asked about, with what it touches unknown", async () => {
    const tool = await load(source());
    expect(tool).toMatchObject({
      name: "lookup",
      description: "Looks up.",
      inputSchema: { type: "object", required: ["file"] },
      metadata: { sideEffect: "external", defaultDecision: "ask" },
    });
    const plan = await tool.plan({ line: 2, file: "a" }, given().context);
    expect(plan.title).toBe('lookup: {"file":"a","line":2}');
    expect(await tool.plan({ file: "a", line: 2 }, given().context)).toEqual(plan);
    expect(await tool.execute({ file: "a" }, plan, given().context)).toMatchObject({
      ok: true,
      content: "a",
    });
  });

  test("what was allowed for one version of its code is another thing for the next", async () => {
    const keys = await Promise.all(
      [source(), source({ execute: "return 'other'" })].map(async (text) => {
        const { targets } = await (await load(text)).plan({ file: "a" }, given().context);
        return targets;
      }),
    );
    expect(keys[0]).toEqual([{ kind: "other", key: expect.stringMatching(/^[0-9a-f]{16} \{"file":"a"\}$/) }]);
    expect(keys[0]).not.toEqual(keys[1]);
  });

  test("a long input is remembered by its hash", async () => {
    const { targets, title } = await (await load(source())).plan({ file: "x".repeat(5000) }, given().context);
    expect(targets).toEqual([
      { kind: "other", key: expect.stringMatching(/^[0-9a-f]{16} sha256:[0-9a-f]{64}$/) },
    ]);
    expect(title.length).toBeLessThan(200);
  });

  test("its input is checked by its own schema", async () => {
    const { check } = await load(source());
    expect(check({ file: "a" })).toEqual({ ok: true, value: { file: "a" } });
    expect(check({ file: "a", line: null })).toEqual({ ok: true, value: { file: "a" } });
    expect(check({ file: 1, line: 0 })).toEqual({
      ok: false,
      message: expect.stringMatching(/\/file: .*\/line: /),
    });
    expect(check({})).toEqual({ ok: false, message: expect.stringMatching(/\/file: /) });
    expect(check("text")).toMatchObject({ ok: false });
  });

  test("it may make itself stricter, and never allow itself", async () => {
    const strict = await load(
      source({ more: `metadata: { sideEffect: "network", defaultDecision: "deny" },` }),
    );
    expect(strict.metadata).toEqual({ sideEffect: "network", defaultDecision: "deny" });
    const warnings: string[] = [];
    const loose = await load(
      source({ more: `metadata: { sideEffect: "none", defaultDecision: "allow" },` }),
      warnings,
    );
    expect(loose.metadata).toEqual({ sideEffect: "none", defaultDecision: "ask" });
    expect(warnings).toEqual([expect.stringMatching(/a tool may not allow itself.*"decision": "allow"/)]);
  });

  test("the same bytes are the module that runs: nothing is read again", async () => {
    const module = bytesOf(source({ execute: "return import.meta.url" }));
    const tool = await loadToolModule(module, []);
    const { content } = await tool.execute(
      { file: "a" },
      await tool.plan({}, given().context),
      given().context,
    );
    expect(Buffer.from(content.split(",")[1] ?? "", "base64").equals(module.bytes)).toBe(true);
  });

  test.each([
    ["export const tool = 1", /no default export/],
    ["export default 5", /no default export/],
    ["export default {}", /not a tool: \/name: .*\/description: .*\/inputSchema: /],
    [source({ name: "Look-Up" }), /\/name: expected a name of a-z, 0-9 and _/],
    [source().replace("async execute(input, ctx)", "run()"), /\/execute: expected a function/],
    [source().replace('type: "object"', 'type: "array"'), /\/inputSchema\/type/],
    [source().replace('type: "string"', 'type: "bogus"'), /inputSchema is not a valid JSON Schema: .*bogus/],
    [
      source().replace("required:", "if: {}, then: {}, required:"),
      /inputSchema is not a valid JSON Schema: Conditional/,
    ],
    [source().replace("required:", "examples: 1n, required:"), /inputSchema is not JSON: .*BigInt/],
    ["\n\nexport default {", /Unexpected end of input/],
    ["\nthrow new Error('broken')", /line 2: broken/],
    ["import x from './helper.mjs'", /imports "\.\/helper\.mjs": a tool module must be self-contained/],
    ["import x from '/etc/x.mjs'", /imports "\/etc\/x\.mjs": a tool module/],
    ["import x from 'zod'", /imports "zod": a tool module/],
    ["await import('./later.mjs')", /imports "\.\/later\.mjs": a tool module/],
    ["import x from 'file:///etc/x.mjs'", /imports "file:\/\/\/etc\/x\.mjs": a tool module/],
    ["import 'https://evil.example/x.mjs'", /imports from the network: a tool module/],
  ])("%j is refused with the reason", async (text, reason) => {
    const error: unknown = await load(text).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(reason);
    expect((error as Error).message).not.toContain("base64");
  });

  test("what comes with Node may be imported", async () => {
    const text = `import { basename } from "node:path"; ${source({ execute: "return basename(input.file)" })}`;
    const tool = await load(text);
    expect(
      await tool.execute({ file: "a/b" }, await tool.plan({}, given().context), given().context),
    ).toMatchObject({
      content: "b",
    });
  });

  test("code that does not end when it is loaded is given up", async () => {
    const hanging = bytesOf("await new Promise(() => undefined)");
    await expect(loadModule(hanging, 20)).rejects.toThrow(/did not finish within 0\.02 s/);
  });
});

describe("18: one call of a module", () => {
  test("it is given little, and no way to start agents", async () => {
    let seen: ModuleContext | undefined;
    const place = given({ question: async ({ text }) => `${text}!` });
    await call((_, context) => {
      seen = context;
      return "x";
    }, place);
    expect(Object.keys(seen ?? {}).sort()).toEqual([
      "agent",
      "callId",
      "cwd",
      "progress",
      "question",
      "sessionId",
      "signal",
    ]);
    expect(seen).toMatchObject({ cwd: "/w", sessionId: "s", callId: "c", agent: "build" });
    expect(JSON.stringify(seen)).not.toContain("secret");
    expect(Object.isFrozen(seen)).toBe(true);
  });

  test("it can show progress and ask while it runs, and not afterwards", async () => {
    let kept: ModuleContext | undefined;
    const place = given({ question: async ({ text }) => `${text}!` });
    const result = await call(async (_, context) => {
      kept = context;
      context.progress("half");
      return (await context.question?.({ text: "really" })) ?? "";
    }, place);
    expect([result.content, place.shown]).toEqual(["really!", ["half"]]);
    kept?.progress("late");
    expect(await kept?.question?.({ text: "late" })).toBeUndefined();
    expect(place.shown).toEqual(["half"]);
    expect(kept?.signal.aborted).toBe(true);
  });

  test.each([
    [() => ({ ok: false, content: "no such symbol" }), { ok: false, content: "no such symbol" }],
    [() => "text", { ok: true, content: "text" }],
    [() => Promise.reject(new Error("broken")), { ok: false, content: "lookup failed: broken" }],
    [
      () => {
        throw new Error("at once");
      },
      { ok: false, content: "lookup failed: at once" },
    ],
    [() => Promise.reject("a text"), { ok: false, content: "lookup failed: a text" }],
    [
      () => ({ ok: true, content: "x", metadata: { a: 1, changes: [] } }),
      { metadata: { module: { a: 1, changes: [] } } },
    ],
    [() => ({ ok: true, content: "x", metadata: { a: 1n } }), { ok: true, content: "x" }],
  ])("%s is an answer", async (execute, expected) => {
    expect(await call(execute, given())).toMatchObject(expected);
  });

  test.each([[undefined], [null], [5], [{ content: "x" }], [{ ok: true, content: { a: 1 } }], [[]]])(
    "%j is not a result, which is reported to the model",
    async (value) => {
      await expect(call(() => value, given())).rejects.toMatchObject({
        code: "bad_result",
        message: expect.stringMatching(/lookup returned no valid result: expected/),
      });
    },
  );

  test("a long result is cut as that of every tool, and kept", async () => {
    const place = given();
    const result = await call(() => "x".repeat(100_000), place);
    expect(result.metadata).toMatchObject({ truncated: true, outputFile: ".demian/tmp/kept.txt" });
    expect(result.content.length).toBeLessThan(40_000);
    expect(place.kept[0]).toHaveLength(100_000);
  });

  test("an abort ends the call, also of a module that does not listen", async () => {
    const place = given();
    const running = call(() => new Promise(() => undefined), place);
    place.abort.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
  });

  test("after an abort it is not started, and what it throws later is ignored", async () => {
    const place = given();
    let fail: (reason: Error) => void = () => undefined;
    const running = call(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
      place,
    );
    place.abort.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    fail(new Error("late"));
    let isBegun = false;
    await expect(
      call(() => {
        isBegun = true;
      }, place),
    ).rejects.toThrow("stop");
    expect(isBegun).toBe(false);
  });

  test("one that takes too long is a failure reported to the model, and its signal says so", async () => {
    let signal: AbortSignal | undefined;
    const result = await call(
      (_, context) => {
        signal = context.signal;
        return new Promise(() => undefined);
      },
      given(),
      20,
    );
    expect(result).toEqual({ ok: false, content: "lookup failed: lookup took longer than 0.02 s" });
    expect(signal?.aborted).toBe(true);
  });

  test("a dry run does not run it, whatever it says of itself", async () => {
    let isRun = false;
    const result = await call(
      () => {
        isRun = true;
        return "x";
      },
      given({ dryRun: true }),
    );
    expect([isRun, result.metadata]).toEqual([false, { dryRun: true }]);
  });

  test("what it does to its input stays with it", async () => {
    const input = { file: "a", list: [1] };
    await callModule(
      "lookup",
      (value) => {
        (value as typeof input).list.push(2);
        return "x";
      },
      input,
      given().context,
    );
    expect(input.list).toEqual([1]);
  });
});
