// Agents that misbehave: each turn has exactly one end, nothing is left over, and the session can be used again.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { user } from "../conformance.ts";
import { isRunning, pidIn } from "../processes.ts";
import { fakeAgent, noticesOf, QUICK, say } from "./fake.ts";

const subtypes = ({ sink }: { sink: { results: Array<{ subtype: string }> } }) =>
  sink.results.map(({ subtype }) => subtype);

describe("interrupt", () => {
  test("of an agent that answers end_turn is still an interrupt", async () => {
    const session = await fakeAgent({ cancelReason: "end_turn" }).start();
    await session.run.send(user("#slow 1000 20"));
    await session.sink.until(({ events }) => events.some(({ type }) => type === "agent.delta"));
    await session.run.interrupt();
    expect(subtypes(session)).toEqual(["interrupted"]);
    expect(await say(session, "#say next")).toBe("next");
  });

  test("answers pending requests with the outcome cancelled", async () => {
    const agent = fakeAgent();
    const session = await agent.start();
    await session.run.send(user("#ask make"));
    await session.sink.untilAsk(1);
    await session.run.interrupt();
    expect(agent.heard()).toContainEqual(
      expect.objectContaining({ id: 0, result: { outcome: { outcome: "cancelled" } } }),
    );
  });

  test("ends a command that the agent leaves running: the session is closed there and resumed with the next message", async () => {
    const agent = fakeAgent();
    const session = await agent.start();
    await say(session, "#say before");
    const file = join(agent.home.home, "pid");
    await session.run.send(user(`#run ${file}`));
    const pid = await pidIn(file);
    await session.run.interrupt();
    expect(subtypes(session)).toEqual(["success", "interrupted"]);
    expect(isRunning(pid)).toBe(false);
    expect(await say(session, "#history")).toContain("#say before");
    const methods = agent.heard().flatMap(({ method }) => method ?? []);
    expect(methods.slice(-4)).toEqual([
      "session/cancel",
      "session/close",
      "session/resume",
      "session/prompt",
    ]);
    expect(agent.pids()).toHaveLength(1);
  });

  test("also ends a command that survives the close, in a shared process", async () => {
    const agent = fakeAgent({ leaveCommand: true }, { spec: { process: "shared" } });
    const session = await agent.start();
    const file = join(agent.home.home, "pid");
    await session.run.send(user(`#run ${file}`));
    const pid = await pidIn(file);
    await session.run.interrupt();
    expect(isRunning(pid)).toBe(false);
  });

  test("of an agent that ignores it ends the process; the session continues in another one", async () => {
    const agent = fakeAgent({ fault: "deaf" });
    const session = await agent.start();
    const { pid = 0 } = session.run;
    await session.run.send(user("#hang"));
    await session.sink.until(({ events }) => events.some(({ type }) => type === "agent.delta"));
    await session.run.interrupt();
    expect(subtypes(session)).toEqual(["interrupted"]);
    expect(session.sink.ends).toMatchObject([{ expected: true }]);
    expect(isRunning(pid)).toBe(false);
    const id = session.sink.heard.flatMap((heard) => (heard.kind === "nativeId" ? [heard.id] : []))[0] ?? "";
    const again = await agent.start({}, { resume: true, native_session_id: id });
    expect(await say(again, "#history")).toContain("#hang");
  });

  test("of one session that hangs does not affect the others in its process", async () => {
    const agent = fakeAgent({ can: ["resume"] }, { spec: { process: "shared" } });
    const [stuck, other] = await Promise.all([agent.start(), agent.start()]);
    await other.run.send(user("#slow 40 20 #say done"));
    await stuck.run.send(user("#hang"));
    await stuck.sink.until(({ events }) => events.some(({ type }) => type === "agent.delta"));
    await stuck.run.interrupt();
    expect(subtypes(stuck)).toEqual(["interrupted"]);
    expect(stuck.sink.ends).toMatchObject([{ expected: true }]);
    await other.sink.untilResults(1);
    expect(subtypes(other)).toEqual(["success"]);
    expect(other.sink.ends).toEqual([]);
  });

  test("of one session spares a process that is not read because another session has too much waiting", async () => {
    // Long enough for the slow session's unread output to pile up before the cancel is given up.
    const limits = { ...QUICK, cancelMs: 3_000 };
    const agent = fakeAgent({}, { spec: { process: "shared" }, host: { limits } });
    const [slow, other] = [await agent.start(), await agent.start()];
    slow.run.pause();
    // All at once, so the other session's output comes after it.
    await slow.run.send(user("#big 6 4"));
    await other.run.send(user("#wait"));
    await other.run.interrupt();
    expect(subtypes(other)).toEqual(["interrupted"]);
    slow.run.resume();
    await slow.sink.untilResults(1);
    expect(subtypes(slow)).toEqual(["success"]);
    expect(agent.pids()).toHaveLength(1);
  });

  test("of one session ends a shared process that no longer answers, and every session gets the reason", async () => {
    const agent = fakeAgent({ fault: "frozen" }, { spec: { process: "shared" } });
    const [one, two] = await Promise.all([agent.start(), agent.start()]);
    await one.run.send(user("#say x"));
    await one.run.interrupt();
    expect(one.sink.ends).toMatchObject([{ expected: true }]);
    await two.sink.untilEnded();
    expect(two.sink.ends).toMatchObject([
      { expected: false, message: expect.stringContaining("stopped responding") },
    ]);
  });
});

describe("the process", () => {
  test("that dies in a turn ends the run once: open tools and requests are closed, and no result is made up", async () => {
    const session = await fakeAgent().start();
    await session.run.send(user("#open-tool #stderr last-words #exit 3"));
    await session.sink.untilEnded();
    expect(session.sink.ends).toMatchObject([
      { expected: false, code: 3, message: expect.stringContaining("last-words") },
    ]);
    expect(session.sink.events.at(-1)).toMatchObject({ type: "agent.tool_result", is_error: true });
    expect(session.sink.results).toEqual([]);
    await expect(session.run.send(user("#say x"))).rejects.toMatchObject({ code: "backend_crashed" });
  });

  test("that prints garbage or an endless line continues, and it is reported", async () => {
    const session = await fakeAgent({}, { host: { maxLineBytes: 1024 * 1024 } }).start();
    expect(await say(session, "#garbage #big 3 #say still here")).toBe("still here");
    expect(noticesOf(session, "unreadable_output").map(({ text }) => text)).toEqual([
      expect.stringContaining("it is not JSON"),
      expect.stringContaining("it is not an object"),
      expect.stringContaining("longer than"),
    ]);
  });

  test("that sends a line of too many values continues, and the text of the line is in the notice", async () => {
    const session = await fakeAgent().start();
    expect(await say(session, "#values #say still here")).toBe("still here");
    const [told] = noticesOf(session, "unreadable_output");
    expect(told?.text).toContain("more than 50000 values");
    expect(told?.data).toMatchObject({ is_cut: false, text: expect.stringContaining('"values":[1,1,1') });
  });

  test("whose answer to the prompt is longer than the limit fails that turn once, and the next one works", async () => {
    const session = await fakeAgent({}, { host: { maxLineBytes: 4096 } }).start();
    await say(session, "#oversize-end 5000 #say lost");
    expect(session.sink.results).toMatchObject([{ subtype: "error" }]);
    expect(await say(session, "#say back")).toBe("back");
    expect(session.sink.results.map(({ subtype }) => subtype)).toEqual(["error", "success"]);
  });

  test("whose answer to the prompt has too many values fails that turn once, and the next one works", async () => {
    const session = await fakeAgent().start();
    await say(session, "#values-end #say lost");
    expect(session.sink.results).toMatchObject([{ subtype: "error" }]);
    expect(await say(session, "#say back")).toBe("back");
    expect(session.sink.results.map(({ subtype }) => subtype)).toEqual(["error", "success"]);
  });

  test.each([
    ["the end of its input", { ignoreEof: true }],
    ["the end of its input and SIGTERM", { ignoreEof: true, ignoreTerm: true }],
  ])("that ignores %s is still ended", async (_what, setup) => {
    const session = await fakeAgent(setup).start();
    const { pid = 0 } = session.run;
    await session.run.stop("finish");
    expect(session.sink.ends).toMatchObject([{ expected: true }]);
    expect(isRunning(pid)).toBe(false);
  });

  test("is stopped in order: cancel, close, end of input; and its commands end with it", async () => {
    const agent = fakeAgent({ leaveCommand: true });
    const session = await agent.start();
    const file = join(agent.home.home, "pid");
    await session.run.send(user(`#run ${file} #ask never`));
    const pid = await pidIn(file);
    const stopping = session.run.stop("finish");
    void session.run.stop("now");
    await stopping;
    const methods = agent.heard().flatMap(({ method }) => method ?? []);
    expect(methods.slice(-2)).toEqual(["session/cancel", "session/close"]);
    expect(isRunning(pid)).toBe(false);
    expect(session.sink.ends).toHaveLength(1);
  });

  test("that is shared outlives one of its sessions", async () => {
    const agent = fakeAgent({}, { spec: { process: "shared" } });
    const [one, two] = await Promise.all([agent.start(), agent.start()]);
    await one.run.stop("finish");
    expect(await say(two, "#say alone")).toBe("alone");
    expect(agent.heard().filter(({ method }) => method === "session/close")).toHaveLength(1);
  });
});
