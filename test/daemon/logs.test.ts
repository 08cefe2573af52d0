// The log: one JSON object per line, without prompts or secrets.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, isOf, newId, openDemo, say } from "../servers/socket/talk.ts";
import { startDaemon } from "../support/daemon.ts";

const SECRETS = {
  prompt: "PROMPT-5f1c",
  system: "SYSTEM-8a2d",
  append: "APPEND-11aa",
  answer: "ANSWER-77b0",
  image: "SU1BR0UtZGF0YQ==",
  title: "DEMOTEXT-90cd",
};

/** A daemon run with everything that must not be logged. */
async function liveWith(level: string): Promise<{ lines: Record<string, unknown>[]; text: string }> {
  const env = { ANTHROPIC_API_KEY: "sk-ant-SECRET-KEY", CLAUDE_CODE_OAUTH_TOKEN: "oauth-SECRET-TOKEN" };
  const daemon = await startDaemon({ args: ["--log-level", level], env });
  try {
    const client = await daemon.connect();
    const session_id = newId();
    const options = {
      system_prompt: SECRETS.system,
      append_system_prompt: SECRETS.append,
      include_partial_messages: true,
    };
    await client.open(session_id, options);
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: SECRETS.image } };
    await client.turn(session_id, [
      { type: "text", text: `${SECRETS.prompt} #say ${SECRETS.answer} #garbage` },
      image,
    ]);
    say(client, session_id, `#hang ${SECRETS.prompt}`);
    await client.next(isOf("agent.notice", session_id));
    client.send({ type: "blemeesd.interrupt", session_id });
    await client.next(isOf("agent.result", session_id));
    await client.turn(session_id, `#stderr 2 #crash ${SECRETS.prompt}`);
    await client.open(newId(), { system_prompt: SECRETS.system, nonsense: SECRETS.prompt });
    await openDemo(client, "demo");
    await client.turn("demo", SECRETS.title);
    await ask(client, "list_sessions");
    client.sendRaw(`{"type":"blemeesd.ping","data":"${SECRETS.prompt}\n`);
    await client.next("blemeesd.error");
    await ask(client, "close", { session_id, delete: true });
    await daemon.kill("SIGTERM");
    const text = daemon.log();
    return {
      lines: text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      text,
    };
  } finally {
    await daemon.close();
  }
}

describe.each(["info", "debug"])("at %s", (level) => {
  test("every line is a JSON object with ts, level and event; the documented events are there; no secret is", async () => {
    const { lines, text } = await liveWith(level);
    for (const line of lines) {
      expect(line).toMatchObject({
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: expect.stringMatching(/^(debug|info|warn|error)$/),
        event: expect.stringMatching(/^[a-z]+(\.[a-z_]+)?$/),
      });
    }
    const events = new Set(lines.map((line) => line["event"]));
    for (const event of [
      "daemon.start",
      "daemon.stop",
      "daemon.shutdown_requested",
      "connection.open",
      "connection.hello",
      "connection.close",
      "session.open",
      "session.close",
      "session.interrupt",
      "backend.spawn",
      "backend.exit",
      "error.emitted",
    ]) {
      expect(events).toContain(event);
    }
    for (const [name, secret] of Object.entries(SECRETS)) expect(text, name).not.toContain(secret);
    expect(text).not.toContain("SECRET");
    expect(text).not.toContain("something broke"); // the agent's stderr
  });
});

test("lines carry the ids that belong to them", async () => {
  const { lines } = await liveWith("info");
  const of = (event: string) => lines.find((line) => line["event"] === event);
  // The first connection is the harness checking whether the daemon listens; it may be gone before the daemon handles
  // it.
  const { connection_id } = of("connection.hello") ?? {};
  const opened = lines.find(
    (line) => line["event"] === "connection.open" && line["connection_id"] === connection_id,
  );
  expect(opened).toMatchObject({
    connection_id: expect.any(String),
    peer_pid: process.pid,
    peer_uid: process.getuid?.(),
  });
  expect(of("session.open")).toMatchObject({
    session_id: expect.any(String),
    backend: "claude",
    resume: false,
  });
  expect(of("backend.spawn")).toMatchObject({
    session_id: expect.any(String),
    backend: "claude",
    pid: expect.any(Number),
  });
  expect(of("backend.exit")).toMatchObject({ backend: "claude", session_id: expect.any(String) });
  expect(of("error.emitted")).toMatchObject({ code: expect.any(String) });
  const spawned = lines.filter((line) => line["event"] === "backend.spawn").map((line) => line["pid"]);
  expect(new Set(spawned).size).toBe(spawned.length);
  expect(of("daemon.start")).toMatchObject({ socket_path: expect.any(String), pid: expect.any(Number) });
});

test("a log file is private and gets everything, stderr nothing", async () => {
  const daemon = await startDaemon({
    env: { BLEMEESD_LOG_FILE: "/tmp/ignored" },
    args: ["--log-level", "info"],
  });
  await daemon.close();
  const home = daemon.home;
  const file = join(home, "logs/blemeesd.log");
  const second = await startDaemon({ home, args: ["--log-file", file] });
  try {
    await second.kill("SIGTERM");
    expect(second.log()).toBe("");
    expect(readFileSync(file, "utf8")).toContain('"event":"daemon.start"');
  } finally {
    await second.close();
  }
});

test("an unknown key of the config file is warned about", async () => {
  const { mkdirSync, mkdtempSync, writeFileSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const home = mkdtempSync(join(tmpdir(), "blemees-log-"));
  mkdirSync(join(home, "config/blemeesd"), { recursive: true });
  writeFileSync(join(home, "config/blemeesd/config.toml"), "idle_timeout = 3\nring_buffer_size = 77\n");
  const daemon = await startDaemon({ home });
  try {
    const client = await daemon.connect();
    expect((await ask(client, "status"))["config"]).toMatchObject({ ring_buffer_size: 77 });
    const warning = daemon
      .log()
      .split("\n")
      .find((line) => line.includes("config.warning"));
    expect(JSON.parse(String(warning))).toMatchObject({
      level: "warn",
      message: expect.stringContaining('unknown key "idle_timeout"; did you mean "idle_timeout_s"?'),
    });
  } finally {
    await daemon.close();
  }
});
