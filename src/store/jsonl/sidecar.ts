// `<id>.usage.json`: the session row as compact JSON (§5.15). Also reads what older daemons wrote there: eight
// fields, some of them null.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { defaultRow } from "../default-row.ts";
import { type JsonFileOptions, readJsonFile, writeJsonFile } from "./json-file.ts";
import { sidecarPath } from "./paths.ts";

export class Sidecars {
  readonly #options: JsonFileOptions;

  constructor(options: JsonFileOptions) {
    this.#options = options;
  }

  /** Rows are few (a turn has two) and hold what a resume needs, so each is synced. */
  write(row: SessionRow): void {
    writeJsonFile(this.#options, sidecarPath(this.#options.dir, row.session_id), row);
  }

  /** A file that is no row is put aside and reported; the session then goes on from its log. */
  read(session_id: string): SessionRow | undefined {
    const path = sidecarPath(this.#options.dir, session_id);
    return readJsonFile(this.#options, {
      path,
      session_id,
      parse: (value, mtimeMs) => toRow(session_id, value, mtimeMs),
    });
  }
}

/** Lenient, field by field: a row with one odd field is worth more than no row. */
function toRow(session_id: string, value: unknown, mtimeMs: number): SessionRow | undefined {
  if (!isObject(value)) return undefined;
  const known: JsonObject = { ...withoutNulls(value), session_id };
  const defaults = defaultRow({ session_id }, mtimeMs);
  for (const [field, fallback] of Object.entries(defaults)) {
    if (typeof known[field] !== typeof fallback) delete known[field];
  }
  return defaultRow({ ...known, session_id }, mtimeMs);
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}
