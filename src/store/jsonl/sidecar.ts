// `<id>.usage.json`: the session row as compact JSON (§5.15). Also reads what older daemons wrote there: eight
// fields, some of them null.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { defaultRow } from "../default-row.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import { openIfThere, readAll, replaceFile, syncDirectory, unlinkIfThere, writeAll } from "../disk/whole.ts";
import { timestamp } from "../timestamp.ts";
import type { DriverOptions } from "../types.ts";
import { sidecarPath } from "./paths.ts";

export interface SidecarOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
}

export class Sidecars {
  readonly #options: SidecarOptions;

  constructor(options: SidecarOptions) {
    this.#options = options;
  }

  /** Rows are few (a turn has two) and hold what a resume needs, so each is synced. */
  write(row: SessionRow): void {
    const { fs, dir } = this.#options;
    const bytes = Buffer.from(`${JSON.stringify(row)}\n`);
    replaceFile(fs, sidecarPath(dir, row.session_id), (fd) => writeAll(fs, fd, bytes, 0));
    syncDirectory(fs, dir);
  }

  /** A file that is no row is put aside and reported; the session then goes on from its log. */
  read(session_id: string): SessionRow | undefined {
    const { fs, dir } = this.#options;
    const path = sidecarPath(dir, session_id);
    const fd = openIfThere(fs, path);
    if (fd === undefined) return undefined;
    try {
      const { size, mtimeMs } = fs.fstatSync(fd);
      const bytes = Buffer.alloc(size);
      const text = bytes.subarray(0, readAll(fs, fd, bytes, 0)).toString("utf8");
      const row = parseRow(session_id, text, Math.trunc(mtimeMs));
      if (row === undefined) this.#putAside({ fd, path, session_id, size });
      return row;
    } finally {
      fs.closeSync(fd);
    }
  }

  #putAside({
    fd,
    path,
    session_id,
    size,
  }: {
    fd: number;
    path: string;
    session_id: string;
    size: number;
  }): void {
    const { fs, now, onRecovery } = this.#options;
    const aside = setAside(fs, { fd, path, start: 0 }, timestamp(now()));
    unlinkIfThere(fs, path);
    onRecovery({ session_id, kept_seq: 0, cut_bytes: size, aside });
  }
}

/** Lenient, field by field: a row with one odd field is worth more than no row. */
function parseRow(session_id: string, text: string, mtimeMs: number): SessionRow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
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
