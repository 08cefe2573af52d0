// The threads that Codex itself keeps, asked from an app-server that runs anyway (`thread/list`). Undefined when it
// does not answer in time: the caller reads the rollouts then.
import { realpath } from "node:fs/promises";
import type { JsonObject } from "../../../base/json.ts";
import type { SessionSummary } from "../../../protocol/session.ts";
import { countOf, objectOf, objectsOf, optional, stringOf, textOf } from "../../values.ts";
import type { AppServer } from "./process.ts";

type Server = Pick<AppServer, "request">;

const LIMIT_MS = 2000;
/** Codex gives no more at once (0.166.0). */
const PAGE = 100;
/** As many as the rollouts would give. */
const MAX_PAGES = 20;
const PREVIEW_CHARS = 200;
/** All but sub-agents. Without this only interactive ones are told. */
const SOURCES = ["cli", "vscode", "exec", "appServer", "unknown"];

/** Rows of one cwd, or of all of them, newest first; only the latter say which cwd and model. */
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
  const thread = objectOf(objectOf(result)["thread"]);
  // One without a rollout cannot be resumed, so there is nothing to find.
  return textOf(thread["path"]) === undefined ? undefined : rowOf(thread);
}

async function pages(server: Server, filter: JsonObject): Promise<SessionSummary[] | undefined> {
  const rows: SessionSummary[] = [];
  const deadline = performance.now() + LIMIT_MS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = {
      limit: PAGE,
      // Absent would mean: only those of the provider in use.
      modelProviders: [],
      sourceKinds: SOURCES,
      useStateDbOnly: true,
      ...filter,
      ...optional("cursor", cursor),
    };
    const asked = server.request("thread/list", params, deadline - performance.now());
    const result = await asked.catch(() => undefined);
    if (result === undefined) return undefined;
    rows.push(...objectsOf(objectOf(result)["data"]).flatMap((thread) => rowOf(thread) ?? []));
    cursor = textOf(objectOf(result)["nextCursor"]);
    if (cursor === undefined) return rows;
  }
  return rows;
}

function rowOf(thread: JsonObject): SessionSummary | undefined {
  const session_id = textOf(thread["id"]);
  if (session_id === undefined) return undefined;
  const updated = toMs(thread["updatedAt"]);
  return {
    session_id,
    backend: "codex",
    attached: false,
    ...optional("cwd", textOf(thread["cwd"])),
    ...optional("model", textOf(thread["model"])),
    ...optional("title", textOf(thread["name"])),
    ...optional("preview", stringOf(thread["preview"])?.slice(0, PREVIEW_CHARS)),
    ...optional("started_at_ms", toMs(thread["createdAt"])),
    ...optional("last_active_at_ms", updated),
    ...optional("mtime_ms", updated),
    ...optional("rollout_path", textOf(thread["path"])),
  };
}

function toMs(seconds: unknown): number | undefined {
  const count = countOf(seconds);
  return count === undefined ? undefined : count * 1000;
}
