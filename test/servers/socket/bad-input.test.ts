// Whatever a client sends, it gets one clear error, and other clients are not affected.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { ask, barrier, newId, openDemo, range, useDaemon } from "./talk.ts";

const daemon = useDaemon();
let steady: RawClient;
const STEADY = newId();

beforeAll(async () => {
  steady = await daemon.current.connect();
  await openDemo(steady, STEADY);
});

async function expectOthersLive(): Promise<void> {
  expect((await steady.turn(STEADY, "are you there"))["subtype"]).toBe("success");
  checkOutbound(steady.frames);
}

const open = (fields: object) =>
  JSON.stringify({ type: "blemeesd.open", session_id: newId(), backend: "claude", options: {}, ...fields });
const withClaude = (claude: string) =>
  `{"type":"blemeesd.open","session_id":"${newId()}","backend":"claude","options":{"claude":${claude}}}`;

/** The corpus: each line is answered with exactly one error of this code. */
const CORPUS: [what: string, bytes: string | Buffer, code: string][] = [
  ["an empty line", "", "invalid_message"],
  ["blanks", "   \t ", "invalid_message"],
  ["half an object", '{"type":"blemeesd.ping"', "invalid_message"],
  ["two objects on a line", '{"type":"blemeesd.ping"}{"type":"blemeesd.ping"}', "invalid_message"],
  ["single quotes", "{'type':'blemeesd.ping'}", "invalid_message"],
  ["a trailing comma", '{"type":"blemeesd.ping",}', "invalid_message"],
  ["a comment", '{"type":"blemeesd.ping"/*x*/}', "invalid_message"],
  ["a BOM", '\ufeff{"type":"blemeesd.ping"}', "invalid_message"],
  ["a list", "[]", "invalid_message"],
  ["a number", "42", "invalid_message"],
  ["null", "null", "invalid_message"],
  ["no type", "{}", "invalid_message"],
  ["a type that is no text", '{"type":5}', "invalid_message"],
  ["a type that is null", '{"type":null}', "invalid_message"],
  ["an unknown type", '{"type":"blemeesd.frobnicate"}', "unknown_message"],
  ["an unknown namespace", '{"type":"claude.user","session_id":"s"}', "unknown_message"],
  ["a type we only send", '{"type":"blemeesd.hello_ack"}', "unknown_message"],
  ["a type from the prototype", '{"type":"constructor"}', "unknown_message"],
  ["a very long type", `{"type":"${"x".repeat(100_000)}"}`, "unknown_message"],
  ["half a UTF-8 character", Buffer.from([0x7b, 0x22, 0xe2, 0x82, 0x22, 0x7d]), "invalid_message"],
  ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0x01]), "invalid_message"],
  ["an overlong encoding", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), "invalid_message"],
  ["NUL bytes", Buffer.alloc(32), "invalid_message"],
  ["a NUL in a session id", open({ session_id: "a\0b" }), "invalid_message"],
  [
    "10^5 nested lists",
    `{"type":"blemeesd.ping","data":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
    "invalid_message",
  ],
  [
    "10^5 nested objects",
    `{"type":"blemeesd.ping","data":${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}}`,
    "invalid_message",
  ],
  ["1e400", '{"type":"blemeesd.ping","data":1e400}', "invalid_message"],
  ["__proto__", '{"type":"blemeesd.ping","data":{"__proto__":{"x":1}}}', "invalid_message"],
  ["constructor deep inside", withClaude('{"agents":{"a":{"constructor":{}}}}'), "invalid_message"],
  ["a lone surrogate as id", '{"type":"blemeesd.watch","session_id":"\\ud800"}', "invalid_message"],
  ["an int beyond 2^53", open({ last_seen_seq: 2 ** 53 }), "invalid_message"],
  ["a float as seq", open({ last_seen_seq: 0.5 }), "invalid_message"],
  ["a list as message", '{"type":"agent.user","session_id":"s","message":[]}', "invalid_message"],
  [
    "a role that is not user",
    '{"type":"agent.user","session_id":"s","message":{"role":"system","content":"x"}}',
    "invalid_message",
  ],
  ["flag smuggling: a key", withClaude('{"dangerously_skip_permissions":true}'), "unsafe_flag"],
  ["flag smuggling: a value", withClaude('{"model":"--dangerously-skip-permissions"}'), "unsafe_flag"],
  [
    "flag smuggling: a list item",
    withClaude('{"add_dir":["x","--dangerously-skip-permissions"]}'),
    "unsafe_flag",
  ],
  ["flag smuggling: an odd spelling", withClaude('{"dangerously-skip-permissions":true}'), "invalid_message"],
  ["flag smuggling: by = ", withClaude('{"tools":"--dangerously-skip-permissions=true"}'), "unsafe_flag"],
];

describe("one error each, and the connection stays open", () => {
  test.each(CORPUS)("%s", async (_what, bytes, code) => {
    const client = await daemon.connect();
    client.sendRaw(Buffer.concat([Buffer.from(bytes as string), Buffer.from("\n")]));
    const error = await client.next("blemeesd.error");
    expect(error).toMatchObject({ code, message: expect.stringMatching(/\S/) });
    expect(String(error["message"]).length).toBeLessThan(500);
    await barrier(client);
    expect(client.frames.map((frame) => frame.type)).toEqual([
      "blemeesd.hello_ack",
      "blemeesd.error",
      "blemeesd.pong",
    ]);
  });

  test("the whole corpus in one write: as many errors, in order, and the sessions of others do not notice", async () => {
    const client = await daemon.connect();
    client.sendRaw(
      Buffer.concat(CORPUS.flatMap(([, bytes]) => [Buffer.from(bytes as string), Buffer.from("\n")])),
    );
    for (const _ of CORPUS) await client.next("blemeesd.error");
    expect(client.frames.slice(1).map((frame) => frame["code"])).toEqual(
      expect.arrayContaining(CORPUS.map(([, , code]) => code)),
    );
    await barrier(client);
    await expectOthersLive();
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("its own session survives too", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    client.sendRaw("garbage\n");
    await client.next("blemeesd.error");
    expect((await client.turn(session_id, "hello"))["subtype"]).toBe("success");
  });
});

describe("a frame that is too long", () => {
  test("17 MiB: oversize_message and the connection is closed; its session waits, others do not notice", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    client.sendRaw(`{"type":"blemeesd.ping","data":"`);
    const mebibyte = "x".repeat(1024 * 1024);
    for (const _ of range(1, 17)) client.sendRaw(mebibyte);
    await client.closed;
    expect(client.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "oversize_message" });
    await expectOthersLive();
    expect(await ask(steady, "session_info", { session_id })).toMatchObject({ attached: false });
  });

  test("6 MiB pass, in both directions: there is no 64 KiB limit", async () => {
    const client = await daemon.connect();
    const data = "☂".repeat((6 * 1024 * 1024) / 3);
    const pong = await ask(client, "ping", { data });
    expect(pong["data"] === data).toBe(true);
  });
});

describe("ids that walk out of a directory", () => {
  const PARTS = [
    "..",
    ".",
    "...",
    "/",
    "//",
    "\\",
    "%2e%2e",
    "..%2f",
    "~",
    "-",
    "a/..",
    "\u2025",
    "．．",
    " ",
    "a\n",
    "a\0",
  ];
  const ENDS = [
    "/victim",
    "/../victim",
    "",
    "/etc/passwd",
    "\\victim",
    "/./victim",
    "/victim.jsonl",
    ":victim",
    "\0",
    "/-rf",
    "*",
    "?",
  ];
  const IDS = PARTS.flatMap((part) => ENDS.map((end) => `${part}${end}`)).concat([
    "",
    "x".repeat(129),
    "x".repeat(5000),
    ".hidden",
    "-x",
    "é",
    "a b",
    "a:b",
  ]);

  const jsonl = useDaemon(() => {
    const home = join("/tmp", `blemees-ids-${process.pid}-${Date.now()}`);
    mkdirSync(join(home, "log"), { recursive: true });
    for (const name of ["victim", "victim.jsonl", "victim.usage.json"])
      writeFileSync(join(home, name), "precious");
    return { home, env: { BLEMEESD_EVENT_LOG_DIR: join(home, "log") } };
  });

  /** Every file below the home with its content, except what the agent keeps for itself. */
  function picture(): Record<string, string> {
    const found: Record<string, string> = {};
    const agent = join(jsonl.current.home, "state/demian");
    const walk = (directory: string): void => {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        if (path === agent) continue;
        if (statSync(path).isDirectory()) walk(path);
        else if (statSync(path).isFile())
          found[path] = createHash("sha256").update(readFileSync(path)).digest("hex");
      }
    };
    walk(jsonl.current.home);
    return found;
  }

  test("more than 200 of them, in every verb: invalid_message each, and no file is touched", async () => {
    expect(IDS.length).toBeGreaterThanOrEqual(200);
    // Answered once the store is open: its own files exist then.
    await ask(await jsonl.connect(), "list_requests", {});
    const client = await jsonl.connect();
    const before = picture();
    const verbs = [
      (session_id: string) => ({ type: "blemeesd.open", session_id, backend: "demo", options: {} }),
      (session_id: string) => ({
        type: "blemeesd.open",
        session_id,
        backend: "demo",
        options: {},
        resume: true,
      }),
      (session_id: string) => ({ type: "blemeesd.close", session_id, delete: true }),
      (session_id: string) => ({ type: "blemeesd.watch", session_id }),
      (session_id: string) => ({ type: "blemeesd.unwatch", session_id }),
      (session_id: string) => ({ type: "blemeesd.session_info", session_id }),
      (session_id: string) => ({ type: "blemeesd.interrupt", session_id }),
      (session_id: string) => ({ type: "agent.user", session_id, message: { role: "user", content: "x" } }),
    ];
    for (const id of IDS) for (const verb of verbs) client.send(verb(id));
    for (const _ of range(1, IDS.length * verbs.length)) {
      expect((await client.next("blemeesd.error"))["code"]).toBe("invalid_message");
    }
    await barrier(client);
    expect(client.frames).toHaveLength(IDS.length * verbs.length + 2);
    expect(picture()).toEqual(before);
  });

  test("positive control: a good id does make its two files, and close with delete removes exactly them", async () => {
    const client = await jsonl.connect();
    // The store's own journal is created by the first append, the observer's database a moment after the start.
    const listFiles = () =>
      Object.keys(picture()).filter((path) => !/journal-\d+$|\/observability\.db|\/runs\//.test(path));
    const before = listFiles();
    const session_id = `good.id-1_x${newId()}`;
    await openDemo(client, session_id);
    await client.turn(session_id, "hello");
    const log = join(jsonl.current.home, "log");
    expect(
      readdirSync(log)
        .filter((name) => name.startsWith(session_id))
        .sort(),
    ).toEqual([`${session_id}.jsonl`, `${session_id}.usage.json`]);
    await ask(client, "close", { session_id, delete: true });
    expect(listFiles()).toEqual(before);
    expect(existsSync(join(jsonl.current.home, "victim.jsonl"))).toBe(true);
  });
});

test("an error does not echo an empty session_id, and a negative last_seen_seq must be 0 or more", async () => {
  const client = await daemon.connect();
  for (const type of ["session_info", "watch", "close"]) {
    const refused = await ask(client, type, { session_id: "" });
    expect(refused).toMatchObject({ type: "blemeesd.error", code: "invalid_message" });
    expect(refused).not.toHaveProperty("session_id");
  }
  const refused = await ask(client, "watch", { session_id: STEADY, last_seen_seq: -1 });
  expect(refused).toMatchObject({
    session_id: STEADY,
    message: "blemeesd.watch: /last_seen_seq: must be 0 or more",
  });
});
