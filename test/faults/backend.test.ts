// How a broken agent affects its session and others, through a real daemon: exactly one result per turn, the next turn
// works, other sessions do not notice, and nothing is left running.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRunning } from "../backends/processes.ts";
import {
  ask,
  barrier,
  info,
  isOf,
  lastText,
  newId,
  openDemo,
  range,
  say,
  seen,
  seqsOf,
  streamOf,
  until,
} from "../servers/socket/talk.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";

interface Fault {
  prompt: string;
  /** How the turn ends. */
  subtype: string;
  /** The code of the error frame in the stream, if one comes. */
  code?: string;
  /** Text in the last message, when the fault is harmless. */
  says?: string;
  /** Interrupt it once the turn has begun. */
  interrupt?: boolean;
  /** Only if the agent speaks the control protocol. */
  controlOnly?: boolean;
  /** The agent exits after its result; the next message waits until that is seen. */
  isLast?: boolean;
}

const success = (prompt: string, says?: string): Fault => ({
  prompt,
  subtype: "success",
  ...(says === undefined ? {} : { says }),
});
const crash = (prompt: string): Fault => ({ prompt, subtype: "error", code: "backend_crashed" });
const auth = (prompt: string): Fault => ({ prompt, subtype: "error", code: "auth_failed" });
const stopped = (prompt: string): Fault => ({ prompt, subtype: "interrupted", interrupt: true });

const FAULTS: Fault[] = [
  success("#garbage #say fine", "fine"),
  success("#half-json #say fine", "fine"),
  success("#array #say fine", "fine"),
  success("#half-utf8 #say fine", "fine"),
  success("#nul #say fine", "fine"),
  success("#crlf #say fine", "fine"),
  success("#oversize #say fine", "fine"),
  success("#deep #say fine", "fine"),
  success("#values #say fine", "fine"),
  success("#u2028", "line\u2028separator\u2029and 🦀"),
  success("#drip #say fine", "fine"),
  success("#unknown #rate #say fine", "fine"),
  success("#stderr 500 #say fine", "fine"),
  success("#double-result"),
  success("#late-delta"),
  success("#late-result 30", "early"),
  success("#junk-result"),
  { ...success("#no-newline-exit"), isLast: true },
  { ...success("#exit-after-result 0"), isLast: true },
  { ...success("#exit-after-result 5"), isLast: true },
  { ...success("#linger-after-result"), isLast: true },
  success("#orphan sleep 1000 #say fine", "fine"),
  success("#clear"),
  { ...success("#ask"), controlOnly: true },
  { ...success("#control frobnicate"), controlOnly: true },
  crash("#crash 3"),
  crash("#crash-silent 4"),
  crash("#sigkill"),
  { prompt: "#values-result", subtype: "error", isLast: true },
  crash("#abort"),
  crash("#no-result-exit0"),
  crash("#close-stdout"),
  crash("#crash-tool sleep 1000"),
  crash("#flood 2000 500 #crash 1"),
  crash("#stderr 300 #crash 1"),
  crash("#ignore-term #close-stdout"),
  auth("#auth"),
  auth("#auth-stderr"),
  auth("#no-login"),
  { prompt: "#error 500", subtype: "error" },
  { prompt: "#error 529", subtype: "error" },
  { prompt: "#max-turns", subtype: "max_turns" },
  { prompt: "#max-budget", subtype: "max_budget" },
  stopped("#hang"),
  stopped("#deaf"),
  stopped("#ack-only"),
  stopped("#ignore-term #hang"),
  stopped("#ignore-term #deaf"),
  stopped("#slow 100000 5"),
  stopped("#flood 1000000 200"),
  stopped("#tool sleep 1000"),
];

const MODES = [
  ["control protocol", {}],
  ["plain stub", { FAKE_CLAUDE_PLAIN: "1" }],
] as const;

describe.each(MODES)("%s", (mode, env) => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
  });
  afterAll(async () => {
    await daemon.close();
    expect(daemon.log()).not.toContain('"event":"internal"');
  });

  const faults = FAULTS.filter((fault) => mode === "control protocol" || fault.controlOnly !== true);
  test.concurrent.each(faults)("$prompt → one $subtype, then the next turn works", async (fault) => {
    const [client, other] = [await daemon.connect(), await daemon.connect()];
    const [session_id, neighbour] = [newId(), newId()];
    const opened = await client.open(session_id, { include_partial_messages: true });
    await openDemo(other, neighbour);

    say(client, session_id, fault.prompt);
    if (fault.interrupt === true) await interrupt(client, session_id, fault);
    const meanwhile = other.turn(neighbour, "are you all right");
    const result = await client.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe(fault.subtype);
    expect((await meanwhile)["subtype"]).toBe("success");
    expectErrors(client, session_id, fault);
    if (fault.says !== undefined) expect(lastText(client, session_id)).toBe(fault.says);

    if (fault.isLast === true) {
      await until(
        () => info(other, session_id),
        (row) => row["subprocess_running"] === false,
      );
    }
    const next = await client.turn(session_id, "#say next");
    expect(next["subtype"]).toBe("success");
    expect(lastText(client, session_id)).toBe("next");
    await barrier(client);
    const results = streamOf(client, session_id).filter((frame) => frame.type === "agent.result");
    expect(results).toEqual([result, next]);
    expect(seqsOf(client, session_id)).toEqual(range(1, Number(next["seq"])));

    const now = await client.open(session_id, {}, { resume: true, last_seen_seq: Number(next["seq"]) });
    await ask(client, "close", { session_id });
    const pids = [opened, now].map((frame) => Number(frame["subprocess_pid"]));
    expect(pids.filter(isRunning)).toEqual([]);
    for (const each of [client, other]) {
      checkOutbound(each.frames);
      each.close();
    }
  });

  test.concurrent("an agent that no longer reads costs at most one turn, not the session", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    expect((await client.turn(session_id, "#close-stdin #say last"))["subtype"]).toBe("success");
    const lost = await client.turn(session_id, "x".repeat(1_000_000));
    expect(["error", "success"]).toContain(lost["subtype"]);
    expect((await client.turn(session_id, "#say back"))["subtype"]).toBe("success");
    await barrier(client);
    expect(client.frames.filter(isOf("agent.result", session_id))).toHaveLength(3);
    client.close();
  });

  test.concurrent.each(["#exit-after-result 0", "#exit-after-result 5", "#linger-after-result"])(
    "%s: a message to the dying agent gets exactly one result, and the next one works",
    async (prompt) => {
      const client = await daemon.connect();
      const session_id = newId();
      await client.open(session_id);
      await client.turn(session_id, prompt);
      const met = await client.turn(session_id, "#say too early");
      if (met["subtype"] !== "success") expect(met).toMatchObject({ error: { code: "backend_crashed" } });
      expect((await client.turn(session_id, "#say back"))["subtype"]).toBe("success");
      await barrier(client);
      expect(client.frames.filter(isOf("agent.result", session_id))).toHaveLength(3);
      client.close();
    },
  );

  test.concurrent("an agent that is killed between turns is reported, and started again for the next one", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    await client.turn(session_id, "#say before");
    process.kill(Number(opened["subprocess_pid"]), "SIGKILL");
    await seen(client, (frame) => frame["code"] === "backend_crashed");
    expect((await client.turn(session_id, "#context"))["subtype"]).toBe("success");
    expect(lastText(client, session_id)).toContain("#say before");
    expect(streamOf(client, session_id).filter((frame) => frame.type === "agent.result")).toHaveLength(2);
    client.close();
  });

  test.concurrent("an agent that was stopped with SIGSTOP is replaced by an interrupt", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id, { include_partial_messages: true });
    say(client, session_id, "#slow 100000 5");
    await client.next(isOf("agent.delta", session_id));
    process.kill(Number(opened["subprocess_pid"]), "SIGSTOP");
    client.send({ type: "blemeesd.interrupt", session_id });
    expect((await client.next(isOf("agent.result", session_id)))["subtype"]).toBe("interrupted");
    expect((await client.turn(session_id, "#say back"))["subtype"]).toBe("success");
    expect(isRunning(Number(opened["subprocess_pid"]))).toBe(false);
    client.close();
  });

  test.concurrent("an agent that was stopped with SIGSTOP can be closed", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    process.kill(Number(opened["subprocess_pid"]), "SIGSTOP");
    say(client, session_id, "x".repeat(2_000_000)); // more than a pipe holds: the write never ends
    expect((await ask(client, "close", { session_id })).type).toBe("blemeesd.closed");
    expect(isRunning(Number(opened["subprocess_pid"]))).toBe(false);
    client.close();
  });
});

/** Waits until there is a turn to interrupt, and until it is in the state that the fault is about. */
async function interrupt(client: RawClient, session_id: string, fault: Fault): Promise<void> {
  const begun = /slow|flood/.test(fault.prompt)
    ? "agent.delta"
    : /tool/.test(fault.prompt)
      ? "agent.tool_use"
      : "agent.notice";
  await client.next(isOf(begun, session_id));
  client.send({ type: "blemeesd.interrupt", session_id });
}

function expectErrors(client: RawClient, session_id: string, fault: Fault): void {
  const errors = client.frames.filter((frame: Frame) => frame.type === "blemeesd.error");
  const expected = fault.code === undefined ? [] : [{ session_id, code: fault.code, backend: "claude" }];
  // An agent that exits after its result may still be reported as crashed: it did crash.
  const told = errors.filter((frame) => fault.code !== undefined || frame["code"] !== "backend_crashed");
  expect(told).toMatchObject(expected);
}
