// Checks after every command: compares the real ledger with the model in every observable way.

import assert from "node:assert/strict";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { allRequests } from "../sessions/fakes.ts";
import { heardOf, type Model, masked, type Request, type State } from "./model.ts";
import type { World } from "./world.ts";

export async function verify(model: Model, world: World): Promise<void> {
  assert.deepEqual(world.tooEarly, [], "published before it was stored");
  await verifyStored(model, world);
  await verifyLists(model, world);
  verifyAgents(model, world);
  for (const index of model.sessions.keys()) await verifyHistory(model, world, index);
}

async function verifyStored(model: Model, world: World): Promise<void> {
  const rows: RequestRow[] = [];
  for (const session_id of world.session_ids) rows.push(...(await world.disk.store.requests({ session_id })));
  const expected = model.requests.map((request) => [request.request_id, stateText(request.stored)]);
  assert.deepEqual(
    byId(rows.map((row) => [row.request_id, stateText(stateOf(row))])),
    byId(expected),
    "contents of the store",
  );
  const uses = (await world.disk.store.ruleUses()).find(({ rule_id }) => rule_id === world.rule_id);
  assert.equal(uses?.uses ?? 0, model.uses, "uses of the rules");
}

/** Every filter returns exactly its requests, as clients may see them. */
async function verifyLists(model: Model, world: World): Promise<void> {
  const isMeant: Record<string, (state: State) => boolean> = {
    "{}": ({ status }) => status === "pending",
    '{"orphaned":true}': ({ status }) => status === "pending" || status === "orphaned",
    '{"settled":true}': ({ status }) => status !== "orphaned",
    '{"orphaned":true,"settled":true}': () => true,
  };
  for (const [filter, isIn] of Object.entries(isMeant)) {
    await verifyList(model, world, JSON.parse(filter), ({ live }) => isIn(live));
  }
  const [session_id = ""] = world.session_ids;
  const ofOne = { session_id, orphaned: true, settled: true };
  await verifyList(model, world, ofOne, ({ session }) => session === 0);
}

async function verifyList(
  model: Model,
  world: World,
  filter: object,
  isIn: (request: Request) => boolean,
): Promise<void> {
  const listed = (await allRequests(world.hub, filter)).filter(({ session_id }) =>
    world.session_ids.includes(session_id),
  );
  const expected = model.requests.filter(isIn).map((request) => {
    const answer = masked(request.live.answer, request.kind);
    const state = answer === undefined ? request.live : { ...request.live, answer };
    return [request.request_id, stateText(state), JSON.stringify(request.ask.path)];
  });
  assert.deepEqual(
    byId(listed.map((row) => [row.request_id, stateText(stateOf(row)), JSON.stringify(row.path)])),
    byId(expected),
    `the list ${JSON.stringify(filter)}`,
  );
}

/** Each answer once, to the agent that asked, as stored; and nothing else. */
function verifyAgents(model: Model, world: World): void {
  for (const { offered } of world.agents) assert.deepEqual([...new Set(offered)], offered, "answered twice");
  const heard = world.agents.flatMap((run, agent) =>
    run.answered.map(({ native_id, answer }) => `${agent} ${native_id} ${JSON.stringify(answer)}`),
  );
  const expected = [...heardOf(model.requests), ...model.heard];
  assert.deepEqual(heard.sort(), expected.sort(), "what the agents received");
}

/** No gaps and no duplicates; the notices of each request are in a legal order; the owner received exactly these. */
async function verifyHistory(model: Model, world: World, index: number): Promise<void> {
  const frames = await world.frames(index);
  assert.deepEqual(
    frames.map((frame) => frame["seq"]),
    frames.map((_frame, at) => at + 1),
    "the history has no gap",
  );
  const told = new Map<string, string[]>();
  for (const frame of frames) {
    const { request } = (frame["data"] ?? {}) as { request?: RequestRow };
    if (request === undefined) continue;
    assert.equal(frame["category"], `request_${request.status}`);
    const path = told.get(request.request_id) ?? [];
    told.set(request.request_id, [...path, `request_${request.status}`]);
  }
  for (const [request_id, path] of told) assert.match(path.join(" "), LEGAL_PATH, request_id);
  const expected = model.requests
    .filter(({ session }) => session === index)
    .map(({ request_id, told }) => [request_id, told]);
  assert.deepEqual(byId([...told]), byId(expected as Entry[]), "contents of the history");
  const ear = model.sessions[index]?.isOwned === true ? world.ears[index] : undefined;
  if (ear !== undefined) assert.deepEqual(stored(ear.heard), frames, "what the owner received");
}

const LEGAL_PATH =
  /^request_pending( request_resolved| request_expired( request_resolved)?)?( request_(withdrawn|orphaned))?$/;

function stored(heard: Record<string, unknown>[]): Record<string, unknown>[] {
  return heard.filter((frame) => "seq" in frame);
}

type Entry = [request_id: string, ...rest: unknown[]];

function byId(entries: unknown[][]): unknown[][] {
  return entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

function stateOf(row: RequestRow): State {
  const { status, answer, error_code, resolution_source, dispatched_at_ms } = row;
  return {
    status,
    ...(answer === undefined ? {} : { answer }),
    ...(error_code === undefined ? {} : { error_code }),
    ...(resolution_source === undefined ? {} : { resolution_source }),
    isDispatched: dispatched_at_ms !== undefined,
  };
}

function stateText({ status, answer, error_code, resolution_source, isDispatched }: State): string {
  return JSON.stringify([status, answer, error_code, resolution_source, isDispatched]);
}
