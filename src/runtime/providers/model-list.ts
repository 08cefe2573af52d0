// Asks a vendor's list of models how much a model takes. Of no consequence when it fails: then its name has to do.
import { readStart } from "./chunks.ts";
import { windowInList } from "./context-window.ts";
import type { Fetch } from "./guarded-fetch.ts";

const MAX_LIST_CHARS = 8 * 1024 * 1024;

export interface ListOrder {
  send: Fetch;
  url: string;
  headers: Readonly<Record<string, string>>;
  model: string;
  signal: AbortSignal;
}

/** Never rejects. */
export async function listedWindow({
  send,
  url,
  headers,
  model,
  signal,
}: ListOrder): Promise<number | undefined> {
  try {
    const response = await send(url, { method: "GET", headers, signal });
    const text = await readStart(response.body, MAX_LIST_CHARS);
    return response.ok ? windowInList(JSON.parse(text), model) : undefined;
  } catch {
    return undefined; // no list, no JSON, or nobody there: the next request says so
  }
}
