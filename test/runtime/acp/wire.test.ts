import { describe, expect, test } from "vitest";
import { gate } from "../../support/gate.ts";
import { aborted, errorOf, Harness } from "./harness.ts";

describe("the wire", () => {
  test("garbage lines and batches are answered, and the connection lives", async () => {
    const acp = await Harness.start();
    acp.input.write("this is no JSON\n[1,2]\n42\n\n");
    await acp.frame(({ id, error }) => id === null && error?.code === -32700);
    await acp.frame(({ id, error }) => id === null && error?.code === -32600);
    expect((await acp.open()).sessionId).toMatch(/^ses_/);
  });

  test("an unknown method is -32601, bad params are -32602", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    expect(await errorOf(acp.agent.request("session/fly", {}))).toMatchObject({ code: -32601 });
    expect(await errorOf(acp.agent.request("_demian/unknown", {}))).toMatchObject({ code: -32601 });
    const bad = acp.agent.request("session/prompt" as string, { sessionId, prompt: "text" });
    expect(await errorOf(bad)).toMatchObject({ code: -32602 });
    const empty = acp.agent.request("session/prompt", { sessionId, prompt: [] });
    expect(await errorOf(empty)).toMatchObject({ code: -32602, message: expect.stringMatching(/empty/) });
  });

  test("nothing is done before initialize", async () => {
    const acp = new Harness();
    expect(await errorOf(acp.open())).toMatchObject({ code: -32600 });
    acp.input.end();
    await acp.done;
    expect(acp.fakes.created).toBe(0);
  });

  test("the end of the input aborts what runs, answers it, and ends", async () => {
    const acp = new Harness();
    await acp.initialize();
    const { sessionId, prompted } = await running(acp);
    acp.input.end();
    await acp.done;
    expect((await prompted).stopReason).toBe("cancelled");
    expect(acp.fakes.closed).toEqual([sessionId]);
    expect(acp.fakes.closedRuntimes).toBe(1);
  });

  test("a message that is too long ends it with the reason, and the running turn", async () => {
    const acp = new Harness();
    await acp.initialize();
    const { sessionId, prompted, ended } = await running(acp);
    prompted.catch(() => undefined);
    acp.input.write(Buffer.alloc(64 * 1024 * 1024 + 1, " "));
    await expect(acp.done).rejects.toThrow(/exceeds 64 MiB.*send smaller/);
    await ended;
    expect(acp.fakes.closed).toEqual([sessionId]);
  });

  test("what was asked just before the end of the input is still answered", async () => {
    const acp = new Harness();
    const initialize = { jsonrpc: "2.0", id: 7, method: "initialize", params: { protocolVersion: 1 } };
    acp.input.end(`${JSON.stringify(initialize)}\n`);
    await acp.done;
    await acp.frame(({ id, result }) => id === 7 && result?.["protocolVersion"] === 1);
  });

  test("at the end of the input a client that reads slowly still gets all answers", async () => {
    const acp = new Harness();
    await acp.initialize();
    const sessions = [await acp.open(), await acp.open(), await acp.open()];
    const reading = gate();
    const begun = gate();
    let running = 0;
    acp.fakes.onClosed = () => setTimeout(reading.open, 50);
    acp.fakes.script = async (turn) => {
      running += 1;
      if (running === sessions.length) begun.open();
      await aborted(turn.signal);
      return { outcome: "aborted", message: "m".repeat(500_000) };
    };
    const prompted = sessions.map(({ sessionId }) => acp.prompt(sessionId, "go"));
    await begun.passed;
    acp.held = reading.passed;
    acp.input.end();
    for (const answer of await Promise.all(prompted)) expect(answer.stopReason).toBe("cancelled");
    await acp.done;
  });

  test("a reader that goes away ends it quietly, with the running turn", async () => {
    const acp = new Harness();
    await acp.initialize();
    const { sessionId } = await acp.open();
    const ended = gate();
    acp.fakes.script = async (turn) => {
      acp.output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      turn.say("into the void");
      await aborted(turn.signal);
      ended.open();
      return undefined;
    };
    acp.prompt(sessionId, "go").catch(() => undefined);
    await ended.passed;
    await acp.done;
    expect(acp.fakes.closed).toEqual([sessionId]);
  });

  test("a signal ends it as the end of the input does, and the prompt is still answered", async () => {
    const acp = new Harness();
    await acp.initialize();
    const { prompted } = await running(acp);
    acp.stop.abort();
    expect((await prompted).stopReason).toBe("cancelled");
    await acp.done;
    expect(acp.input.destroyed).toBe(true);
  });

  test("characters that a stream cuts in two come whole, and half ones do not reach the client", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.say("a\ud83d");
      await acp.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
      turn.say("\ude00b");
      const call = { callId: "c1", name: "bash" };
      turn.emit({ type: "tool.requested", ...call, input: { command: "echo \udc00" } });
      const content = "half: \ud83d";
      turn.emit({ type: "tool.completed", ...call, ok: true, preview: "", content, durationMs: 1 });
      return undefined;
    };
    await acp.prompt(sessionId, "go");
    const chunks = acp.ofKind(sessionId, "agent_message_chunk");
    expect(chunks.map(({ content }) => (content as { text: string }).text)).toEqual(["a", "\u{1f600}b"]);
    expect(JSON.stringify(acp.frames)).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.stringify(acp.ofKind(sessionId, "tool_call_update"))).toContain("half: \ufffd");
  });

  test("a client that reads slowly gets all of a flood, in few frames", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const reading = gate();
    acp.held = reading.passed;
    const words = 20_000;
    acp.fakes.script = async (turn) => {
      for (let n = 0; n < words; n += 1) {
        turn.say("word ");
        if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      reading.open();
      return undefined;
    };
    await acp.prompt(sessionId, "go");
    const chunks = acp.ofKind(sessionId, "agent_message_chunk");
    const text = chunks.map(({ content }) => (content as { text: string }).text).join("");
    expect(text).toBe("word ".repeat(words));
    expect(chunks.length).toBeLessThan(words / 50);
  });
});

/** A prompt whose turn has started, and ends only when it is aborted. */
async function running(acp: Harness) {
  const { sessionId } = await acp.open();
  const [begun, ended] = [gate(), gate()];
  acp.fakes.script = async (turn) => {
    begun.open();
    await aborted(turn.signal);
    ended.open();
    return undefined;
  };
  const prompted = acp.prompt(sessionId, "go");
  await begun.passed;
  return { sessionId, prompted, ended: ended.passed };
}
