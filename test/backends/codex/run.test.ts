// A live Codex session, as far as it can be scripted: the real backend on a fake executable.
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Ask, Run } from "../../../src/backends/types.ts";
import { PATIENT } from "../../support/patience.ts";
import { type Started, user } from "../conformance.ts";
import { isRunning, pidIn } from "../processes.ts";
import type { Recorder } from "../recorder.ts";
import { fakeCodex, fakeHome } from "./fake.ts";

/** One turn, and its texts. */
async function say({ run, sink }: Started, text: string): Promise<string[]> {
  const { length: results } = sink.results;
  const { length: texts } = sink.texts;
  await run.send(user(text));
  await sink.untilResults(results + 1);
  return sink.texts.slice(texts);
}

function asks(sink: Recorder): Ask[] {
  return sink.heard.flatMap((heard) => (heard.kind === "ask" ? [heard.ask] : []));
}

async function nextAsk(sink: Recorder, count = 1): Promise<Ask> {
  await sink.until((recorder) => asks(recorder).length >= count);
  const ask = asks(sink)[count - 1];
  if (ask === undefined) throw new Error("unreachable");
  return ask;
}

describe("codex's input", () => {
  test("every option reaches the thread or the turn", async () => {
    const session = await fakeCodex().start({
      model: "gpt-5.2",
      sandbox: "workspace-write",
      "approval-policy": "untrusted",
      "base-instructions": "base",
      "developer-instructions": "dev",
      "compact-prompt": "short",
      config: { "tools.web_search": true, shell_environment_policy: { set: { MINE: "1" } } },
      effort: "high",
      output_schema: { type: "object" },
      collaboration_mode: "plan",
    });
    const [params = "", turn = ""] = await say(session, "#params #turn");
    expect(JSON.parse(params)).toMatchObject({
      model: "gpt-5.2",
      sandbox: "workspace-write",
      approvalPolicy: "untrusted",
      baseInstructions: "base",
      developerInstructions: "dev",
      config: {
        compact_prompt: "short",
        tools: { web_search: true },
        shell_environment_policy: { set: { MINE: "1" } },
      },
    });
    expect(JSON.parse(turn)).toMatchObject({
      effort: "high",
      outputSchema: { type: "object" },
      collaborationMode: { mode: "plan", settings: { model: "gpt-5.2", reasoning_effort: "high" } },
    });
  });

  test("a profile is read from Codex's home and applies below the session's own config", async () => {
    const home = fakeHome();
    const file = join(home.home, ".codex", "fast.config.toml");
    writeFileSync(file, 'model_verbosity = "low"\nmodel_reasoning_effort = "high"\n');
    const codex = fakeCodex({ home });
    const session = await codex.start({ profile: "fast", config: { model_verbosity: "high" } });
    const [params = ""] = await say(session, "#params");
    expect(JSON.parse(params).config).toMatchObject({
      model_verbosity: "high",
      model_reasoning_effort: "high",
    });
    await expect(codex.start({ profile: "none" })).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining('profile "none": cannot read'),
    });
  });

  test("the session's id is in its commands but not in the shared process, the rest of the identity in both", async () => {
    const codex = fakeCodex();
    const env = { BLEMEES_SESSION_ID: "s1", BLEMEES_SOCKET: "/run/b.sock" };
    const one = await codex.start({}, { env });
    const other = await codex.start({}, { env: { ...env, BLEMEES_SESSION_ID: "s2" } });
    expect(await say(one, "#env BLEMEES_SESSION_ID #env BLEMEES_SOCKET")).toEqual(["s1", "/run/b.sock"]);
    expect(await say(other, "#env BLEMEES_SESSION_ID")).toEqual(["s2"]);
    expect(await say(one, "#process-env BLEMEES_SESSION_ID #process-env BLEMEES_SOCKET")).toEqual([
      "undefined",
      "/run/b.sock",
    ]);
    expect(other.run.pid).toBe(one.run.pid);
  });

  const image = (source: object) => ({ type: "image", source });

  test("images arrive, embedded or by URL", async () => {
    const session = await fakeCodex().start();
    const base64 = { type: "base64", media_type: "image/png", data: "iVBORw0=" };
    const content = [
      { type: "text", text: "#image" },
      { type: "image", source: base64 },
      { type: "image", source: { type: "url", url: "https://example.test/a.png" } },
    ];
    await session.run.send({ role: "user", content });
    await session.sink.untilResults(1);
    expect(session.sink.texts.join()).toContain('"url":"data:image/png;base64,iVBORw0="');
    expect(session.sink.texts.join()).toContain('"url":"https://example.test/a.png"');
  });

  test.each([
    [[], "/message/content: expected at least one content block"],
    [[{ type: "document", source: {} }], '/message/content/0: Codex does not accept "document" blocks'],
    [[{ type: "text", text: "a" }, { type: "image" }], "/message/content/1/source: expected an object"],
    [[image({ type: "url", url: "file:///etc/passwd" })], "/message/content/0/source/url: expected https://"],
    [[image({ type: "url", url: "http://example.test/a.png" })], "/source/url: expected https://"],
    [
      [image({ type: "url", url: "data:text/html;base64,aGk=" })],
      "/source/media_type: expected one of image/png",
    ],
    [
      [image({ type: "base64", media_type: "image/png", data: "no base64!" })],
      "/source/data: expected base64",
    ],
    [[image({ type: "base64", media_type: "image/png", data: "" })], "/source/data: expected base64"],
    ["x".repeat(1_048_577), "1048577 characters of text; Codex accepts at most 1048576"],
  ])(
    "unsupported content is refused before it is sent, and the session continues",
    async (content, words) => {
      const session = await fakeCodex().start();
      await expect(session.run.send({ role: "user", content })).rejects.toMatchObject({
        code: "invalid_message",
        message: expect.stringContaining(words),
      });
      expect(await say(session, "#say fine")).toEqual(["fine"]);
      expect(session.sink.results).toHaveLength(1);
    },
  );
});

describe("turns", () => {
  test("a turn that codex begins on its own is reported, and a message into it is refused, never added to it", async () => {
    const session = await fakeCodex().start();
    await say(session, "#say first #steer-own mine");
    await session.sink.until(({ texts }) => texts.includes("mine"));
    expect(session.sink.heard.filter(({ kind }) => kind === "turnStarted")).toHaveLength(1);
    await expect(session.run.send(user("#say into it"))).rejects.toMatchObject({ code: "session_busy" });
    await session.run.interrupt();
    expect(session.sink.results.map(({ subtype }) => subtype)).toEqual(["success", "interrupted"]);
    expect(await say(session, "#say again #context")).toEqual([
      "again",
      expect.not.stringContaining("into it"),
    ]);
  });

  test("a refused turn ends with an error result, and the next one works", async () => {
    const session = await fakeCodex().start();
    await say(session, "#refuse -32600 no quota left");
    expect(session.sink.results).toMatchObject([{ subtype: "error", error: { message: "no quota left" } }]);
    await expect(session.run.send(user("#refuse -32602 too odd"))).rejects.toMatchObject({
      code: "invalid_message",
      message: "/message: too odd",
    });
    expect(await say(session, "#say fine")).toEqual(["fine"]);
  });

  test("a thread that codex has unloaded is loaded again", async () => {
    const session = await fakeCodex().start();
    await say(session, "#say one #unload");
    const [texts] = await say(session, "#context");
    expect(texts).toContain("#say one");
  });

  test("what completes after the turn adds no second result", async () => {
    const session = await fakeCodex().start();
    await say(session, "#say done #late-item #late-delta");
    await session.sink.until(({ events }) => events.some((event) => event.type === "agent.tool_result"));
    await say(session, "#say next");
    expect(session.sink.results.map(({ subtype }) => subtype)).toEqual(["success", "success"]);
  });

  test("failures have their code; one of the login is reported", async () => {
    const session = await fakeCodex().start();
    await say(session, "#error 500");
    await say(session, "#error 401");
    expect(session.sink.results).toMatchObject([{ subtype: "error" }, { error: { code: "auth_failed" } }]);
    expect(session.sink.heard.filter(({ kind }) => kind === "authFailed")).toHaveLength(1);
  });

  test("an overloaded server is retried", async () => {
    const codex = fakeCodex({ home: fakeHome({ FAKE_CODEX_FAULT: "overloaded" }) });
    expect(await say(await codex.start(), "#say through")).toEqual(["through"]);
  });
});

describe("retries", () => {
  test("endless ones end the turn with an error after the limit, and the session continues", async () => {
    const session = await fakeCodex({ retryLimitMs: 100 }).start();
    await say(session, "#retry");
    expect(session.sink.results).toMatchObject([
      {
        subtype: "error",
        error: { code: "network", message: expect.stringContaining("Reconnecting... waiting") },
      },
    ]);
    expect(await say(session, "#interrupts")).toEqual(["1"]);
  });

  test("those that succeed in the end do no harm, and 0 never gives up", async () => {
    const session = await fakeCodex({ retryLimitMs: 60_000 }).start();
    expect(await say(session, "#retry 3 #say back")).toEqual(["back"]);
    const patient = await fakeCodex({ retryLimitMs: 0 }).start();
    expect(await say(patient, "#retry 20 #say back")).toEqual(["back"]);
  });
});

describe("asking", () => {
  test.each([
    ["#ask make", "command", "accept"],
    ["#ask make", "command", "acceptForSession"],
    ["#ask make", "command", "decline"],
    ["#ask-file a.txt", "file_change", "accept"],
  ] as const)("%s is asked as %s, and %s reaches codex", async (prompt, type, decision) => {
    const { run, sink } = await fakeCodex().start();
    await run.send(user(prompt));
    const ask = await nextAsk(sink);
    expect(ask).toMatchObject({ request_type: type, native_id: "n:0" });
    expect(await run.answer?.(ask.native_id, { decision })).toBe(true);
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toBe(`decision "${decision}"`);
    expect(await run.answer?.(ask.native_id, { decision })).toBe(false);
    expect(sink.heard.some(({ kind }) => kind === "withdrawn")).toBe(false);
  });

  test("a question gets its answer", async () => {
    const { run, sink } = await fakeCodex().start();
    await run.send(user("#input"));
    const ask = await nextAsk(sink);
    expect(ask.request_type).toBe("user_input");
    await run.answer?.(ask.native_id, { answers: { color: ["Red"] } });
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toContain('"color":{"answers":["Red"]}');
  });

  test("an interrupt withdraws it, and a later answer is ignored", async () => {
    const { run, sink } = await fakeCodex().start();
    await run.send(user("#ask make"));
    const ask = await nextAsk(sink);
    await run.interrupt();
    await sink.until(({ heard }) => heard.some(({ kind }) => kind === "withdrawn"));
    expect(sink.results.map(({ subtype }) => subtype)).toEqual(["interrupted"]);
    expect(await run.answer?.(ask.native_id, { decision: "accept" })).toBe(false);
  });

  test("a request that cannot be answered is refused at once, so that nothing stalls", async () => {
    const session = await fakeCodex().start();
    expect((await say(session, "#request attestation/generate")).join()).toContain("-32601");
    expect((await say(session, "#ask-nobody")).join()).toContain("belongs to no session");
    expect(asks(session.sink)).toEqual([]);
  });

  test.each(["#subagent", "#subagent-early"])(
    "%s: the request of a sub-agent reaches the root session",
    async (how) => {
      const { run, sink } = await fakeCodex().start();
      await run.send(user(`${how} make`));
      const ask = await nextAsk(sink);
      expect(ask.path).toHaveLength(1);
      await run.answer?.(ask.native_id, { decision: "accept" });
      await sink.untilResults(1);
      expect(sink.texts).toEqual(['decision "accept"', "the sub-agent is done"]);
      expect(sink.results).toHaveLength(1);
    },
  );

  test("a sub-agent may ask after the turn that started it", async () => {
    const session = await fakeCodex().start();
    await say(session, "#background make");
    const ask = await nextAsk(session.sink);
    await session.run.answer?.(ask.native_id, { decision: "decline" });
    await session.sink.until(({ texts }) => texts.includes('decision "decline"'));
    expect(session.sink.results).toHaveLength(1);
  });
});

describe("interrupt", () => {
  test("stops a sub-agent too", async () => {
    const { run, sink } = await fakeCodex().start();
    await run.send(user("#subagent make"));
    await nextAsk(sink);
    await run.interrupt();
    expect(sink.results.map(({ subtype }) => subtype)).toEqual(["interrupted"]);
    await sink.until(({ heard }) => heard.some(({ kind }) => kind === "withdrawn"));
  });

  test.skipIf(process.platform !== "linux")(
    "ends what the turn's command left running, not what an earlier turn started",
    async () => {
      const session = await fakeCodex().start();
      const { run, sink, order } = session;
      const file = (name: string) => join(String(order.options["cwd"]), name);
      await say(session, `#orphan echo $$ > ${file("early")}; exec sleep 1000`);
      const early = await pidIn(file("early"));
      // The kernel counts the start of a process in hundredths of a second.
      const earlyS = uptime();
      await vi.waitFor(() => expect(uptime()).toBeGreaterThan(earlyS + 0.05), PATIENT);
      const leaver = `(setsid sh -c 'echo $$ > ${file("late")}; exec sleep 1000' &); echo $$ > ${file("sh")}; sleep 1000`;
      await run.send(user(`#tool ${leaver}`));
      const [late, shell] = [await pidIn(file("late")), await pidIn(file("sh"))];
      await run.interrupt();
      expect([early, late, shell].map(isRunning)).toEqual([true, false, false]);
      expect(sink.results.map(({ subtype }) => subtype)).toEqual(["success", "interrupted"]);
      await run.stop("finish");
      expect(isRunning(early)).toBe(false);
    },
  );

  test("right after send it still ends the turn", async () => {
    const { run, sink } = await fakeCodex().start();
    const sent = run.send(user("#wait"));
    await run.interrupt();
    await sent;
    expect(sink.results.map(({ subtype }) => subtype)).toEqual(["interrupted"]);
  });
});

describe("resume", () => {
  async function resumed(first: Started, codex: ReturnType<typeof fakeCodex>): Promise<Started> {
    const native = first.sink.heard.find((heard) => heard.kind === "nativeId");
    const { session_id } = first.order;
    return codex.start({}, { session_id, resume: true, native_session_id: native?.id ?? "" });
  }

  test("in a new process the context is kept, and only metadata was requested", async () => {
    const home = fakeHome();
    const old = fakeCodex({ home });
    const first = await old.start();
    await say(first, "#say remember me");
    await first.run.stop("finish");
    await old.backend.close?.();
    const second = await resumed(first, fakeCodex({ home }));
    expect(second.run.pid).not.toBe(first.run.pid);
    const [texts, params] = await say(second, "#context #params");
    expect(texts).toContain("remember me");
    expect(params).toContain('"excludeTurns":true');
  });

  test("a thread without a turn starts over, with a new id", async () => {
    const codex = fakeCodex();
    const first = await codex.start();
    await first.run.stop("finish");
    const second = await resumed(first, codex);
    const ids = [first, second].flatMap(({ sink }) =>
      sink.heard.flatMap((heard) => (heard.kind === "nativeId" ? [heard.id] : [])),
    );
    expect(new Set(ids).size).toBe(2);
    expect(await say(second, "#say here")).toEqual(["here"]);
  });

  test.each([
    ["a foreign thread that does not exist", "01a1e07f-c276-7e20-b3ca-000000000000", "no rollout found"],
    ["an id that is no thread's", "s_abc", "invalid session id"],
  ])("%s is refused with codex's message", async (_name, native_session_id, words) => {
    const over = { resume: true, began_here: false, native_session_id };
    await expect(fakeCodex().start({}, over)).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining(words),
    });
  });

  test("a thread that another Codex has open is named, with what to do", async () => {
    const home = fakeHome();
    const first = await fakeCodex({ home }).start();
    await say(first, "#say mine");
    await expect(resumed(first, fakeCodex({ home }))).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(/^thread .* is open in another Codex .*; close it there$/),
    });
  });
});

test("stop during a turn does not wait for its end if it must be quick", async () => {
  const { run, sink }: { run: Run; sink: Recorder } = await fakeCodex().start();
  await run.send(user("#wait"));
  const finishing = run.stop("finish");
  await run.stop("now");
  await finishing;
  expect(sink.ends).toMatchObject([{ expected: true }]);
});
