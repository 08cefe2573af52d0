// Creates a managed session. Its row, with the first message queued, is stored at once, so that a spawn with the same
// idempotency key finds it after any failure.

import { createHash, randomUUID } from "node:crypto";
import type { Backend } from "../backends/types.ts";
import { CodedError } from "../base/coded-error.ts";
import { makeId } from "../base/id.ts";
import { defined } from "../base/values.ts";
import type { Budget } from "../protocol/budget.ts";
import type { InputRecord } from "../protocol/queue.ts";
import type { SessionRow } from "../protocol/session.ts";
import { changeLabels } from "./core/marks.ts";
import { enqueue, hashValue, keyReusedError } from "./core/queue.ts";
import { detectProject } from "./detect-project.ts";
import type { SpawnOrder } from "./manager-types.ts";
import { createRow } from "./new-row.ts";
import type { ChildRights } from "./rights/rights.ts";
import type { Session } from "./session.ts";
import { exists, type SessionTable } from "./table.ts";
import type { TakenTranscript, Transcripts } from "./transcripts/transcripts.ts";
import type { MadeWorktree, Worktrees } from "./worktrees/worktrees.ts";

export interface Spawned {
  session_id: string;
  message_id?: string;
  repeated: boolean;
}

export interface SpawnParts {
  table: SessionTable;
  /** Reads the parent's family. The returned function throws if the parent may not have more children. */
  checkParent(parent: string, budget: Budget | undefined): Promise<() => void>;
  /** Absent: this daemon makes none. */
  worktrees?: Worktrees | undefined;
  transcripts: Pick<Transcripts, "take">;
}

export async function spawnSession(order: SpawnOrder, parts: SpawnParts): Promise<Spawned> {
  const { table } = parts;
  await table.ready;
  if (order.key === undefined) return spawnOne(order, parts);
  // Ids contain no spaces.
  const release = await table.changing.lock(`spawn ${order.key}`);
  try {
    return await spawnOne(order, parts);
  } finally {
    release();
  }
}

async function spawnOne(order: SpawnOrder, parts: SpawnParts): Promise<Spawned> {
  const { table, checkParent, worktrees, transcripts } = parts;
  const backend = table.backend(order.backend);
  checkContinued(order);
  const session_id = order.transcript ?? order.session_id ?? idFor(order.key);
  const release = await table.changing.lock(session_id);
  let session: Session;
  let first: InputRecord | undefined;
  let made: MadeWorktree | undefined;
  try {
    const before = (await table.find(session_id)) ?? (await findSpawned(order.key, table));
    if (before !== undefined) return sameAs(before, order);
    table.checkExtras(backend, order);
    const check =
      order.parent === undefined ? () => undefined : await checkParent(order.parent, order.budget);
    check();
    const parent = order.parent === undefined ? undefined : await table.find(order.parent);
    const taken =
      order.transcript === undefined ? undefined : await transcripts.take(session_id, backend.name);
    made = await makeWorktree(backend, { ...order, session_id }, parent?.cwd, worktrees);
    const placed = made === undefined ? order : placeIn(order, made.cwd);
    const inherited = { cwd: taken?.cwd ?? parent?.cwd, hash: bodyHash(order) };
    let row = spawnRow(backend, { ...placed, session_id }, inherited);
    if (parent !== undefined) row.root = parent.root ?? parent.session_id;
    if (taken !== undefined) row = continueTranscript(row, taken);
    if (made !== undefined) row.worktree = made.worktree;
    if (row.cwd !== undefined) row.project = await detectProject(row.cwd);
    if (order.message !== undefined) {
      const input = { message: order.message, kind: "user" as const, message_id: makeId("msg") };
      ({ row, record: first } = enqueue(row, input, Date.now()));
    }
    session = await table.create(backend, row, { check, past: taken?.past });
  } catch (error) {
    if (made !== undefined) await worktrees?.discard(made.worktree);
    throw error;
  } finally {
    release();
  }
  session.goOn();
  return { session_id, repeated: false, ...(first === undefined ? {} : { message_id: first.message_id }) };
}

/** A conversation keeps its id and its directory: agents look for it there. */
function checkContinued({ transcript, session_id, cwd, options, worktree }: SpawnOrder): void {
  if (transcript === undefined) return;
  const given = { session_id, cwd, options: options?.["cwd"], worktree };
  const [fault] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (fault === undefined) return;
  const field = fault === "options" ? "options/cwd" : fault;
  throw new CodedError(
    "invalid_message",
    `body: /${field}: conflicts with /transcript; the conversation keeps its id and its directory`,
  );
}

function continueTranscript(row: SessionRow, taken: TakenTranscript): SessionRow {
  const { session_id: native_session_id, title, path, model } = taken;
  return {
    ...row,
    native_session_id,
    rollout_path: path,
    ...defined({ title, model: row.model ?? model }),
    began_here: false,
  };
}

async function makeWorktree(
  backend: Backend,
  order: SpawnOrder & { session_id: string },
  inheritedCwd: string | undefined,
  worktrees: Worktrees | undefined,
): Promise<MadeWorktree | undefined> {
  const { worktree, session_id, name } = order;
  if (worktree === undefined) return undefined;
  const { cwd } = toOptions(backend, order, inheritedCwd);
  if (worktrees === undefined || typeof cwd !== "string") {
    const why =
      worktrees === undefined ? "this daemon makes no worktrees" : "a worktree needs a working directory";
    throw new CodedError("worktree_refused", why);
  }
  return worktrees.make(worktree, { session_id, cwd, label: name ?? backend.name });
}

/** The directory also overrides the one among the agent's own options. */
function placeIn({ options, ...order }: SpawnOrder, cwd: string): SpawnOrder {
  return {
    ...order,
    cwd,
    ...(options?.["cwd"] === undefined ? defined({ options }) : { options: { ...options, cwd } }),
  };
}

function spawnRow(
  backend: Backend,
  order: SpawnOrder & { session_id: string },
  inherited: { cwd: string | undefined; hash: string },
): SessionRow {
  const { session_id, model, name, labels = [], parent, budget, wakes_parent, key } = order;
  const { on_limit, notify_url, request_timeout_s, remind_s } = order;
  const options = toOptions(backend, order, inherited.cwd);
  const row = createRow(
    { session_id, backend: backend.name, resume: false, options, answers: "any" },
    Date.now(),
  );
  return {
    ...row,
    managed: true,
    ...(order.may_answer === true ? { may_answer: true as const } : {}),
    ...(order.manager === true ? { manager: true as const } : {}),
    ...(order.mcp === undefined || order.mcp.length === 0 ? {} : { mcp: [...new Set(order.mcp)] }),
    ...defined({ name, model, parent, on_limit, wakes_parent, notify_url, request_timeout_s, remind_s }),
    ...(budget === undefined || isEmpty(budget) ? {} : { budget, granted_at_ms: row.started_at_ms }),
    ...(labels.length === 0 ? {} : { labels: changeLabels(labels) }),
    ...(key === undefined ? {} : { spawn: { key, hash: inherited.hash } }),
  };
}

function isEmpty(budget: Budget): boolean {
  return Object.keys(budget).length === 0;
}

/** The options of the session that this order asks for. Throws if they are not valid. */
function toOptions(
  backend: Backend,
  order: SpawnOrder,
  inheritedCwd: string | undefined,
): Record<string, unknown> {
  const { model, approvals = true, cwd = inheritedCwd } = order;
  const wish = { ...defined({ cwd, model }), approvals };
  return backend.checkOptions({ ...backend.spawnOptions(wish), ...order.options });
}

/** The rights of the session that this order asks for. */
export async function describeSpawn(
  order: SpawnOrder,
  { table, transcripts }: { table: SessionTable; transcripts: Pick<Transcripts, "findCwd"> },
): Promise<ChildRights> {
  const backend = table.backend(order.backend);
  const parent = order.parent === undefined ? undefined : await table.find(order.parent);
  const { transcript } = order;
  const own = transcript && (await transcripts.findCwd(transcript, backend.name));
  const options = toOptions(backend, order, own ?? parent?.cwd);
  const { may_answer, manager, mcp } = order;
  return { backend: backend.name, options, may_answer, manager, mcp };
}

/** The key counts, whichever id was requested. */
async function findSpawned(key: string | undefined, table: SessionTable): Promise<SessionRow | undefined> {
  if (key === undefined) return undefined;
  const rows = table.withLive(await table.select({ spawn_key: key }));
  return [...rows.values()].find(({ spawn }) => spawn?.key === key);
}

function sameAs(row: SessionRow, order: SpawnOrder): Spawned {
  if (order.key === undefined || row.spawn?.key !== order.key) {
    throw exists(`session ${row.session_id} already exists; send to it, or choose another id`);
  }
  if (row.spawn.hash !== bodyHash(order)) throw keyReusedError(order.key);
  const first = row.inputs?.find(({ kind, key }) => kind === "user" && key === undefined);
  return {
    session_id: row.session_id,
    repeated: true,
    ...(order.message === undefined || first === undefined ? {} : { message_id: first.message_id }),
  };
}

/** The request; the id only if the client chose it. */
function bodyHash({ key: _key, ...body }: SpawnOrder): string {
  return hashValue(body);
}

/** A UUID, which some agents need; derived from the key, so keys need no table. */
function idFor(key: string | undefined): string {
  if (key === undefined) return randomUUID();
  const hex = createHash("sha256").update(`spawn ${key}`).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
