// Many sessions in one codex process: what they share, and that the trouble of one does not affect the others.
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { type Started, user } from "../conformance.ts";
import { isRunning, pidIn } from "../processes.ts";
import { fakeCodex, fakeHome, pidsOf } from "./fake.ts";

async function say({ run, sink }: Started, text: string): Promise<string | undefined> {
  const { length } = sink.results;
  await run.send(user(text));
  await sink.untilResults(length + 1);
  return sink.texts.at(-1);
}

const subtypes = ({ sink }: Started) => sink.results.map(({ subtype }) => subtype);

describe("sharing", () => {
  test("sessions share a process; other feature flags, own_process and per-session do not", async () => {
    const codex = fakeCodex();
    const all = await Promise.all([
      codex.start(),
      codex.start(),
      codex.start({ config: { features: { x: true } } }),
      codex.start({ own_process: true }),
    ]);
    const [one, two, flagged, own] = all.map(({ run }) => run.pid);
    expect(two).toBe(one);
    expect(new Set([one, flagged, own]).size).toBe(3);
    const [, , third] = all;
    expect(third && (await say(third, "#argv"))).toBe('["app-server","--enable","x"]');
    const apart = fakeCodex({ process: "per-session" });
    const [a, b] = await Promise.all([apart.start(), apart.start()]);
    expect(a.run.pid).not.toBe(b.run.pid);
  });

  test("what one session starts is marked with what no other session can make up", async () => {
    const codex = fakeCodex();
    const order = { session_id: "same" };
    const [one, two] = [await codex.start({}, order), await codex.start()];
    const again = await fakeCodex().start({}, order);
    const markers = [one, two, again].map(({ run }) => run.traces?.markers[0] ?? "");
    expect(new Set(markers).size).toBe(3);
    expect(markers[0]?.split(":")[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.run.traces).toMatchObject({ isShared: true });
  });

  test("a session that must prove who it is has a process of its own", async () => {
    const codex = fakeCodex();
    const [shared, own] = [await codex.start(), await codex.start({}, { own_process: true })];
    expect(own.run.pid).not.toBe(shared.run.pid);
    expect(own.run.traces).toMatchObject({
      isShared: false,
      markers: [expect.any(String), expect.any(String)],
    });
  });

  test("ten turns at once stay apart, also their requests", async () => {
    const codex = fakeCodex();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => codex.start()));
    await Promise.all(
      sessions.map(async ({ run, sink }, index) => {
        await run.send(user(`#slow 5 ${index} #ask cmd${index} #say mine${index}`));
        await sink.until(({ heard }) => heard.some(({ kind }) => kind === "ask"));
        const ask = sink.heard.flatMap((heard) => (heard.kind === "ask" ? [heard.ask] : []))[0];
        expect(ask?.payload.command).toContain(`cmd${index}`);
        await run.answer?.(ask?.native_id ?? "", { decision: index % 2 === 0 ? "accept" : "decline" });
        await sink.untilResults(1);
        expect(sink.texts.slice(-2)).toEqual([
          `decision "${index % 2 === 0 ? "accept" : "decline"}"`,
          `mine${index}`,
        ]);
      }),
    );
    expect(new Set(sessions.map(({ run }) => run.pid)).size).toBe(1);
  });

  test("the first messages of a thread may come before its id is known", async () => {
    const codex = fakeCodex({ home: fakeHome({ FAKE_CODEX_FAULT: "early-notices" }) });
    const session = await codex.start();
    expect(await say(session, "#say here")).toBe("here");
  });
});

describe("the end of the process", () => {
  test("comes a moment after its last session, and a session that returns finds it warm", async () => {
    const codex = fakeCodex({ lingerMs: 60_000 });
    const first = await codex.start();
    const { pid } = first.run;
    await first.run.stop("finish");
    expect(isRunning(pid ?? 0)).toBe(true);
    const second = await codex.start();
    expect(second.run.pid).toBe(pid);
    await second.run.stop("finish");
    await codex.backend.close?.();
    expect(isRunning(pid ?? 0)).toBe(false);
    await expect(codex.start()).rejects.toMatchObject({ code: "daemon_shutdown" });
  });

  test("does not come while another session is in it", async () => {
    const codex = fakeCodex({ lingerMs: 0 });
    const [first, second] = await Promise.all([codex.start(), codex.start()]);
    await first.run.send(user("#wait"));
    await first.run.stop("now");
    expect(first.sink.ends).toMatchObject([{ expected: true }]);
    expect(await say(second, "#say still here")).toBe("still here");
    await second.run.stop("finish");
    expect(isRunning(second.run.pid ?? 0)).toBe(false);
  });

  test("close ends it under running sessions too, which treat that as expected", async () => {
    const codex = fakeCodex();
    const { run, sink } = await codex.start();
    await run.send(user("#wait"));
    await codex.backend.close?.();
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: true }]);
    expect(pidsOf(codex.home).filter(isRunning)).toEqual([]);
  });

  test.each(["ignore-eof", "ignore-term"])("%s: close ends it in bounded time", async (fault) => {
    const codex = fakeCodex({ home: fakeHome({ FAKE_CODEX_FAULT: fault }) });
    const { run } = await codex.start();
    await run.stop("finish");
    await codex.backend.close?.();
    expect(pidsOf(codex.home).filter(isRunning)).toEqual([]);
  });
});

describe("a crash", () => {
  test("is reported to every session once, with codex's last output, and each can start again", async () => {
    const codex = fakeCodex();
    const [first, second, third] = await Promise.all([codex.start(), codex.start(), codex.start()]);
    await second.run.send(user("#wait"));
    await first.run.send(user("#crash 7"));
    for (const { run, sink } of [first, second, third]) {
      await sink.untilEnded();
      const message = expect.stringContaining("something broke");
      expect(sink.ends).toMatchObject([{ expected: false, code: 7, message }]);
      expect(sink.heard.at(-1)?.kind).toBe("ended");
      await expect(run.send(user("anyone?"))).rejects.toMatchObject({ code: "backend_crashed" });
      await run.stop("now");
      expect(sink.ends).toHaveLength(1);
    }
    const again = await codex.start();
    expect(await say(again, "#say back")).toBe("back");
    expect(again.run.pid).not.toBe(first.run.pid);
  });

  test.each([
    ["#sigkill", { signal: "SIGKILL" }],
    ["#close-stdout", {}],
  ])("%s is reported as unexpected", async (directive, why) => {
    const { run, sink } = await fakeCodex().start();
    const { pid } = run;
    await run.send(user(directive));
    await sink.untilEnded();
    expect(sink.ends).toMatchObject([{ expected: false, ...why }]);
    expect(isRunning(pid ?? 0)).toBe(false);
  });

  test.skipIf(process.platform !== "linux")("leaves no command of any session running", async () => {
    const codex = fakeCodex();
    const file = join(codex.home.home, "tool");
    const { run, sink } = await codex.start();
    await run.send(user(`#orphan echo $$ > ${file}; exec sleep 1000 #sigkill`));
    const pid = await pidIn(file);
    await sink.untilEnded();
    expect(isRunning(pid)).toBe(false);
  });

  test.each([
    ["exit-at-start", "Error: broken"],
    ["silent-exit", "codex app-server did not start"],
  ])("%s: start reports it, and nothing is left", async (fault, words) => {
    const codex = fakeCodex({ home: fakeHome({ FAKE_CODEX_FAULT: fault }), transport: "app-server" });
    await expect(codex.start()).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining(words),
    });
    expect(pidsOf(codex.home).filter(isRunning)).toEqual([]);
  });
});

describe("a turn that does not end when it is interrupted", () => {
  test("ends its process if no other session is in it", async () => {
    const session = await fakeCodex().start();
    await session.run.send(user("#say hello #hang"));
    await session.sink.until(({ texts }) => texts.length > 0);
    await session.run.interrupt();
    expect(subtypes(session)).toEqual(["interrupted"]);
    expect(session.sink.ends).toMatchObject([{ expected: true }]);
  });

  test("is abandoned by its session, and the others do not notice", async () => {
    const codex = fakeCodex();
    const [stuck, other] = await Promise.all([codex.start(), codex.start()]);
    await stuck.run.send(user("#say hello #hang 1"));
    await stuck.sink.until(({ texts }) => texts.length > 0);
    await stuck.run.interrupt();
    expect(subtypes(stuck)).toEqual(["interrupted"]);
    expect(stuck.sink.ends).toEqual([]);
    expect(await say(other, "#say fine")).toBe("fine");
    // The next message first ends the abandoned turn, whose late output is dropped.
    expect(await say(stuck, "#say again")).toBe("again");
    expect(subtypes(stuck)).toEqual(["interrupted", "success"]);
    expect(stuck.sink.heard.some(({ kind }) => kind === "turnStarted")).toBe(false);
  });

  test("gets a refusal for its pending request, so that a late approval runs nothing", async () => {
    const codex = fakeCodex();
    const [stuck] = await Promise.all([codex.start(), codex.start()]);
    await stuck.run.send(user("#stubborn 1 #ask make"));
    const { native_id } = await stuck.sink.untilAsk(1);
    await stuck.run.interrupt();
    expect(subtypes(stuck)).toEqual(["interrupted"]);
    expect(stuck.sink.withdrawals).toEqual([native_id]);
    expect(await stuck.run.answer?.(native_id, { decision: "accept" })).toBe(false);
    // Only a turn that got an answer ends on its own; its output is then dropped.
    expect(await say(stuck, "#interrupts")).toBe("1");
    expect(stuck.sink.withdrawals).toEqual([native_id]);
  });

  test("is never added to: a message is refused while it still runs", async () => {
    const codex = fakeCodex();
    const [stuck] = await Promise.all([codex.start(), codex.start()]);
    await stuck.run.send(user("#say hello #hang"));
    await stuck.sink.until(({ texts }) => texts.length > 0);
    await stuck.run.interrupt();
    await stuck.run.send(user("#say into it"));
    await stuck.sink.untilResults(2);
    expect(stuck.sink.results[1]).toMatchObject({
      subtype: "error",
      error: { message: expect.stringContaining("still running the interrupted turn") },
    });
  });

  test("whose turn/start was never answered still gets its one result", async () => {
    const codex = fakeCodex();
    const [stuck, other] = await Promise.all([codex.start(), codex.start()]);
    const sent = stuck.run.send(user("#no-reply"));
    await stuck.run.interrupt();
    expect(subtypes(stuck)).toEqual(["interrupted"]);
    expect(await say(other, "#say fine")).toBe("fine");
    await stuck.run.stop("now");
    await other.run.stop("now");
    await codex.backend.close?.();
    await sent;
  });

  test("a process that answers nothing at all is ended, and every session in it gets the reason", async () => {
    const codex = fakeCodex();
    const [deaf, other] = await Promise.all([codex.start(), codex.start()]);
    await deaf.run.send(user("#say hello #deaf"));
    await deaf.sink.until(({ texts }) => texts.length > 0);
    await deaf.run.interrupt();
    expect(subtypes(deaf)).toEqual(["interrupted"]);
    expect(deaf.sink.ends).toMatchObject([{ expected: true }]);
    await other.sink.untilEnded();
    expect(other.sink.ends).toMatchObject([
      { expected: false, message: expect.stringContaining("stopped responding") },
    ]);
    expect(await say(await codex.start(), "#say new")).toBe("new");
  });
});

describe("reading", () => {
  test("a paused session does not block the others, and gets everything later, in order", async () => {
    const codex = fakeCodex();
    const [slow, quick] = await Promise.all([codex.start(), codex.start()]);
    slow.run.pause();
    await slow.run.send(user("#flood 2000 100 #say end"));
    expect(await say(quick, "#say quick")).toBe("quick");
    expect(slow.sink.results).toEqual([]);
    slow.run.resume();
    await slow.sink.untilResults(1);
    const deltas = slow.sink.events.flatMap((event) => (event.type === "agent.delta" ? [event.text] : []));
    expect(deltas.slice(0, 2000).map((text) => Number.parseInt(text ?? "", 10))).toEqual(
      Array.from({ length: 2000 }, (_, index) => index),
    );
    expect(slow.sink.texts.at(-1)).toBe("end");
  });

  test("past the limit the whole process waits, and continues when the session reads again", async () => {
    const codex = fakeCodex();
    const [slow, quick] = await Promise.all([codex.start(), codex.start()]);
    slow.run.pause();
    await slow.run.send(user("#flood 3000 10000 #say end"));
    const answered = say(quick, "#say quick");
    slow.run.resume();
    await slow.sink.untilResults(1);
    expect(await answered).toBe("quick");
    expect(slow.sink.events.filter(({ type }) => type === "agent.delta").length).toBeGreaterThanOrEqual(3000);
  });

  test.each(["before", "during"])("a session that is paused %s an interrupt gets its end", async (when) => {
    const { run, sink } = await fakeCodex().start();
    if (when === "before") run.pause();
    await run.send(user("#wait"));
    const interrupted = run.interrupt();
    run.pause();
    await interrupted;
    expect(sink.results).toHaveLength(1);
    expect(sink.ends).toEqual([]);
  });

  test("stderr goes to the sessions that have a turn, without its colours", async () => {
    const codex = fakeCodex();
    const [busy, idle] = await Promise.all([codex.start(), codex.start()]);
    // Two pipes have no order between them: the turn must still run when the lines arrive.
    await busy.run.send(user("#stderr 2 #wait"));
    const lines = () => busy.sink.heard.flatMap((heard) => (heard.kind === "stderr" ? [heard.line] : []));
    await vi.waitFor(() => expect(lines()).toEqual(["WARN warning 0", "WARN warning 1"]), 10_000);
    expect(idle.sink.heard.some(({ kind }) => kind === "stderr")).toBe(false);
  });

  test("a line that cannot be read is reported and skipped", async () => {
    const session = await fakeCodex({ maxLineBytes: 4096 }).start();
    expect(await say(session, "#garbage #oversize 5000 #say fine")).toBe("fine");
    const notices = session.sink.events.filter(
      (event) => event.type === "agent.notice" && event.category === "unreadable_output",
    );
    expect(notices).toHaveLength(2);
  });

  test("a turn whose end is longer than the limit fails, once", async () => {
    const session = await fakeCodex({ maxLineBytes: 4096 }).start();
    await session.run.send(user("#oversize-end 5000 #say lost"));
    await vi.waitFor(() => expect(session.sink.ends).toHaveLength(1), 10_000);
    expect(session.sink.ends).toMatchObject([
      { expected: false, message: expect.stringMatching(/^turn\/completed: .*longer than 4096 bytes/) },
    ]);
  });

  test("a line of too many values is skipped and its text kept; a turn whose end it was fails, once", async () => {
    const session = await fakeCodex().start();
    expect(await say(session, "#values #say fine")).toBe("fine");
    expect(session.sink.events).toContainEqual(
      expect.objectContaining({
        category: "unreadable_output",
        data: expect.objectContaining({ is_cut: false, text: expect.stringContaining('"values":[1,1') }),
      }),
    );
    await session.run.send(user("#values-end #say lost"));
    await vi.waitFor(() => expect(session.sink.ends).toHaveLength(1), 10_000);
    expect(session.sink.ends).toMatchObject([
      { expected: false, message: expect.stringMatching(/^turn\/completed: .*more than 50000 values/) },
    ]);
  });
});
