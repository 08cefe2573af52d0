// The requests of the real claude in a session with approvals, and the effect of each answer.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { PATIENT } from "../../support/patience.ts";
import type { MockAnthropic } from "../../tools/mock-anthropic.mjs";
import { begin, choiceOf, listRequests, respond, settle } from "../asks.ts";
import { markOf, untilGone } from "../processes.ts";
import { ofType, resume, type Talk } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
/** For tests that leave nothing in their session: each claude takes a second to start. */
let shared: Talk;
beforeAll(async () => {
  world = await openWorld();
  shared = await asking();
});
afterAll(() => world.close());

const has = (file: string) => existsSync(join(world.cwd, file));
const asking = (permission_mode = "default"): Promise<Talk> =>
  world.session({ approvals: true, permission_mode });
/** The user's texts in the conversation that the model received; claude adds its own reminders. */
const userTexts = (request: MockAnthropic["requests"][number] | undefined): string[] =>
  (request?.messages ?? [])
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (typeof content === "string" ? [{ text: content }] : (content as object[])))
    .flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : []))
    .filter((text) => !text.startsWith("<system-reminder>"));
const tool = (name: string, input: object) => `#mock:tool ${name} ${JSON.stringify(input)}`;

test("a command waits for its answer: accepted unchanged, accepted with another input, declined with a message", async () => {
  const talk = shared;
  const first = begin(talk, "#mock:bash mkdir accepted");
  const row = await first.asked();
  expect(row).toMatchObject({ request_type: "command", status: "pending", backend: "claude" });
  expect(row.payload).toMatchObject({
    tool_name: "Bash",
    command: "mkdir accepted",
    input: { command: "mkdir accepted" },
  });
  expect(has("accepted")).toBe(false);
  await settle(first, row, { decision: "accept" });
  expect((await first.end()).result["subtype"]).toBe("success");
  expect(has("accepted")).toBe(true);

  const second = begin(talk, "#mock:bash mkdir written");
  await settle(second, await second.asked(), {
    decision: "accept",
    updated_input: { command: "mkdir edited", description: "by a person" },
  });
  await second.end();
  expect([has("written"), has("edited")]).toEqual([false, true]);

  const third = begin(talk, "#mock:bash mkdir declined");
  await settle(third, await third.asked(), { decision: "decline", message: "not on a Sunday" });
  const { result, text } = await third.end();
  expect(result["subtype"]).toBe("success");
  expect(text).toContain("not on a Sunday");
  expect(has("declined")).toBe(false);
});

test("a rule allows exactly one command; another one is asked", async () => {
  const http = new HttpClient({ socket: world.daemon.socket });
  // biome-ignore lint/suspicious/noThenProperty: the name in the rules file
  const rule = { id: "one", when: { backend: "claude", argv: ["touch", "ruled"] }, then: "allow" };
  await http.addRule(rule);
  const talk = shared;
  const first = begin(talk, "#mock:bash touch ruled");
  expect(await first.became(await first.asked(), "resolved")).toMatchObject({
    ...{ rule_id: "one", resolution_source: "policy", answer: { decision: "accept" } },
    answered_by: { actor: "daemon", via: "policy" },
  });
  expect((await first.end()).result["subtype"]).toBe("success");
  expect(has("ruled")).toBe(true);
  const second = begin(talk, "#mock:bash touch unruled");
  await settle(second, await second.asked(), { decision: "decline" });
  await second.end();
  expect(has("unruled")).toBe(false);
  expect((await http.policy()).rules).toMatchObject([{ rule: { id: "one" }, uses: 1 }]);
  await http.removeRule("one");
});

test("cancel declines the tool and ends the turn; the next one works", async () => {
  const talk = shared;
  const turn = begin(talk, "#mock:bash mkdir cancelled");
  await settle(turn, await turn.asked(), { decision: "cancel" });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(ofType(frames, "agent.result")).toHaveLength(1);
  expect(has("cancelled")).toBe(false);
  expect((await talk.say("#mock:text go on")).text).toBe("go on");
});

test("for the session: the same command is not asked again in it, but in another one", async () => {
  const talk = await asking();
  const command = "#mock:bash mkfifo for-session";
  const turn = begin(talk, command);
  const row = await turn.asked();
  expect(choiceOf(row, "acceptForSession").remembers?.join()).toContain("mkfifo");
  await settle(turn, row, { decision: "acceptForSession" });
  await turn.end();
  expect(has("for-session")).toBe(true);
  const again = await talk.say(command);
  expect(again.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  // It ran: only the command itself can show that.
  expect(again.text).toContain("File exists");
  const other = begin(await asking(), command);
  await settle(other, await other.asked(), { decision: "decline" });
  expect((await other.end()).text).not.toContain("File exists");
});

test("for the session covers the command itself: another command and a change of a file are asked", async () => {
  const talk = await asking();
  const turn = begin(talk, "#mock:bash touch x");
  const row = await turn.asked();
  // claude's suggestions can be chosen too, each by its own name.
  const options = row.payload.choices.flatMap(({ option }) => option ?? []);
  expect(options).toEqual(expect.arrayContaining(["directories", "mode-acceptEdits"]));
  await settle(turn, row, { decision: "acceptForSession" });
  await turn.end();
  const again = await talk.say("#mock:bash touch x");
  expect(again.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  const file = join(world.cwd, "not-asked.txt");
  for (const other of [
    "#mock:bash touch x y",
    "#mock:bash rm -rf x",
    tool("Write", { file_path: file, content: "a" }),
  ]) {
    const next = begin(talk, other);
    await settle(next, await next.asked(), { decision: "decline" });
    await next.end();
  }
  expect([has("x"), has("y"), has("not-asked.txt")]).toEqual([true, false, false]);
});

test("a permission mode that claude suggests is set by its option, and only then", async () => {
  const talk = await asking();
  const turn = begin(talk, "#mock:bash touch moded");
  const row = await turn.asked();
  const reply = await turn.respond(row, { decision: "acceptForSession", option: "mode-everything" });
  expect(reply).toMatchObject({ code: "invalid_answer" });
  expect(reply["message"]).toContain('"mode-everything" is not offered with "acceptForSession"');
  await settle(turn, row, { decision: "acceptForSession", option: "mode-acceptEdits" });
  await turn.end();
  const edit = tool("Write", { file_path: join(world.cwd, "unasked.txt"), content: "a" });
  const next = await talk.say(edit);
  expect(next.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  expect(has("unasked.txt")).toBe(true);
});

test("two sessions ask at once; answered crosswise, each gets its own answer", async () => {
  const [one, two] = await Promise.all([asking(), asking()]);
  const first = begin(one, "#mock:bash mkdir crosswise-one");
  const second = begin(two, "#mock:bash mkdir crosswise-two");
  const [mine, theirs] = await Promise.all([first.asked(), second.asked()]);
  const open = await listRequests(await world.connect());
  expect(open.map(({ request_id }) => request_id)).toEqual(
    expect.arrayContaining([mine.request_id, theirs.request_id]),
  );
  // The later one first, and the other way.
  await settle(second, theirs, { decision: "decline", message: "not the second" });
  expect((await second.end()).text).toContain("not the second");
  expect([has("crosswise-one"), has("crosswise-two")]).toEqual([false, false]);
  await settle(first, mine, { decision: "accept" });
  expect((await first.end()).result["subtype"]).toBe("success");
  expect([has("crosswise-one"), has("crosswise-two")]).toEqual([true, false]);
});

test("always: the shown file gets the shown rule, and it is not asked again", async () => {
  const talk = await asking();
  const turn = begin(talk, "#mock:bash truncate -s 3 always");
  const row = await turn.asked();
  const [written] = choiceOf(row, "acceptAlways").writes ?? [];
  expect(written?.path).toBe(join(world.cwd, ".claude/settings.local.json"));
  const rule = /^permissions\.allow \+= (.*)$/m.exec(written?.content ?? "")?.[1];
  await settle(turn, row, { decision: "acceptAlways" });
  await turn.end();
  expect(has("always")).toBe(true);
  const settings = JSON.parse(readFileSync(written?.path ?? "", "utf8")) as {
    permissions: { allow: string[] };
  };
  expect(settings.permissions.allow).toEqual([rule]);
  for (const next of [talk, await asking()]) {
    const again = await next.say("#mock:bash truncate -s 3 always");
    expect(again.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  }
});

test("always, in a directory that is not trusted: claude remembers it at least as long as it runs", async () => {
  const cwd = join(world.cwd, "untrusted");
  mkdirSync(cwd);
  const talk = await world.session({ approvals: true, permission_mode: "default", cwd });
  const turn = begin(talk, "#mock:bash truncate -s 3 always");
  await settle(turn, await turn.asked(), { decision: "acceptAlways" });
  await turn.end();
  const again = await talk.say("#mock:bash truncate -s 3 always");
  expect(again.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
});

test("a change of a file shows its new content", async () => {
  const talk = shared;
  const file_path = join(world.cwd, "poem.txt");
  const turn = begin(talk, tool("Write", { file_path, content: "a rose is a rose\n" }));
  const row = await turn.asked();
  expect(row.request_type).toBe("file_change");
  expect(row.payload.changes).toMatchObject([
    { path: file_path, diff: expect.stringContaining("a rose is a rose") },
  ]);
  await settle(turn, row, { decision: "accept" });
  await turn.end();
  expect(readFileSync(file_path, "utf8")).toBe("a rose is a rose\n");
});

test("a question is shown with its options, and claude gets the answer", async () => {
  const talk = shared;
  const options = [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" },
  ];
  const question = { question: "Which paint?", header: "Paint", multiSelect: false, options };
  const turn = begin(talk, tool("AskUserQuestion", { questions: [question] }));
  const row = await turn.asked();
  expect(row.request_type).toBe("user_input");
  const [asked] = row.payload.questions ?? [];
  expect(asked).toMatchObject({ question: "Which paint?", header: "Paint", options });
  await settle(turn, row, { answers: { [asked?.id ?? ""]: "Blue" } });
  const { result, text } = await turn.end();
  expect(result["subtype"]).toBe("success");
  expect(text).toMatch(/Which paint\?.*Blue/s);
});

test("a plan is shown completely, and accepting it leaves plan mode", async () => {
  const talk = await asking("plan");
  const plan = "1. Paint it blue.";
  const turn = begin(talk, tool("ExitPlanMode", { plan }));
  const row = await turn.asked();
  expect(row).toMatchObject({ request_type: "plan", payload: { plan } });
  await settle(turn, row, { decision: "accept" });
  const { text } = await turn.end();
  expect(text).toMatch(/approved/);
  // In plan mode claude would not even ask for this.
  const next = begin(talk, "#mock:bash mkdir after-the-plan");
  await settle(next, await next.asked(), { decision: "accept" });
  await next.end();
  expect(has("after-the-plan")).toBe(true);
});

test("a sub-agent's request reaches the session with its path", async () => {
  const talk = await asking();
  const prompt = "#mock:bash mkdir below";
  const turn = begin(talk, tool("Agent", { description: "sub", prompt, subagent_type: "general-purpose" }));
  // Since 2.1.325 its request may come after the turn.
  const row = await turn.askedAnytime();
  expect(row.path).toHaveLength(1);
  await settle(turn, row, { decision: "accept" });
  expect((await turn.end()).result["subtype"]).toBe("success");
  // Since 2.1.325 it continues after the turn.
  await vi.waitFor(() => expect(has("below")).toBe(true), PATIENT);
});

test("an interrupt withdraws the request; an answer comes too late, and the next turn works", async () => {
  const talk = shared;
  const turn = begin(talk, "#mock:bash mkdir too-late");
  const row = await turn.asked();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect((await turn.end()).result["subtype"]).toBe("interrupted");
  expect(await turn.became(row, "withdrawn")).toMatchObject({ error_code: "request_withdrawn" });
  expect(await turn.respond(row, { decision: "accept" })).toMatchObject({ code: "request_withdrawn" });
  const next = begin(talk, "#mock:bash mkdir in-time");
  await settle(next, await next.asked(), { decision: "accept" });
  await next.end();
  expect([has("too-late"), has("in-time")]).toEqual([false, true]);
});

test("a crash of the daemon and claude leaves one result and an orphaned request; the next message works", async () => {
  const talk = await asking();
  await talk.say("remember the grey owl");
  const row = await begin(talk, "#mock:bash mkdir orphan").asked();
  await world.restart("SIGKILL");
  await untilGone(markOf(talk.session_id));
  const of = { session_id: talk.session_id };
  // Reported without the session being opened again.
  const client = await world.connect();
  expect(await listRequests(client, of)).toEqual([]);
  expect(await listRequests(client, { ...of, include_orphaned: true })).toMatchObject([
    { request_id: row.request_id, status: "orphaned", error_code: "server_restarted" },
  ]);
  const again = await resume(world, talk);
  const result = await again.until((frame) => frame.type === "agent.result");
  expect(result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
  expect(await respond(again.client, row, { decision: "accept" })).toMatchObject({
    code: "request_orphaned",
  });
  expect((await again.say("#mock:context")).text).toContain("remember the grey owl");
  const retry = begin(again, "#mock:bash mkdir orphan");
  const fresh = await retry.asked();
  expect(fresh.request_id).not.toBe(row.request_id);
  await settle(retry, fresh, { decision: "accept" });
  await retry.end();
  expect(ofType(again.client.frames, "agent.result")).toHaveLength(3);
  expect(has("orphan")).toBe(true);
});

test("a session resumes in a new daemon: the model gets the whole conversation, and claude asks again", async () => {
  const talk = await asking();
  await talk.say("remember the blue heron");
  const command = "#mock:bash mkfifo heron";
  const before = begin(talk, command);
  await settle(before, await before.asked(), { decision: "acceptForSession" });
  await before.end();
  const earlier = userTexts(world.model.requests.at(-1));
  await world.restart("SIGTERM");
  await untilGone(markOf(talk.session_id));
  const again = await resume(world, talk);
  expect(again.opened["subprocess_pid"]).not.toBe(talk.opened["subprocess_pid"]);
  // Permissions for the session ended with the process that remembered them.
  const after = begin(again, command);
  await settle(after, await after.asked(), { decision: "accept" });
  expect((await after.end()).text).toContain("File exists");
  const now = userTexts(world.model.requests.at(-1));
  expect(now.filter((text) => text.includes("blue heron"))).toHaveLength(1);
  expect(now.filter((text) => text === command)).toHaveLength(2);
  expect(now).toEqual(expect.arrayContaining(earlier));
});

test("without approvals claude refuses on its own and does not ask", async () => {
  const talk = await world.session({ permission_mode: "default" });
  const turn = await talk.say("#mock:bash mkdir unasked");
  expect(turn.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  expect(has("unasked")).toBe(false);
});
