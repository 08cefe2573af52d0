// Lists Codex's own threads, from a running app-server (`thread/list`). Undefined if it does not answer in time: the
// caller then reads the rollouts.

import { realpath } from "node:fs/promises";
import type { JsonObject } from "../../../base/json.ts";
import { readMonotonicMs } from "../../../base/monotonic.ts";
import { asCount, asObject, asObjects, asString, asText, defined } from "../../../base/values.ts";
import type { SessionSummary } from "../../../protocol/session.ts";
import type { AppServer } from "./process.ts";

type Server = Pick<AppServer, "request">;

const LIMIT_MS = 2000;
/** Codex's page size limit (0.166.0). */
const PAGE = 100;
/** As many as the rollouts would give. */
const MAX_PAGES = 20;
const PREVIEW_CHARS = 200;
/** All but sub-agents. Without this only interactive ones are listed. */
const SOURCES = ["cli", "vscode", "exec", "appServer", "unknown"];

/** Rows of one cwd, or of all, newest first; only the latter include cwd and model. */
export async function listThreads(
  server: Server,
  filter: { cwd?: string },
): Promise<SessionSummary[] | undefined> {
  const { cwd } = filter;
  if (cwd === undefined) return pages(server, {});
  const real = await realpath(cwd).catch(() => cwd);
  const rows = await pages(server, { cwd: [...new Set([cwd, real])] });
  return rows?.map(({ cwd: _cwd, model: _model, ...row }) => row);
}

export async function findThread(server: Server, session_id: string): Promise<SessionSummary | undefined> {
  const result = await server
    .request("thread/read", { threadId: session_id }, LIMIT_MS)
    .catch(() => undefined);
  const thread = asObject(asObject(result)["thread"]);
  // A thread without a rollout cannot be resumed.
  return asText(thread["path"]) === undefined ? undefined : toRow(thread);
}

async function pages(server: Server, filter: JsonObject): Promise<SessionSummary[] | undefined> {
  const rows: SessionSummary[] = [];
  const deadline = readMonotonicMs() + LIMIT_MS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = {
      limit: PAGE,
      // Absent would mean: only those of the current provider.
      modelProviders: [],
      sourceKinds: SOURCES,
      useStateDbOnly: true,
      ...filter,
      ...defined({ cursor }),
    };
    const asked = server.request("thread/list", params, deadline - readMonotonicMs());
    const result = await asked.catch(() => undefined);
    if (result === undefined) return undefined;
    rows.push(...asObjects(asObject(result)["data"]).flatMap((thread) => toRow(thread) ?? []));
    cursor = asText(asObject(result)["nextCursor"]);
    if (cursor === undefined) return rows;
  }
  return rows;
}

function toRow(thread: JsonObject): SessionSummary | undefined {
  const session_id = asText(thread["id"]);
  if (session_id === undefined) return undefined;
  const updated = toMs(thread["updatedAt"]);
  return {
    session_id,
    backend: "codex",
    attached: false,
    ...defined({
      cwd: asText(thread["cwd"]),
      model: asText(thread["model"]),
      title: asText(thread["name"]),
      preview: asString(thread["preview"])?.slice(0, PREVIEW_CHARS),
      started_at_ms: toMs(thread["createdAt"]),
      last_active_at_ms: updated,
      mtime_ms: updated,
      rollout_path: asText(thread["path"]),
    }),
  };
}

function toMs(seconds: unknown): number | undefined {
  const count = asCount(seconds);
  return count === undefined ? undefined : count * 1000;
}
