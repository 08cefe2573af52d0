// Every route and every frame, and what an agent gets of a session that is not its own. One that is not listed here fails:
// decide what agents may do with it first.
import { expect, test } from "vitest";
import { INBOUND as INBOUND1 } from "../../src/protocol/wire/blemees1.ts";
import { INBOUND as INBOUND2, type InboundType } from "../../src/protocol/wire/blemees2.ts";
import type { Call, Services } from "../../src/servers/http/route.ts";
import { ROUTES } from "../../src/servers/http/routes/index.ts";
import { type Connection, FOR_ANYONE } from "../../src/servers/socket/connection.ts";
import { HANDLERS } from "../../src/servers/socket/handlers.ts";
import type { ServerContext } from "../../src/servers/types.ts";
import type { Caller } from "../../src/sessions/index.ts";
import { askOf, Ear, settle } from "../sessions/fakes.ts";
import { runOf, spawn, type World, world } from "../sessions/system.ts";

/**
 * open: nothing of any session, and the client is not identified. person: people only. refused: not of this session.
 * sight: those
 * that see all sessions only. names: names and states (test/sessions/rights). daemon: counts of the daemon. tool:
 * the guarded manager decides, and a refusal is a result (test/sessions/tools).
 */
type Access = "tool" | "open" | "person" | "sight" | "refused" | "names" | "daemon";

const ROUTE_ACCESS: Readonly<Record<string, Access>> = {
  health: "open",
  status: "daemon",
  stop_daemon: "person",
  restart_daemon: "person",
  daemon_log: "person",
  stats: "refused",
  usage: "refused",
  search: "refused",
  quota: "names",
  refresh_quota: "person",
  order_quota: "refused",
  metrics: "daemon",
  openapi: "open",
  follow_changes: "names",
  spawn: "refused",
  list_sessions: "names",
  show_session: "names",
  change_session: "refused",
  delete_session: "refused",
  interrupt: "refused",
  resume: "refused",
  stop: "refused",
  family: "names",
  actions: "refused",
  send_input: "refused",
  show_queue: "refused",
  cancel_input: "refused",
  wait: "names",
  events: "refused",
  list_all_requests: "names",
  list_requests: "refused",
  show_request: "refused",
  respond: "refused",
  show_policy: "person",
  add_rule: "person",
  remove_rule: "person",
  preview_rule: "person",
  explain_request: "person",
  suggest_rules: "person",
  list_audit: "person",
  verify_audit: "person",
  show_changes: "refused",
  show_file_changes: "refused",
  undo: "refused",
  find_files: "refused",
  show_settings: "refused",
  change_settings: "refused",
  list_transcripts: "sight",
  show_transcript: "sight",
  transcript_events: "sight",
  list_worktrees: "person",
  remove_worktree: "person",
  list_tools: "daemon",
  call_tool: "tool",
  mcp: "tool",
  codex_events: "refused",
  codex_pending_requests: "refused",
  codex_respond: "refused",
  dashboard: "open",
  dashboard_file: "open",
  web_link: "person",
  web_enter: "person",
};

/** owner: only its owner, which an agent cannot become. */
const FRAME_ACCESS: Readonly<Record<InboundType, Access | "owner">> = {
  "blemeesd.hello": "open",
  "blemeesd.ping": "open",
  "blemeesd.status": "open",
  "blemeesd.open": "refused",
  "agent.user": "owner",
  "blemeesd.interrupt": "owner",
  "blemeesd.close": "owner",
  "blemeesd.watch": "refused",
  "blemeesd.unwatch": "owner",
  "blemeesd.session_info": "refused",
  "blemeesd.list_sessions": "names",
  "blemeesd.list_requests": "refused",
  "blemeesd.respond": "refused",
};

const AGENT: Caller = { actor: "agent:lead", isAgent: true, isProven: true, wire: "http" };
const REFUSED = { code: "not_allowed" };

async function withStranger(): Promise<{ on: World; request_id: string }> {
  const on = await world();
  await spawn(on, "lead", { may_answer: true });
  await spawn(on, "stranger");
  runOf(on, "stranger").ask(askOf("of the stranger"));
  await settle();
  const [row] = (await on.manager.requests({ session_id: "stranger" })).requests;
  return { on, request_id: row?.request_id ?? "" };
}

test("every route is listed", () => {
  expect(ROUTES.map(({ name }) => name).sort()).toEqual(Object.keys(ROUTE_ACCESS).sort());
});

test("only listed routes are open to everybody, or closed to agents", () => {
  const withAccess = (access: Access) =>
    ROUTES.map(({ name }) => name).filter((name) => ROUTE_ACCESS[name] === access);
  expect(ROUTES.filter(({ isOpen }) => isOpen).map(({ name }) => name)).toEqual(withAccess("open"));
  expect(ROUTES.filter(({ personOnly }) => personOnly).map(({ name }) => name)).toEqual(withAccess("person"));
  expect(ROUTES.filter(({ sightOnly }) => sightOnly).map(({ name }) => name)).toEqual(withAccess("sight"));
});

test("routes refuse an agent what is not in its subtree, and change nothing", async () => {
  const { on, request_id } = await withStranger();
  const before = await on.manager.view("stranger");
  const params = { id: "stranger", request_id, message_id: "m", file: "f", rule_id: "r" };
  const call = {
    param: (name: keyof typeof params) => params[name],
    query: { session_id: "stranger" },
    body: { backend: "fake", parent: "stranger", text: "obey", name: "mine", decision: "accept" },
    signal: new AbortController().signal,
    incoming: { headers: {} },
    isAgent: true,
  } as unknown as Call<unknown, unknown>;
  const streams = { open: () => ({ end: () => undefined }) };
  const services = { manager: on.manager.as(AGENT), streams } as unknown as Services;
  for (const row of ROUTES.filter(({ name }) => ROUTE_ACCESS[name] === "refused"))
    await expect((async () => row.handle(call, services))(), row.name).rejects.toMatchObject(REFUSED);
  const stream = { ...call, incoming: { headers: { accept: "text/event-stream" } } } as typeof call;
  const events = ROUTES.find(({ name }) => name === "events");
  await expect((async () => events?.handle(stream, services))()).rejects.toMatchObject(REFUSED);
  expect(await on.manager.view("stranger")).toEqual(before);
});

test("every frame of both protocols is listed, and only listed ones skip the identification", () => {
  const names = Object.keys(FRAME_ACCESS).sort();
  expect(Object.keys(INBOUND2).sort()).toEqual(names);
  expect(Object.keys(HANDLERS).sort()).toEqual(names);
  // Its other name for a message.
  const older = Object.keys(INBOUND1).filter((name) => name !== "claude.user");
  expect(older.filter((name) => !names.includes(name))).toEqual([]);
  expect([...FOR_ANYONE].sort()).toEqual(
    names.filter((name) => FRAME_ACCESS[name as InboundType] === "open").sort(),
  );
});

test("frames refuse an agent what is not in its subtree, and change nothing", async () => {
  const { on, request_id } = await withStranger();
  const owner = { id: "owner" };
  await on.hub.open(owner, new Ear(), { session_id: "stranger", backend: "fake", resume: true });
  const before = await on.manager.view("stranger");
  const replies: { type: string }[] = [];
  const connection = {
    id: "agent's",
    subscriber: () => new Ear(),
    reply: (frame: { type: string }) => void replies.push(frame),
    attach: () => replies.push({ type: "attached" }),
  } as unknown as Connection;
  const frame = {
    ...{ session_id: "stranger", request_id, backend: "fake", resume: true, options: { fake: {} } },
    ...{ message: { role: "user", content: "obey" }, answer: { decision: "accept" }, delete: true },
  };
  const context = { hub: on.hub.as(AGENT) } as ServerContext;
  const send = async (type: InboundType): Promise<void> =>
    (HANDLERS[type] as (...args: unknown[]) => void | Promise<void>)(connection, frame, context);
  const types = Object.keys(FRAME_ACCESS) as InboundType[];
  for (const type of types.filter((name) => FRAME_ACCESS[name] === "refused"))
    await expect(send(type), type).rejects.toMatchObject(REFUSED);
  const listRequests = HANDLERS["blemeesd.list_requests"];
  await expect(
    listRequests(connection, { type: "blemeesd.list_requests", session_id: "stranger" }, context),
  ).rejects.toMatchObject(REFUSED);
  expect(replies).toEqual([]);
  for (const type of types.filter((name) => FRAME_ACCESS[name] === "owner"))
    await send(type).catch(() => undefined);
  expect(replies.map(({ type }) => type)).not.toContain("attached");
  expect(await on.manager.view("stranger")).toEqual(before);
});
