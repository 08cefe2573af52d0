// What a broken claude does to a session: nothing worse than one end with its reason.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { user } from "../conformance.ts";
import { isRunning, pidIn } from "../processes.ts";
import { fakeHome, startFake } from "./fake.ts";

const HARMLESS = [
  "#garbage",
  "#half-json",
  "#array",
  "#half-utf8",
  "#nul",
  "#crlf",
  "#oversize",
  "#deep",
  "#u2028",
  "#drip",
  "#unknown",
  "#rate",
  "#stderr 100",
];

const DEADLY: Array<[directive: string, results: number, why: object]> = [
  [
    "#crash 3",
    0,
    { code: 3, message: expect.stringMatching(/^stderr tail: Error: something broke \| {5}at fake/) },
  ],
  ["#crash-silent 4", 0, { code: 4, message: "exit 4" }],
  ["#sigkill", 0, { signal: "SIGKILL", message: "killed by SIGKILL" }],
  ["#abort", 0, { signal: "SIGABRT" }],
  ["#no-result-exit0", 0, { code: 0, message: "exit 0" }],
  ["#no-newline-exit", 1, { code: 0 }],
  ["#exit-after-result 5", 1, { code: 5 }],
  ["#close-stdout", 0, {}],
  ["#linger-after-result", 1, {}],
];

describe("a claude that prints nonsense", () => {
  test.each(HARMLESS)("%s is skipped: this turn and the next one end well", async (directive) => {
    const { run, sink } = await startFake();
    await run.send(user(`${directive} #say first`));
    await sink.untilResults(1);
    await run.send(user("#say second"));
    await sink.untilResults(2);
    expect(sink.texts.at(-1)).toBe("second");
    expect(sink.results.map((result) => result.subtype)).toEqual(["success", "success"]);
    await run.stop("finish");
    expect(sink.ends).toMatchObject([{ expected: true }]);
  });

  test("text with line separators of other alphabets stays one line", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#u2028"));
    await sink.untilResults(1);
    expect(sink.texts).toEqual(["line\u2028separator\u2029and 🦀"]);
    await run.stop("finish");
  });

  test("a line over the limit is skipped and the limit is a setting", async () => {
    const { run, sink } = await startFake({}, { maxLineBytes: 1024 });
    await run.send(user("#oversize 5000 #say short"));
    await sink.untilResults(1);
    expect(sink.texts).toEqual(["short"]);
    await run.stop("finish");
  });
});

describe("a result that cannot be read fails its turn", () => {
  test.each([
    ["#oversize-result 5000", /^result: a line of .*longer than 1024 bytes/],
    ["#oversize-late 300000", /^a line of .*longer than 1024 bytes/],
    ["#nan-result", /^result: a line of .*it is not JSON/],
  ])("%s", async (directive, message) => {
    const { run, sink } = await startFake({}, { maxLineBytes: 1024 });
    await run.send(user(directive));
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: false, message: expect.stringMatching(message) }]);
  });
});

describe("a claude that dies", () => {
  test.each(DEADLY)(
    "%s is reported once, as unexpected, after all output",
    async (directive, results, why) => {
      const { run, sink } = await startFake({ include_partial_messages: true });
      const { pid = 0 } = run;
      await run.send(user(directive));
      await sink.untilEnded();
      expect(sink.ends).toMatchObject([{ expected: false, ...why }]);
      expect(sink.results).toHaveLength(results);
      expect(sink.heard.at(-1)?.kind).toBe("ended");
      expect(isRunning(pid)).toBe(false);
      await expect(run.send(user("anyone?"))).rejects.toMatchObject({ code: "backend_crashed" });
    },
  );

  test("one that no longer reads is ended when the next message comes", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#close-stdin #say last"));
    await sink.untilResults(1);
    // The first line may still fit into the pipe's buffer; it never comes back.
    while (sink.ends.length === 0) await run.send(user("x".repeat(100_000)));
    expect(sink.ends).toMatchObject([{ expected: false }]);
  });

  test.skipIf(process.platform !== "linux")("its tool does not survive it", async () => {
    const home = fakeHome();
    const file = join(home.home, "tool");
    const { run, sink } = await startFake({}, { home });
    await run.send(user(`#crash-tool sh -c 'echo $$ > ${file}; exec sleep 1000'`));
    await sink.untilEnded();
    expect(isRunning(await pidIn(file))).toBe(false);
  });

  test("a long farewell is cut, its last lines are kept", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#stderr 300 #crash 1"));
    await sink.untilEnded();
    const message = sink.ends[0]?.message ?? "";
    expect(message.length).toBeLessThanOrEqual(2048);
    expect(message).toContain("warning 299 | Error: something broke");
    expect(message).not.toContain("warning 2 ");
  });

  test.each(["ignore-eof", "ignore-term"])("%s: stop ends it in bounded time", async (fault) => {
    const { run, sink } = await startFake({}, { home: fakeHome({ FAKE_CLAUDE_FAULT: fault }) });
    const { pid = 0 } = run;
    await run.stop("now");
    expect(sink.ends).toMatchObject([{ expected: true }]);
    expect(isRunning(pid)).toBe(false);
  });
});

describe("a claude that cannot log in", () => {
  test("401 is reported once, at the first retry, and the result carries the code", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#auth"));
    await sink.untilResults(1);
    const told = sink.heard.filter((heard) => heard.kind === "authFailed");
    expect(told).toEqual([{ kind: "authFailed", message: "Run `claude auth` to re-authenticate." }]);
    expect(sink.results).toMatchObject([
      { subtype: "error", error: { code: "auth_failed", api_error_status: 401 } },
    ]);
    await run.stop("finish");
  });

  test("stderr counts only if claude dies with it", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#auth-stderr"));
    await sink.untilEnded();
    expect(sink.heard.slice(-2).map((heard) => heard.kind)).toEqual(["authFailed", "ended"]);
  });

  test("a line with 401 from a claude that lives on means nothing", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#stderr 500 #say fine"));
    await sink.untilResults(1);
    await sink.until(({ heard }) => heard.some((one) => one.kind === "stderr" && one.line.includes("401")));
    expect(sink.heard.some((heard) => heard.kind === "authFailed")).toBe(false);
    await run.stop("finish");
  });
});

describe("odd results", () => {
  test.each([
    ["#double-result", ["success", "success"]],
    ["#late-delta", ["success"]],
    ["#junk-result", ["success"]],
    ["#max-turns", ["max_turns"]],
    ["#max-budget", ["max_budget"]],
    ["#error 500", ["error"]],
    ["#no-login", ["error"]],
  ])("%s is passed on unchanged", async (directive, subtypes) => {
    const { run, sink } = await startFake();
    await run.send(user(directive));
    await sink.untilResults(subtypes.length);
    expect(sink.results.map((result) => result.subtype)).toEqual(subtypes);
    await run.stop("finish");
    expect(sink.heard.some((heard) => heard.kind === "turnStarted")).toBe(false);
  });
});
