// The daemon's guarantees for every ACP agent, tested on one session of a real one: tests share it in order, because
// such an agent needs seconds to start.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Frame } from "../../support/raw-client.ts";
import { begin, choiceOf, listRequests, settle } from "../asks.ts";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume, type Talk, type World } from "../world.ts";

/** What differs from agent to agent. */
export interface Manners {
  /** The agent's own name for itself. */
  title: RegExp;
  open(): Promise<World<{ close(): Promise<void> }>>;
  /** A prompt that makes it ask to run this. */
  command(line: string): string;
  /** How a turn with a declined command ends. */
  declined: "success" | "interrupted";
  /** Below the home: where it stores its permanent permissions. */
  rules: readonly string[];
  /** Whether it reports enough of a command for the daemon's own rule. */
  forSession: boolean;
  /** Prompts on which the model fails, with the error code: failures that the agent does not retry for minutes. */
  failures?: ReadonlyArray<readonly [prompt: string, code: string]>;
  /** A prompt that makes it ask to add this file of the project; absent if it does not ask for that, or sends no diff. */
  change?(path: string): string;
}

/** gemini loses a session that it loads in the minute of its creation, so it may have to wait for the next one. */
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
  const grantsIn = (frames: readonly Frame[]) =>
    frames.filter((frame) => frame["category"] === "permission_granted");

  describe("one session", () => {
    test("it reports its identity, and streams its answer word by word", async () => {
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

    test("a command waits for its answer: if accepted it runs, and the model gets the result", async () => {
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

    test("a declined command does not run, its tool is reported as failed, and the session continues", async () => {
      const turn = begin(talk, manners.command("echo ran > declined"));
      await settle(turn, await turn.asked(), { decision: "decline" });
      const { result, frames } = await turn.end();
      expect(result["subtype"]).toBe(manners.declined);
      expect(ofType(frames, "agent.tool_result")).toMatchObject([{ is_error: true }]);
      expect(has("declined")).toBe(false);
      expect((await talk.say("#mock:text go on")).text).toBe("go on");
    });

    test.runIf(manners.forSession)(
      "for the session: the daemon answers the same command itself, and the agent stores nothing",
      async () => {
        const before = contents(world.home, manners.rules);
        const prompt = manners.command("echo again >> twice");
        const turn = begin(talk, prompt);
        const row = await turn.asked();
        expect(choiceOf(row, "acceptForSession").remembers).toEqual(["this exact command"]);
        await settle(turn, row, { decision: "acceptForSession" });
        await turn.end();
        // opencode sends a call's input sometimes before it asks, sometimes after.
        for (const _time of ["second", "third", "fourth"]) {
          expect(grantsIn((await talk.say(prompt)).frames)).toHaveLength(1);
        }
        expect(readFileSync(join(world.cwd, "twice"), "utf8")).toBe("again\n".repeat(4));
        // Another command is asked.
        const other = begin(talk, manners.command("echo other >> twice"));
        await settle(other, await other.asked(), { decision: "decline" });
        await other.end();
        expect(contents(world.home, manners.rules)).toEqual(before);
      },
    );

    test.runIf(manners.change !== undefined)(
      "for the session: the same change of a file is not asked again, one of another file is",
      async () => {
        const prompt = (path: string) => manners.change?.(path) ?? "";
        const [file, other] = [join(world.cwd, "changed"), join(world.cwd, "other")];
        const turn = begin(talk, prompt(file));
        const row = await turn.asked();
        expect(row.payload.changes?.map(({ path }) => path)).toEqual([file]);
        expect(choiceOf(row, "acceptForSession").remembers).toEqual(["exactly this change"]);
        await settle(turn, row, { decision: "acceptForSession" });
        await turn.end();
        rmSync(file);
        expect(grantsIn((await talk.say(prompt(file))).frames)).toHaveLength(1);
        expect(existsSync(file)).toBe(true);
        const second = begin(talk, prompt(other));
        await settle(second, await second.asked(), { decision: "decline" });
        await second.end();
        expect(existsSync(other)).toBe(false);
      },
    );

    test.runIf(!manners.forSession)(
      "for the session is not offered if the agent sends no input, and the same command is asked again",
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

    test("an interrupt in the middle of a command leaves no process of it running", async () => {
      const mark = markOf(talk.session_id);
      const turn = begin(talk, manners.command(long(61)));
      await settle(turn, await turn.asked(), { decision: "accept" });
      await untilRuns(mark, "sleep 61");
      interrupt();
      const { result, frames } = await turn.end();
      expect(result["subtype"]).toBe("interrupted");
      expect(ofType(frames, "agent.tool_result")).toHaveLength(1);
      await untilGone(mark, "sleep 61");
      // It was interrupted, not killed: the same conversation continues.
      const { text } = await talk.say("#mock:context");
      expect(text).toContain("remember the red fox");
    });

    test("an interrupt withdraws the request, and nothing runs", async () => {
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
    "%s is an error with the code %s and the agent's message",
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
      "the daemon and the agent crash in the middle of a command: nothing is left running, and the session resumes with its whole context",
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
        // The agent's replay of the conversation is not reported again.
        expect(ofType(again.client.frames, "agent.result")).toHaveLength(2);
        expect(ofType(again.client.frames, "agent.message")).toHaveLength(1);
        // Longer than any start may take: then the reason for the wait was reported.
        const waits = again.client.frames.filter((frame) => frame["category"] === "resume_waits");
        if (tookMs > 35_000) expect(waits).toMatchObject([{ text: expect.stringMatching(/waiting \d+ s$/) }]);
        expect(await listRequests(again.client, { session_id: talk.session_id })).toEqual([]);
        talk = again;
      },
    );

    test.runIf(manners.forSession)(
      "a command allowed for the session is asked again in a new process",
      async () => {
        const turn = begin(talk, manners.command("echo again >> twice"));
        await settle(turn, await turn.asked(), { decision: "decline" });
        await turn.end();
        expect(readFileSync(join(world.cwd, "twice"), "utf8")).toBe("again\n".repeat(4));
      },
    );

    test(
      "closing the session in the middle of a command leaves no process, and it can be resumed",
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

/** codex-acp ends only a command that has just begun; one that has run for a while survives its cancel. */
function long(seconds: number): string {
  return `sleep 0.8; sleep ${seconds}; echo over`;
}

/** Every file there, with its content. */
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
