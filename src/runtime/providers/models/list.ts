// The models of one account, from the vendor's list. The list is kept on disk for a day, and longer when the vendor cannot
// be reached; that of a server on this machine is always requested, because it changes with each start.
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { type Env, getStateDir, readStateFile, writeStateFile } from "../../state-dir.ts";
import { readStart } from "../chunks.ts";
import { isLoopback } from "../failure.ts";
import { type ListedModel, ModelFacts } from "./facts.ts";
import { readModelList } from "./vendor-list.ts";

export const LIST_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_LIST_CHARS = 8 * 1024 * 1024;
/** After a failed request, the vendor is not asked again for this long. */
const AFTER_FAILURE_MS = 60_000;

const StoredList = z.object({
  atMs: z.number(),
  models: z.array(ModelFacts.extend({ id: z.string() })),
});

export interface ListRequest {
  signal: AbortSignal;
  /** Only what is on disk, however old: no request. */
  isCachedOnly?: boolean;
}

/** Never rejects. Undefined: there is no list. */
export type ListModels = (request: ListRequest) => Promise<readonly ListedModel[] | undefined>;

export interface ModelListOptions {
  url: string;
  /** Accounts see different lists: keys, or where the login is. Only a hash of it is stored. */
  account: readonly string[];
  request(url: string, signal: AbortSignal): Promise<Response>;
  env: Env;
  now?: () => number;
}

export function createModelList(options: ModelListOptions): ListModels {
  const { url, env, now = Date.now } = options;
  const isLocal = isLoopback(url);
  const path = join(getStateDir(env), "models", `${hashAccount(options)}.json`);
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return async ({ signal, isCachedOnly = false }) => {
    const kept = await readKept(path);
    const isFresh = kept !== undefined && !isLocal && Math.abs(now() - kept.atMs) < LIST_TTL_MS;
    if (isFresh || isCachedOnly || now() - failedAtMs < AFTER_FAILURE_MS) return kept?.models;
    const models = await fetchList(options, signal);
    if (models === undefined) {
      if (!signal.aborted) failedAtMs = now();
      return kept?.models;
    }
    failedAtMs = Number.NEGATIVE_INFINITY;
    // Without it the next start asks again.
    await writeStateFile(path, { atMs: now(), models }).catch(() => undefined);
    return models;
  };
}

function hashAccount({ url, account }: ModelListOptions): string {
  return createHash("sha256")
    .update(JSON.stringify([url, ...account]))
    .digest("hex")
    .slice(0, 32);
}

async function readKept(path: string): Promise<z.infer<typeof StoredList> | undefined> {
  try {
    return StoredList.safeParse(await readStateFile(path)).data;
  } catch {
    return undefined; // Unreadable: replaced by the next list.
  }
}

async function fetchList(
  { url, request }: ModelListOptions,
  signal: AbortSignal,
): Promise<ListedModel[] | undefined> {
  try {
    const response = await request(url, signal);
    const text = await readStart(response.body, MAX_LIST_CHARS);
    if (!response.ok) return undefined;
    const models = readModelList(JSON.parse(text));
    return models.length === 0 ? undefined : models;
  } catch {
    return undefined; // A request to the model reports what is wrong.
  }
}
