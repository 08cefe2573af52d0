// How a broken `codex mcp-server` affects a session: at worst, one reported end with its reason.
import { describe, expect, test } from "vitest";
import { user } from "../conformance.ts";
import { isRunning } from "../processes.ts";
import { fakeCodex, say, startFake } from "./mcp-fake.ts";

const HARMLESS = [
  "#garbage",
  "#half-json",
  "#array",
  "#oversize",
  "#values",
  "#empty-lines",
  "#u2028",
  "#drip",
  "#unknown",
  "#notify",
  "#rate",
  "#startup",
  "#stderr 100",
];

const DEADLY: Array<[directive: string, results: number, why: object]> = [
  ["#crash 3", 0, { code: 3, message: expect.stringMatching(/^stderr tail: thread 'main' panicked \| /) }],
  ["#crash-silent 4", 0, { code: 4, message: "exit 4" }],
  ["#crash-silent 0", 0, { code: 0, message: "exit 0" }],
  ["#sigkill", 0, { signal: "SIGKILL", message: "killed by SIGKILL" }],
  ["#no-newline-exit", 1, { code: 0 }],
  ["#close-stdout", 0, {}],
  ["#content-length", 0, { message: expect.stringContaining("Content-Length") }],
];

describe("a codex that prints nonsense", () => {
  test.each(HARMLESS)("%s: this turn and the next one end well", async (directive) => {
    const started = await startFake();
    await say(started, `${directive} #say first`);
    expect(await say(started, "#say second")).toBe("second");
    expect(started.sink.results.map((result) => result.subtype)).toEqual(["success", "success"]);
    await started.run.stop("finish");
    expect(started.sink.ends).toMatchObject([{ expected: true }]);
  });

  test("a reply of too many values ends its turn as an error, once, and the next one works", async () => {
    const started = await startFake();
    await started.run.send(user("#values-end #say lost"));
    await started.sink.untilResults(1);
    expect(await say(started, "#say second")).toBe("second");
    expect(started.sink.results.map((result) => result.subtype)).toEqual(["error", "success"]);
    await started.run.stop("finish");
  });

  test("a reply longer than the limit ends its turn as an error, once, and the next one works", async () => {
    const started = await startFake({}, { codex: fakeCodex({}, { maxLineBytes: 2048 }) });
    await started.run.send(user("#oversize-end 5000 #say lost"));
    await started.sink.untilResults(1);
    expect(await say(started, "#say second")).toBe("second");
    expect(started.sink.results.map((result) => result.subtype)).toEqual(["error", "success"]);
    await started.run.stop("finish");
  });

  test("a reply of which only the beginning is known, without its id, ends the process with the reason", async () => {
    const started = await startFake({}, { codex: fakeCodex({}, { maxLineBytes: 2048 }) });
    await started.run.send(user("#oversize-late 5000 #say lost"));
    await started.sink.untilEnded();
    expect(started.sink.ends).toMatchObject([
      { expected: false, message: expect.stringContaining("longer than 2048 bytes (max_line_bytes)") },
    ]);
  });

  test.each([
    ["#garbage", "it is not JSON"],
    ["#array", "it is not an object"],
    ["#oversize 5000", "it is longer than 2048 bytes (max_line_bytes)"],
  ])("%s is reported", async (directive, reason) => {
    const started = await startFake({}, { codex: fakeCodex({}, { maxLineBytes: 2048 }) });
    await say(started, `${directive} #say on`);
    expect(started.sink.events).toContainEqual(
      expect.objectContaining({
        type: "agent.notice",
        level: "warn",
        category: "unreadable_output",
        text: expect.stringContaining(reason),
      }),
    );
  });

  test("text with line separators of other alphabets stays one line", async () => {
    expect(await say(await startFake(), "#u2028")).toBe("line\u2028separator\u2029and 🦀");
  });

  test("messages with headers are reported as such", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#content-length"));
    await sink.untilEnded();
    expect(sink.events).toContainEqual(
      expect.objectContaining({ level: "warn", category: "codex_unsupported_framing" }),
    );
  });
});

describe("a codex that dies", () => {
  test.each(DEADLY)(
    "%s is reported once, as unexpected, after all its output",
    async (directive, results, why) => {
      const { run, sink } = await startFake();
      const { pid = 0 } = run;
      await run.send(user(directive));
      await sink.untilEnded();
      expect(sink.ends).toMatchObject([{ expected: false, ...why }]);
      expect(sink.results).toHaveLength(results);
      expect(sink.heard.at(-1)?.kind).toBe("ended");
      expect(isRunning(pid)).toBe(false);
      await expect(run.send(user("anyone?"))).rejects.toMatchObject({ code: "backend_crashed" });
      await run.interrupt();
    },
  );

  test("one that no longer reads is ended when the next message comes", async () => {
    const started = await startFake();
    await say(started, "#close-stdin #say last");
    const { run, sink } = started;
    await run.send(user("x".repeat(200_000)));
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: false }]);
  });

  test("a long farewell is cut, its last lines are kept", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#stderr 300 #crash 1"));
    await sink.untilEnded();
    const message = sink.ends[0]?.message ?? "";
    expect(message.length).toBeLessThanOrEqual(2048);
    expect(message).toContain("request 299: got 401, retrying | thread 'main' panicked");
    expect(message).not.toContain("request 2:");
  });

  test.each(["ignore-eof", "ignore-term"])("%s: stop ends it in bounded time", async (fault) => {
    const { run, sink } = await startFake({}, { codex: fakeCodex({ FAKE_CODEX_FAULT: fault }) });
    const { pid = 0 } = run;
    await run.stop("now");
    expect(sink.ends).toMatchObject([{ expected: true }]);
    expect(isRunning(pid)).toBe(false);
  });
});

describe("a turn that fails", () => {
  test("a JSON-RPC error is the error of the result, and the next turn works", async () => {
    const started = await startFake();
    await say(started, "#rpc-error -32603 model is gone");
    expect(started.sink.results).toMatchObject([
      {
        subtype: "error",
        error: {
          code: "agent_error",
          native_code: -32603,
          message: "model is gone",
          data: { detail: "of the fake" },
        },
      },
    ]);
    expect(await say(started, "#say on")).toBe("on");
    expect(started.sink.heard.some((heard) => heard.kind === "authFailed")).toBe(false);
  });

  test.each(["#tool-error it broke", "#result-error it broke"])("%s is no success", async (prompt) => {
    const started = await startFake();
    await say(started, prompt);
    expect(started.sink.results).toMatchObject([
      { subtype: "error", error: { code: "agent_error", message: "it broke" } },
    ]);
  });

  test("a call that is answered with -32001 is not sent again", async () => {
    const started = await startFake();
    await say(started, "#rpc-error -32001 no");
    expect(JSON.parse(await say(started, "#received tools/call"))).toHaveLength(2);
  });
});

describe("a codex that cannot log in", () => {
  test.each([
    "#rpc-error -32001 no",
    "#rpc-error 401 no",
    "#rpc-error -32000 unexpected status 401 Unauthorized",
    "#tool-error Missing API key",
    "#auth-info",
  ])("%s is reported before the error result, again in each turn", async (prompt) => {
    const started = await startFake();
    for (const turn of [1, 2]) {
      await say(started, prompt);
      const told = started.sink.heard.filter((heard) => heard.kind === "authFailed");
      expect(told).toHaveLength(turn);
      expect(told[0]).toMatchObject({ message: "Run `codex login` to re-authenticate." });
      expect(started.sink.results.at(-1)).toMatchObject({ subtype: "error" });
    }
  });

  test("stderr counts if codex dies with it", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#auth-stderr"));
    await sink.untilEnded();
    expect(sink.heard.slice(-2).map((heard) => heard.kind)).toEqual(["authFailed", "ended"]);
  });

  test("a line with 401 from a codex that lives on means nothing", async () => {
    const started = await startFake();
    const { sink } = started;
    await say(started, "#stderr 50 #say fine");
    await sink.until(({ heard }) => heard.some((one) => one.kind === "stderr" && one.line.includes("401")));
    await say(started, "#say still fine");
    expect(sink.results.map((result) => result.subtype)).toEqual(["success", "success"]);
    expect(sink.heard.some((heard) => heard.kind === "authFailed")).toBe(false);
  });
});
