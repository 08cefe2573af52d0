// The requests of the real codex, and the effect of each answer.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { PATIENT } from "../../support/patience.ts";
import { begin, choiceOf, listRequests, settle } from "../asks.ts";
import { ofType } from "../world.ts";
import { type CodexWorld, openWorld } from "./world.ts";

let world: CodexWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const has = (file: string) => existsSync(join(world.cwd, file));

test("a command waits for its answer and runs when it is accepted", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:exec touch accepted");
  const row = await turn.asked();
  expect(row).toMatchObject({ request_type: "command", status: "pending", backend: "codex" });
  expect(row.payload.command).toContain("touch accepted");
  expect(row.payload.cwd).toBe(world.cwd);
  expect(row.path).toBeUndefined();
  expect(has("accepted")).toBe(false);
  expect(await listRequests(await world.connect(), { session_id: talk.session_id })).toEqual([row]);
  await settle(turn, row, { decision: "accept" });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("success");
  expect(ofType(frames, "agent.result")).toHaveLength(1);
  expect(has("accepted")).toBe(true);
  expect(await listRequests(talk.client, { session_id: talk.session_id })).toEqual([]);
});

test("accepted for the session: the same command is not asked again, another one is", async () => {
  const talk = await world.session();
  const first = begin(talk, "#mock:exec touch for-session");
  await settle(first, await first.asked(), { decision: "acceptForSession" });
  await first.end();
  const second = await talk.say("#mock:exec touch for-session");
  expect(second.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
  expect(ofType(second.frames, "agent.tool_result")).toMatchObject([{ is_error: false }]);
  const third = begin(talk, "#mock:exec touch for-another");
  await settle(third, await third.asked(), { decision: "decline" });
  await third.end();
});

test("a declined command does not run, the model gets the refusal, and the turn continues", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:exec touch declined");
  await settle(turn, await turn.asked(), { decision: "decline" });
  const { result, text, frames } = await turn.end();
  expect(result["subtype"]).toBe("success");
  expect(text).toContain("rejected by user");
  expect(ofType(frames, "agent.tool_result")).toMatchObject([{ is_error: true }]);
  expect(has("declined")).toBe(false);
});

test("a rule allows exactly one command; another one is asked", async () => {
  const http = new HttpClient({ socket: world.daemon.socket });
  // biome-ignore lint/suspicious/noThenProperty: the name in the rules file
  const rule = { id: "one", when: { backend: "codex", argv: ["touch", "ruled"] }, then: "allow" };
  await http.addRule(rule);
  const talk = await world.session();
  const first = begin(talk, "#mock:exec touch ruled");
  expect(await first.became(await first.asked(), "resolved")).toMatchObject({
    ...{ rule_id: "one", resolution_source: "policy", answer: { decision: "accept" } },
    answered_by: { actor: "daemon", via: "policy" },
  });
  expect((await first.end()).result["subtype"]).toBe("success");
  expect(has("ruled")).toBe(true);
  const second = begin(talk, "#mock:exec touch unruled");
  await settle(second, await second.asked(), { decision: "decline" });
  await second.end();
  expect(has("unruled")).toBe(false);
  expect((await http.policy()).rules).toMatchObject([{ rule: { id: "one" }, uses: 1 }]);
  await http.removeRule("one");
});

test("cancel declines the command and interrupts the turn; the next one works", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:exec touch cancelled");
  await settle(turn, await turn.asked(), { decision: "cancel" });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  // Every item that began is closed.
  expect(ofType(frames, "agent.tool_result")).toHaveLength(ofType(frames, "agent.tool_use").length);
  expect(has("cancelled")).toBe(false);
  expect((await talk.say("#mock:text go on")).text).toBe("go on");
});

test("always: the shown file gets the shown line, and the command is not asked again", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:exec touch always");
  const row = await turn.asked();
  const [written] = choiceOf(row, "acceptAlways").writes ?? [];
  expect(written?.path).toBe(join(world.home, "codex/rules/default.rules"));
  expect(existsSync(written?.path ?? "")).toBe(false);
  await settle(turn, row, { decision: "acceptAlways" });
  await turn.end();
  expect(has("always")).toBe(true);
  expect(readFileSync(written?.path ?? "", "utf8").trim()).toBe(written?.content.trim());
  const other = await world.session();
  const again = await other.say("#mock:exec touch always");
  expect(again.frames.filter((frame) => frame["category"] === "request_pending")).toEqual([]);
});

test("a change of files shows its diff, and the file exists once it is accepted", async () => {
  const talk = await world.session({ sandbox: "read-only", "approval-policy": "on-request" });
  const turn = begin(talk, "#mock:patch poem.txt a rose is a rose");
  const row = await turn.asked();
  expect(row).toMatchObject({ request_type: "file_change" });
  const [change] = row.payload.changes ?? [];
  expect(change).toMatchObject({ kind: "add", path: join(world.cwd, "poem.txt") });
  expect(change?.diff).toContain("a rose is a rose");
  expect(has("poem.txt")).toBe(false);
  await settle(turn, row, { decision: "accept" });
  expect((await turn.end()).result["subtype"]).toBe("success");
  expect(readFileSync(join(world.cwd, "poem.txt"), "utf8")).toBe("a rose is a rose\n");
});

test("a cancelled change of files leaves no file and an interrupted turn with every item closed", async () => {
  const talk = await world.session({ sandbox: "read-only", "approval-policy": "on-request" });
  const turn = begin(talk, "#mock:patch unwanted.txt no");
  await settle(turn, await turn.asked(), { decision: "cancel" });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(ofType(frames, "agent.tool_result")).toHaveLength(ofType(frames, "agent.tool_use").length);
  expect(has("unwanted.txt")).toBe(false);
});

test("a command that needs to leave the sandbox gives the reason", async () => {
  const talk = await world.session({ sandbox: "read-only", "approval-policy": "on-request" });
  const turn = begin(talk, "#mock:escalate touch escaped");
  const row = await turn.asked();
  expect(row.payload.reason).toContain("the mock wants to leave the sandbox");
  await settle(turn, row, { decision: "accept" });
  await turn.end();
  expect(has("escaped")).toBe(true);
});

test("a question is shown with its options, and the model gets the answer", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:ask Which paint?");
  const row = await turn.asked();
  expect(row).toMatchObject({ request_type: "user_input" });
  const [question] = row.payload.questions ?? [];
  expect(question).toMatchObject({ id: "color", question: "Which paint?", allows_other: true });
  expect(question?.options?.map(({ label }) => label)).toEqual(["Red", "Blue"]);
  await settle(turn, row, { answers: { color: "Blue" } });
  const { text } = await turn.end();
  expect(text).toBe('tool said: {"answers":{"color":{"answers":["Blue"]}}}');
});

test("an interrupt withdraws the request; an answer comes too late, and the next turn works", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:exec touch too-late");
  const row = await turn.asked();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect((await turn.end()).result["subtype"]).toBe("interrupted");
  expect(await turn.became(row, "withdrawn")).toMatchObject({ error_code: "request_withdrawn" });
  expect(await turn.respond(row, { decision: "accept" })).toMatchObject({
    type: "blemeesd.error",
    code: "request_withdrawn",
  });
  const next = begin(talk, "#mock:exec touch in-time");
  await settle(next, await next.asked(), { decision: "accept" });
  expect((await next.end()).result["subtype"]).toBe("success");
  expect([has("too-late"), has("in-time")]).toEqual([false, true]);
});

test("two sessions ask at once and are answered crosswise, each its own", async () => {
  const [left, right] = [await world.session(), await world.session()];
  const turns = [begin(left, "#mock:exec touch left"), begin(right, "#mock:exec touch right")] as const;
  const rows = await Promise.all(turns.map((turn) => turn.asked()));
  const open = await listRequests(await world.connect());
  expect(open.map(({ request_id }) => request_id).sort()).toEqual(
    rows.map(({ request_id }) => request_id).sort(),
  );
  const [leftRow, rightRow] = rows;
  if (leftRow === undefined || rightRow === undefined) throw new Error("two rows expected");
  await settle(turns[1], rightRow, { decision: "accept" });
  expect((await turns[1].end()).result["subtype"]).toBe("success");
  expect([has("left"), has("right")]).toEqual([false, true]);
  await settle(turns[0], leftRow, { decision: "decline" });
  expect((await turns[0].end()).text).toContain("rejected by user");
  expect(has("left")).toBe(false);
});

test("two commands of one answer ask at once, and each gets its own answer", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:both exec touch one ;; exec touch two");
  const rows = [await turn.asked(0), await turn.asked(1)];
  for (const row of rows) {
    const decision = row.payload.command?.includes("two") ? "accept" : "decline";
    await settle(turn, row, { decision });
  }
  await turn.end();
  expect([has("one"), has("two")]).toEqual([false, true]);
});

test("a sub-agent's request reaches the session with its path, and the answer lets it run", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:agent #mock:exec touch below");
  const row = await turn.asked();
  expect(row).toMatchObject({ request_type: "command", session_id: talk.session_id });
  expect(row.path).toHaveLength(1);
  expect(row.payload.command).toContain("touch below");
  expect(row.thread_id).not.toBe(talk.opened["native_session_id"]);
  await settle(turn, row, { decision: "accept" });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("success");
  expect(has("below")).toBe(true);
  const children = frames.filter((frame) => frame["parent_tool_use_id"] !== undefined);
  expect(children.map((frame) => frame.type)).toContain("agent.tool_result");
  expect(ofType(frames, "agent.result")).toHaveLength(1);
});

test("a sub-agent that outlives the turn still gets its answer, and no message overtakes its request", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:spawn #mock:exec touch later");
  const [row, { result }] = await Promise.all([turn.askedAnytime(), turn.end()]);
  expect(result["subtype"]).toBe("success");
  talk.send("#mock:text past it");
  expect(await talk.until((frame) => frame.type === "blemeesd.error")).toMatchObject({
    code: "pending_structured_request",
    data: expect.objectContaining({ request_id: row.request_id }),
  });
  await settle(turn, row, { decision: "accept" });
  await vi.waitFor(() => expect(has("later")).toBe(true), PATIENT);
  expect((await talk.say("#mock:text past it")).text).toBe("past it");
});

test("an interrupt withdraws a sub-agent's request", async () => {
  const talk = await world.session();
  const turn = begin(talk, "#mock:agent #mock:exec touch below-too-late");
  const row = await turn.asked();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect((await turn.end()).result["subtype"]).toBe("interrupted");
  expect(await turn.became(row, "withdrawn")).toMatchObject({ path: row.path });
  expect((await talk.say("#mock:text go on")).text).toBe("go on");
  expect(has("below-too-late")).toBe(false);
});
