// What every backend must do. A backend's own test calls `testBackend` once and adds its own cases.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Backend, Run, StartOrder } from "../../src/backends/types.ts";
import { silentLog } from "../../src/base/log.ts";
import { AgentEvent } from "../../src/protocol/events.ts";
import { RequestPayload } from "../../src/protocol/requests.ts";
import { isRunning } from "./processes.ts";
import { Recorder } from "./recorder.ts";

export interface BackendUnderTest {
  backend: Backend;
  /** The client's block, before it is checked. */
  options: Record<string, unknown>;
  prompts: {
    /** Answered at once. */
    quick: string;
    /** Streams for many seconds; at least one event of content comes early. */
    slow: string;
    /** Streams many events as fast as it can, the same every time. */
    many: string;
    /** Asks once for a permission; the turn ends well after `accept`. Absent: this backend never asks. */
    ask?: string;
    /** The same, but it has closed its input before it asks. Absent: it has none. */
    askUnread?: string;
  };
}

export interface Started {
  run: Run;
  sink: Recorder;
  order: StartOrder;
}

export async function startBackend(
  { backend, options }: Pick<BackendUnderTest, "backend" | "options">,
  over: Partial<StartOrder> = {},
): Promise<Started> {
  const order: StartOrder = {
    session_id: randomUUID(),
    resume: false,
    began_here: true,
    options: backend.checkOptions(options),
    generation: "g1",
    env: {},
    log: silentLog,
    ...over,
  };
  const sink = new Recorder();
  return { run: await backend.start(order, sink), sink, order };
}

export function user(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

export function testBackend(name: string, options: BackendUnderTest): void {
  const { backend, prompts } = options;
  const start = (over?: Partial<StartOrder>) => startBackend(options, over);

  describe(`${name} keeps the contract of a backend`, () => {
    test("it reports its version", async () => {
      expect(await backend.detect()).toMatch(/\d/);
    });

    test("an unknown option is refused with the path of the field", () => {
      const check = () => backend.checkOptions({ no_such_option: 1 });
      expect(check).toThrow(
        expect.objectContaining({
          code: "invalid_message",
          message: expect.stringContaining(`/options/${backend.name}/no_such_option: unexpected property`),
        }),
      );
    });

    test("each message gets exactly one result, the last event of its turn, and all events are valid", async () => {
      const { run, sink } = await start();
      for (const turn of [1, 2]) {
        await run.send(user(prompts.quick));
        await sink.untilResults(turn);
        expect(sink.events.at(-1)?.type).toBe("agent.result");
      }
      await run.stop("finish");
      expect(sink.results.map((result) => result.subtype)).toEqual(["success", "success"]);
      for (const event of sink.events) expect(AgentEvent.safeParse(event).error).toBeUndefined();
    });

    test("when a result is reported, the agent is no longer busy with that turn", async () => {
      const { run, sink } = await start();
      const busy: unknown[] = [];
      const { event } = sink;
      sink.event = (told) => {
        if (told.type === "agent.result") busy.push(run.isBusy ?? false);
        event.call(sink, told);
      };
      await run.send(user(prompts.quick));
      await sink.untilResults(1);
      await run.stop("finish");
      expect(busy).toEqual([false]);
    });

    test("an interrupt ends the turn once, and the agent continues or reports its end", async () => {
      const { run, sink } = await start();
      await run.send(user(prompts.slow));
      await sink.until(({ events }) => events.some((event) => event.type !== "agent.system_init"));
      await run.interrupt();
      const subtypes = sink.results.map((result) => result.subtype);
      if (sink.ends.length > 0) expect(sink.ends).toMatchObject([{ expected: true }]);
      else {
        expect(subtypes).toEqual(["interrupted"]);
        await run.send(user(prompts.quick));
        await sink.untilResults(2);
      }
      await run.stop("now");
      expect(sink.ends).toHaveLength(1);
    });

    test("an interrupt without a turn does nothing", async () => {
      const { run, sink } = await start();
      await run.interrupt();
      expect(sink.results).toEqual([]);
      expect(sink.ends).toEqual([]);
      await run.stop("finish");
    });

    test.each(["finish", "now"] as const)(
      "stop %s ends it, reported once, and leaves no process",
      async (how) => {
        const { run, sink } = await start();
        const { pid } = run;
        await Promise.all([run.stop(how), run.stop(how)]);
        await run.stop("now");
        expect(sink.ends).toMatchObject([{ expected: true }]);
        expect(sink.heard.at(-1)?.kind).toBe("ended");
        if (pid !== undefined) expect(isRunning(pid)).toBe(false);
      },
    );

    test("stop in the middle of a turn leaves no process", async () => {
      const { run, sink } = await start();
      const { pid } = run;
      await run.send(user(prompts.slow));
      await sink.until(({ events }) => events.length > 0);
      await run.stop("now");
      expect(sink.ends).toMatchObject([{ expected: true }]);
      if (pid !== undefined) expect(isRunning(pid)).toBe(false);
    });

    test("pause and resume lose nothing and change no order", async () => {
      const { run, sink } = await start();
      await run.send(user(prompts.many));
      await sink.untilResults(1);
      const whole = sink.events.map(shapeOf);
      await run.stop("finish");

      const slow = await start();
      const { length } = slow.sink.heard;
      await slow.run.send(user(prompts.many));
      await slow.sink.until(({ heard }) => heard.length > length);
      for (let pauses = 0; pauses < 5; pauses += 1) {
        slow.run.pause();
        await new Promise((resolve) => setImmediate(resolve));
        slow.run.resume();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await slow.sink.untilResults(1);
      expect(slow.sink.events.map(shapeOf)).toEqual(whole);
      await slow.run.stop("finish");
    });

    if (prompts.ask !== undefined) testAsking(start, prompts.ask);
    if (prompts.askUnread !== undefined) testUnreachable(start, prompts.ask ?? "", prompts.askUnread);
  });
}

async function ask(start: () => Promise<Started>, prompt: string) {
  const started = await start();
  await started.run.send(user(prompt));
  const ask = await started.sink.untilAsk(1);
  const answer = async (decision: "accept" | "decline" | "cancel") =>
    started.run.answer?.(ask.native_id, { decision });
  return { ...started, ask, answer };
}

/** Rules for every backend that asks. */
function testAsking(start: () => Promise<Started>, prompt: string): void {
  const startAsking = () => ask(start, prompt);

  test("a request is complete: its content, and at least accept and decline to choose from", async () => {
    const { run, ask } = await startAsking();
    expect(RequestPayload.safeParse(ask.payload).error).toBeUndefined();
    const decisions = ask.payload.choices.map((choice) => choice.decision);
    expect(decisions).toEqual(expect.arrayContaining(["accept", "decline"]));
    // An answer names one of them.
    const names = ask.payload.choices.map(({ decision, option = "" }) => `${decision} ${option}`);
    expect(new Set(names).size).toBe(names.length);
    await run.stop("now");
  });

  test("an accepted request lets the turn end well, and is not withdrawn", async () => {
    const { run, sink, answer } = await startAsking();
    expect(await answer("accept")).toBe(true);
    await sink.untilResults(1);
    expect(sink.results).toMatchObject([{ subtype: "success" }]);
    expect(sink.withdrawals).toEqual([]);
    await run.stop("finish");
  });

  test("a declined request still ends in a result", async () => {
    const { run, sink, answer } = await startAsking();
    expect(await answer("decline")).toBe(true);
    await sink.untilResults(1);
    expect(sink.results).toHaveLength(1);
    await run.stop("finish");
  });

  test("only the first answer counts", async () => {
    const { run, sink, answer } = await startAsking();
    expect(await Promise.all([answer("accept"), answer("decline")])).toEqual([true, false]);
    await sink.untilResults(1);
    expect(await answer("accept")).toBe(false);
    expect(sink.results).toMatchObject([{ subtype: "success" }]);
    await run.stop("finish");
  });

  test("an answer to an unknown request is not sent", async () => {
    const { run } = await startAsking();
    expect(await run.answer?.("no-such-request", { decision: "accept" })).toBe(false);
    await run.stop("now");
  });

  test("an interrupt withdraws the request before the result, and the answer comes too late", async () => {
    const { run, sink, ask, answer } = await startAsking();
    await run.interrupt();
    expect(await answer("accept")).toBe(false);
    if (sink.ends.length > 0) return;
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(sink.withdrawals).toEqual([ask.native_id]);
    const order = sink.heard.map((heard) => (heard.kind === "event" ? heard.event.type : heard.kind));
    expect(order.indexOf("withdrawn")).toBeLessThan(order.indexOf("agent.result"));
    await run.stop("now");
  });

  test.each(["finish", "now"] as const)("stop %s with an open request leaves no process", async (how) => {
    const { run, sink, answer } = await startAsking();
    const { pid } = run;
    await run.stop(how);
    expect(sink.ends).toMatchObject([{ expected: true }]);
    expect(await answer("accept")).toBe(false);
    if (pid !== undefined) expect(isRunning(pid)).toBe(false);
  });
}

/** Rules for every backend whose agent is a process that may die while it waits. */
function testUnreachable(start: () => Promise<Started>, prompt: string, unread: string): void {
  test("an answer that cannot be written is no answer: it rejects, and the agent ends", async () => {
    const { run, sink, answer } = await ask(start, unread);
    const { pid = 0 } = run;
    await expect(answer("accept")).rejects.toMatchObject({ code: "backend_crashed" });
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: false }]);
    expect(await answer("accept")).toBe(false);
    expect(isRunning(pid)).toBe(false);
  });

  test("an answer to an agent that was just killed never leaves a turn waiting", async () => {
    const { run, sink, answer } = await ask(start, prompt);
    process.kill(run.pid ?? 0, "SIGKILL");
    // The pipe may still take it: then the end that follows shows what became of it.
    const outcome = await answer("accept").catch((error: unknown) => error);
    if (typeof outcome !== "boolean") expect(outcome).toMatchObject({ code: "backend_crashed" });
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: false }]);
    expect(sink.results).toEqual([]);
  });
}

/** What is the same in every run of the same prompt: not ids, not times. */
function shapeOf(event: AgentEvent): unknown {
  if (event.type === "agent.delta") return [event.type, event.kind, event.text];
  if (event.type === "agent.message") return [event.type, event.content.map((block) => block["text"])];
  return event.type;
}
