// Opening a session, and every way it can be refused.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, barrier, isOf, lastText, newId, openDemo, say, seqsOf, useDaemon } from "./talk.ts";

const daemon = useDaemon();

describe("opened", () => {
  test("carries backend, pid and last_seq, and no seq of its own", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    expect(await client.open(session_id, {}, { id: "req_1" })).toEqual({
      type: "blemeesd.opened",
      id: "req_1",
      session_id,
      backend: "claude",
      subprocess_pid: expect.any(Number),
      last_seq: 0,
    });
  });

  test("a fresh session starts the agent with --session-id and what the options say, a resumed one with --resume", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id, { model: "sonnet", system_prompt: "-be brief" });
    await client.turn(session_id, "#argv");
    const fresh = JSON.parse(lastText(client, session_id)) as string[];
    expect(fresh.slice(0, 4)).toEqual(["-p", "--verbose", "--session-id", session_id]);
    expect(fresh).toContain("--system-prompt=-be brief");
    expect(fresh.slice(fresh.indexOf("--model"), fresh.indexOf("--model") + 2)).toEqual([
      "--model",
      "sonnet",
    ]);
    await ask(client, "close", { session_id });
    await client.open(
      session_id,
      {},
      { resume: true, last_seen_seq: seqsOf(client, session_id).at(-1) ?? 0 },
    );
    await client.turn(session_id, "#argv");
    const resumed = JSON.parse(lastText(client, session_id)) as string[];
    expect(resumed.slice(2, 4)).toEqual(["--resume", session_id]);
  });

  test("the agent knows its session id and where the daemon listens", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#env BLEMEES_SESSION_ID");
    expect(lastText(client, session_id)).toBe(session_id);
    await client.turn(session_id, "#env BLEMEES_SOCKET");
    expect(lastText(client, session_id)).toBe(daemon.current.socket);
  });

  test("a transcript that another program wrote can be resumed", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const cwd = join(daemon.current.home, "project");
    const directory = join(daemon.current.home, "claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(cwd, { recursive: true });
    mkdirSync(directory, { recursive: true });
    const record = {
      type: "user",
      message: { role: "user", content: "from before" },
      cwd,
      sessionId: session_id,
    };
    writeFileSync(join(directory, `${session_id}.jsonl`), `${JSON.stringify(record)}\n`);
    expect(await client.open(session_id, { cwd }, { resume: true })).toMatchObject({
      type: "blemeesd.opened",
    });
    await client.turn(session_id, "#context");
    expect(lastText(client, session_id)).toContain("from before");
  });

  test("blocks for other backends are ignored, whatever they hold", async () => {
    const client = await daemon.connect();
    const options = { demo: { pace_ms: 0 }, claude: { nonsense: true, bare: true } };
    expect(await openDemo(client, newId(), { options })).toMatchObject({ type: "blemeesd.opened" });
  });

  test("options may be empty", async () => {
    const client = await daemon.connect();
    expect(await openDemo(client, newId(), { options: {} })).toMatchObject({ type: "blemeesd.opened" });
  });

  test("an open and its first message may be sent together", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    client.send({ type: "blemeesd.open", session_id, backend: "claude", options: {} });
    say(client, session_id, "#say pipelined");
    await client.next(isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toBe("pipelined");
    expect(client.frames.some((frame) => frame.type === "blemeesd.error")).toBe(false);
  });
});

/** Each is refused with one error that names the field, and leaves no id. */
const REFUSED: [what: string, open: object, code: string, message: RegExp][] = [
  ["no options", { options: undefined }, "invalid_message", /^blemeesd\.open: \/options: required/],
  ["options that are a list", { options: [] }, "invalid_message", /^blemeesd\.open: \/options: /],
  ["a block that is no object", { options: { claude: 5 } }, "invalid_message", /\/options\/claude: /],
  ["no backend", { backend: undefined }, "invalid_message", /^blemeesd\.open: \/backend: required/],
  ["an unknown backend", { backend: "gpt" }, "unknown_backend", /unknown backend "gpt"; available: .*claude/],
  ["a backend from the prototype", { backend: "toString" }, "unknown_backend", /unknown backend/],
  [
    "a misspelt option",
    { options: { claude: { modle: "x" } } },
    "invalid_message",
    /\/options\/claude\/modle: unexpected property/,
  ],
  [
    "an unknown key at the top",
    { modle: 1 },
    "invalid_message",
    /^blemeesd\.open: \/modle: unexpected property$/,
  ],
  ["a resume that is text", { resume: "no" }, "invalid_message", /^blemeesd\.open: \/resume: .*boolean/],
  [
    "a negative last_seen_seq",
    { last_seen_seq: -1 },
    "invalid_message",
    /^blemeesd\.open: \/last_seen_seq: /,
  ],
  [
    "a wrong type of option",
    { options: { claude: { add_dir: "x" } } },
    "invalid_message",
    /\/options\/claude\/add_dir: .*array/,
  ],
  [
    "a permission mode that is none",
    { options: { claude: { permission_mode: "yolo" } } },
    "invalid_message",
    /permission_mode/,
  ],
  ["input_format", { options: { claude: { input_format: "text" } } }, "invalid_message", /\/input_format: /],
  [
    "output_format",
    { options: { claude: { output_format: "text" } } },
    "invalid_message",
    /\/output_format: /,
  ],
  [
    "a cwd that does not exist",
    { options: { claude: { cwd: "/no/such/dir" } } },
    "spawn_failed",
    /\/no\/such\/dir does not exist/,
  ],
  ["a NUL in a value", { options: { claude: { model: "a\0b" } } }, "invalid_message", /NUL/],
];

describe("an open is refused", () => {
  test.each(REFUSED)("%s", async (_what, fields, code, message) => {
    const client = await daemon.connect();
    const session_id = newId();
    const frame = { session_id, backend: "claude", options: { claude: {} }, ...fields };
    const { data, ...refusal } = await ask(client, "open", frame);
    expect(refusal).toEqual({
      type: "blemeesd.error",
      id: expect.any(String),
      session_id,
      code,
      message: expect.stringMatching(message),
    });
    expect(data).toEqual(code === "spawn_failed" ? { reason: "bad_cwd" } : undefined);
    expect(await openDemo(client, session_id)).toMatchObject({ type: "blemeesd.opened" });
  });

  test.each([
    { dangerously_skip_permissions: true },
    { allow_dangerously_skip_permissions: true },
    { bare: false },
    { continue: true },
    { continue_: true },
    { from_pr: "1" },
    { model: "--dangerously-skip-permissions" },
    { add_dir: ["/tmp", "--allow-dangerously-skip-permissions"] },
    { disallowed_tools: ["--bare"] },
    { plugin_dir: ["--continue"] },
    { mcp_config: ["--from-pr"] },
    { tools: "-p" },
    { effort: "--verbose" },
    { settings: "--dangerously-skip-permissions" },
    { betas: ["x", "-c"] },
  ])("with unsafe_flag: %j", async (claude) => {
    const client = await daemon.connect();
    const refused = await client.open(newId(), claude);
    expect(refused).toMatchObject({ type: "blemeesd.error", code: "unsafe_flag" });
    expect(refused["message"]).toMatch(/^blemeesd\.open: \/options\/claude\//);
  });

  test("with session_exists, when the id is live and it is no resume", async () => {
    const [owner, other] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    for (const client of [owner, other]) {
      expect(await openDemo(client, session_id)).toMatchObject({ code: "session_exists", session_id });
    }
    expect((await owner.turn(session_id, "still mine"))["subtype"]).toBe("success");
  });

  test("with session_exists, when a resume names another backend than the running one", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    const refused = await client.open(session_id, {}, { resume: true });
    expect(refused).toMatchObject({ code: "session_exists", message: expect.stringContaining('"demo"') });
  });

  test("with spawn_failed and Claude's own message, when the id is not a UUID; the id stays free", async () => {
    const client = await daemon.connect();
    for (const _ of [1, 2]) {
      expect(await client.open("no-uuid")).toMatchObject({
        code: "spawn_failed",
        session_id: "no-uuid",
        message: expect.stringContaining("Must be a valid UUID"),
      });
    }
    expect(await ask(client, "session_info", { session_id: "no-uuid" })).toMatchObject({
      code: "session_unknown",
    });
  });

  test("with spawn_failed, when there is nothing to resume", async () => {
    const client = await daemon.connect();
    const refused = await client.open(newId(), {}, { resume: true });
    expect(refused).toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining("No conversation found"),
    });
  });

  test("and the connection and its other sessions do not notice", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    await client.open(newId(), { nonsense: 1 });
    await barrier(client);
    expect((await client.turn(session_id, "hello"))["subtype"]).toBe("success");
  });
});
