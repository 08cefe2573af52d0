// What the daemon promises for every ACP agent, on one session of a real one: in the order of a working day, because
// such an agent needs seconds to start.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Frame } from "../../support/raw-client.ts";
import { begin, choiceOf, listRequests, settle } from "../asks.ts";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume, type Talk, type World } from "../world.ts";

/** What differs from agent to agent. */
export interface Manners {
  /** The name of the agent in its own words. */
  title: RegExp;
  open(): Promise<World<{ close(): Promise<void> }>>;
  /** A prompt that makes it want to run this, and ask. */
  command(line: string): string;
  /** How a turn ends in which a command was declined. */
  declined: "success" | "interrupted";
  /** Below the home: where it keeps what it is allowed to do for ever. */
  rules: readonly string[];
  /** Whether it tells enough of a command for a rule of the daemon's own. */
  forSession: boolean;
  /** Prompts on which the model fails, and the code of that: what the agent does not try again for minutes. */
  failures?: ReadonlyArray<readonly [prompt: string, code: string]>;
  /** A prompt that makes it want to add this file, and ask; absent: it does not ask for that, or tells no diff. */
  change?: { place: "project" | "outside"; prompt(path: string): string };
}

/** gemini loses a session that it loads in the minute in which it made it, so it may have to wait for the next one. */
const PATIENT = { timeout: 150_000 };

export function testAgent(manners: Manners): void {
  let world: World<{ close(): Promise<void> }>;
  let talk: Talk;
  beforeAll(async () => {
    world = await manners.open();
    const startedMs = performance.now();
    talk = await world.session();
    console.log(`${world.backend}: open to opened ${Math.round(performance.now() - startedMs)} ms`);
  });
  afterAll(async () => {
    await world?.close();
    if (talk !== undefined) await untilGone(markOf(talk.session_id));
  });

  const has = (file: string) => existsSync(join(world.cwd, file));
  const interrupt = () => talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const asksIn = (frames: readonly Frame[]) =>
    frames.filter((frame) => frame["category"] === "request_pending");

  describe("one session", () => {
    test("it says who it is, and streams its answer word by word", async () => {
      const { result, text, frames } = await talk.say("#mock:text one two three remember the red fox");
      expect(result).toMatchObject({ subtype: "success", backend: world.backend });
      expect(text).toBe("one two three remember the red fox");
      const deltas = ofType(frames, "agent.delta").map((frame) => String(frame["text"]));
      expect(deltas.length).toBeGreaterThan(1);
      expect(deltas.join("")).toBe(text);
      const [init] = ofType(talk.client.frames, "agent.system_init");
      expect(init).toMatchObject({
        cwd: world.cwd,
        capabilities: { agent: expect.stringMatching(manners.title) },
      });
    });

    test("a command waits for its answer: accepted it runs, and the model is told", async () => {
      const turn = begin(talk, manners.command("echo ran > accepted; printf 'done-%s' 42"));
      const row = await turn.asked();
      expect(row).toMatchObject({ request_type: "command", status: "pending", backend: world.backend });
      expect(row.payload.command).toContain("echo ran > accepted");
      expect(has("accepted")).toBe(false);
      await settle(turn, row, { decision: "accept" });
      const { result, text, frames } = await turn.end();
      expect(result["subtype"]).toBe("success");
      expect(has("accepted")).toBe(true);
      expect(text).toMatch(/^tool said: .*done-42/s);
      const [use] = ofType(frames, "agent.tool_use");
      expect(ofType(frames, "agent.tool_result")).toMatchObject([
        { tool_use_id: use?.["tool_use_id"], is_error: false },
      ]);
    });

    test("declined it does not run, its tool is told as failed, and the session goes on", async () => {
      const turn = begin(talk, manners.command("echo ran > declined"));
      await settle(turn, await turn.asked(), { decision: "decline" });
      const { result, frames } = await turn.end();
      expect(result["subtype"]).toBe(manners.declined);
      expect(ofType(frames, "agent.tool_result")).toMatchObject([{ is_error: true }]);
      expect(has("declined")).toBe(false);
      expect((await talk.say("#mock:text go on")).text).toBe("go on");
    });

    test.runIf(manners.forSession)(
      "for the session: the daemon answers the same command itself, and the agent writes nothing down",
      async () => {
        const before = contents(world.home, manners.rules);
        const prompt = manners.command("echo again >> twice");
        const turn = begin(talk, prompt);
        const row = await turn.asked();
        expect(choiceOf(row, "acceptForSession").remembers).toEqual(["this exact command"]);
        await settle(turn, row, { decision: "acceptForSession" });
        await turn.end();
        // opencode sends the input of a call sometimes before it asks, sometimes after.
        for (const _time of ["second", "third", "fourth"]) {
          const again = await talk.say(prompt);
          expect(asksIn(again.frames)).toEqual([]);
          expect(again.frames.filter((frame) => frame["category"] === "permission_granted")).toHaveLength(1);
        }
        expect(readFileSync(join(world.cwd, "twice"), "utf8")).toBe("again\n".repeat(4));
        // Another command is asked for.
        const other = begin(talk, manners.command("echo other >> twice"));
        await settle(other, await other.asked(), { decision: "decline" });
        await other.end();
        expect(contents(world.home, manners.rules)).toEqual(before);
      },
    );

    test.runIf(manners.change !== undefined)(
      "for the session: the same change of a file is not asked for again, that of another file is",
      async () => {
        const { place, prompt } = manners.change ?? { place: "project", prompt: () => "" };
        const outside = mkdtempSync(join(import.meta.dirname, "../../../.e2e/outside-"));
        onTestFinished(() => rmSync(outside, { recursive: true }));
        const directory = place === "project" ? world.cwd : outside;
        const [file, other] = [join(directory, "changed"), join(directory, "other")];
        const turn = begin(talk, prompt(file));
        const row = await turn.asked();
        expect(row.payload.changes?.map(({ path }) => path)).toEqual([file]);
        expect(choiceOf(row, "acceptForSession").remembers).toEqual(["exactly this change"]);
        await settle(turn, row, { decision: "acceptForSession" });
        await turn.end();
        rmSync(file);
        expect(asksIn((await talk.say(prompt(file))).frames)).toEqual([]);
        expect(existsSync(file)).toBe(true);
        const second = begin(talk, prompt(other));
        await settle(second, await second.asked(), { decision: "decline" });
        await second.end();
        expect(existsSync(other)).toBe(false);
      },
    );

    test.runIf(!manners.forSession)(
      "for the session is not offered where the agent tells no input, and the same command is asked for again",
      async () => {
        const before = contents(world.home, manners.rules);
        for (const _time of ["first", "second"]) {
          const turn = begin(talk, manners.command("echo again >> twice"));
          const row = await turn.asked();
          expect(row.payload.choices.map(({ decision }) => decision)).toEqual([
            "accept",
            "decline",
            "cancel",
          ]);
          await settle(turn, row, { decision: "accept" });
          await turn.end();
        }
        expect(readFileSync(join(world.cwd, "twice"), "utf8")).toBe("again\nagain\n");
        expect(contents(world.home, manners.rules)).toEqual(before);
      },
    );

    test("an interrupt in the middle of a text ends the turn; the next one works", async () => {
      talk.send("#mock:slow 200 50");
      await talk.until((frame) => frame.type === "agent.delta" && /tick[2-9]/.test(String(frame["text"])));
      const startedMs = performance.now();
      interrupt();
      const result = await talk.until((frame) => frame.type === "agent.result");
      console.log(`${world.backend}: interrupt to result ${Math.round(performance.now() - startedMs)} ms`);
      expect(result["subtype"]).toBe("interrupted");
      expect((await talk.say("#mock:text go on")).text).toBe("go on");
    });

    test("an interrupt in the middle of a command leaves no process of it behind", async () => {
      const mark = markOf(talk.session_id);
      const turn = begin(talk, manners.command(long(61)));
      await settle(turn, await turn.asked(), { decision: "accept" });
      await untilRuns(mark, "sleep 61");
      interrupt();
      const { result, frames } = await turn.end();
      expect(result["subtype"]).toBe("interrupted");
      expect(ofType(frames, "agent.tool_result")).toHaveLength(1);
      await untilGone(mark, "sleep 61");
      // It was asked to stop, not killed: the same conversation goes on.
      const { text } = await talk.say("#mock:context");
      expect(text).toContain("remember the red fox");
    });

    test("an interrupt takes back what was asked, and nothing runs", async () => {
      const turn = begin(talk, manners.command("echo ran > too-late"));
      const row = await turn.asked();
      interrupt();
      expect((await turn.end()).result["subtype"]).toBe("interrupted");
      expect(await turn.became(row, "withdrawn")).toMatchObject({ error_code: "request_withdrawn" });
      expect(await turn.respond(row, { decision: "accept" })).toMatchObject({ code: "request_withdrawn" });
      expect((await talk.say("#mock:text go on")).text).toBe("go on");
      expect(has("too-late")).toBe(false);
    });

    test("a model that refuses the key is an error with the reason, and the session stays usable", async () => {
      const { result } = await talk.say("#mock:err 401");
      expect(result).toMatchObject({ subtype: "error", error: { code: "auth_failed" } });
      expect((await talk.say("#mock:text back again")).text).toBe("back again");
    });
  });

  test.each(manners.failures ?? [])(
    "%s is an error with the code %s and the agent's words",
    async (prompt, code) => {
      const { result } = await talk.say(prompt);
      expect(result).toMatchObject({
        subtype: "error",
        error: { code, message: expect.stringMatching(/../) },
      });
      expect((await talk.say("#mock:text back again")).text).toBe("back again");
    },
  );

  describe("a new process", () => {
    test(
      "a daemon that is killed in the middle of a command leaves nothing behind; the session resumes with all that was said",
      PATIENT,
      async () => {
        const mark = markOf(talk.session_id);
        const turn = begin(talk, manners.command(long(62)));
        await settle(turn, await turn.asked(), { decision: "accept" });
        await untilRuns(mark, "sleep 62");
        await world.restart("SIGKILL");
        await untilGone(mark);
        const startedMs = performance.now();
        const again = await resume(world, talk);
        const tookMs = Math.round(performance.now() - startedMs);
        console.log(`${world.backend}: resumed in ${tookMs} ms`);
        expect(again.opened).toMatchObject({ type: "blemeesd.opened" });
        const result = await again.until((frame) => frame.type === "agent.result");
        expect(result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
        const { text } = await again.say("#mock:context");
        expect(text).toContain("remember the red fox");
        // What the agent repeats of the conversation is not told again.
        expect(ofType(again.client.frames, "agent.result")).toHaveLength(2);
        expect(ofType(again.client.frames, "agent.message")).toHaveLength(1);
        // Longer than any start may take: then it was told what it waits for.
        const waits = again.client.frames.filter((frame) => frame["category"] === "resume_waits");
        if (tookMs > 35_000) expect(waits).toMatchObject([{ text: expect.stringMatching(/waiting \d+ s$/) }]);
        expect(await listRequests(again.client, { session_id: talk.session_id })).toEqual([]);
        talk = again;
      },
    );

    test.runIf(manners.forSession)(
      "what was allowed for the session is asked again in a new process",
      async () => {
        const turn = begin(talk, manners.command("echo again >> twice"));
        await settle(turn, await turn.asked(), { decision: "decline" });
        await turn.end();
        expect(readFileSync(join(world.cwd, "twice"), "utf8")).toBe("again\n".repeat(4));
      },
    );

    test(
      "closing the session in the middle of a command leaves no process, and it can be taken up again",
      PATIENT,
      async () => {
        const mark = markOf(talk.session_id);
        const turn = begin(talk, manners.command(long(63)));
        await settle(turn, await turn.asked(), { decision: "accept" });
        await untilRuns(mark, "sleep 63");
        expect(processesWith(mark).length).toBeGreaterThan(1);
        const reply = await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id });
        expect(reply.type).toBe("blemeesd.closed");
        await untilGone(mark);
        const again = await resume(world, talk);
        expect((await again.say("#mock:context")).text).toContain("remember the red fox");
      },
    );
  });
}

/** codex-acp ends a command only that has just begun; one that runs for a while survives its cancel. */
function long(seconds: number): string {
  return `sleep 0.8; sleep ${seconds}; echo over`;
}

/** Every file there, with what is in it. */
function contents(home: string, places: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (path: string): void => {
    if (!existsSync(path)) return;
    if (!statSync(path).isDirectory()) found[path] = readFileSync(path, "utf8");
    else for (const name of readdirSync(path)) look(join(path, name));
  };
  for (const place of places) look(join(home, place));
  return found;
}
