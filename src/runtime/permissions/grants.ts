// What a person allowed for longer than once: for the session in memory, for the project in a file outside the
// workspace, where the agent cannot write. A convenience, never a right: denials are looked at before it.
import { rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { messageOf } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { Serial } from "../../base/serial.ts";
import { withFileLock } from "../file-lock.ts";
import { ensurePrivateDir, readPrivate, realPlace, writeStateFile } from "../state-dir.ts";
import { isSameKey } from "./grant-key.ts";
import { isBelow } from "./grantable.ts";
import type { Grant, GrantKey } from "./types.ts";

export interface GrantsOrder {
  /** The project's own directory in the user's state (`projectDir` of state-dir.ts). */
  directory: string;
  /** The workspace, real. */
  root: string;
  /** False: nothing is read from or written to disk. */
  persistent: boolean;
  ttlMs: number;
  /** Of the clock; tests bring their own. */
  now?: () => number;
}

const MAX_GRANTS = 1000;
/** A grant from the future means a clock that was turned back: it would live too long. */
const CLOCK_SLACK_MS = 60_000;

const Key = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("command"),
    argv: z.array(z.string()).min(1),
    executable: z.string().startsWith("/"),
    cwd: z.string().startsWith("/"),
    executor: z.string().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal("write"), tool: z.string().min(1), directory: z.string().min(1) }),
  z.strictObject({
    kind: z.literal("agent"),
    agent: z.string().min(1),
    provider: z.string().min(1),
    digest: z.string().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal("other"), tool: z.string().min(1), key: z.string() }),
]);
const ProjectGrant = z.strictObject({
  key: Key,
  scope: z.literal("project"),
  grantedAtMs: z.number(),
  expiresAtMs: z.number(),
});
const GrantFile = z.strictObject({
  version: z.literal(1),
  root: z.string(),
  grants: z.array(ProjectGrant).max(MAX_GRANTS),
});
type ProjectGrant = z.infer<typeof ProjectGrant>;

export async function openGrants(order: GrantsOrder): Promise<GrantStore> {
  const store = new GrantStore({ ...order, directory: await realPlace(order.directory) });
  await store.list();
  return store;
}

export class GrantStore {
  /** What was ignored and why, for people; each is told once. */
  readonly warnings: string[] = [];
  readonly #order: GrantsOrder;
  readonly #now: () => number;
  readonly #file: string;
  readonly #writes = new Serial();
  #isPersistent: boolean;
  #session: Grant[] = [];
  #project: ProjectGrant[] = [];
  #seen = "";

  constructor(order: GrantsOrder) {
    this.#order = order;
    this.#now = order.now ?? Date.now;
    this.#file = join(order.directory, "grants.json");
    this.#isPersistent = order.persistent;
    if (this.#isPersistent && isBelow(order.directory, order.root)) {
      this.#isPersistent = false;
      this.#warn(
        `${order.directory} is in the workspace, where the agent could write its own grants: nothing is remembered; set XDG_STATE_HOME to a directory outside`,
      );
    }
  }

  /** How long an "always" holds, in words. */
  get span(): string {
    if (!this.#isPersistent) return "for this session";
    const hours = Math.max(1, Math.round(this.#order.ttlMs / 3_600_000));
    return `for ${hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`} in this project`;
  }

  /** Those that count now. Another process's new ones and a deleted file are noticed. Never rejects. */
  async list(): Promise<readonly Grant[]> {
    await this.#reload();
    const now = this.#now();
    return [...this.#session, ...this.#project].filter((grant) => this.#isValid(grant, now));
  }

  /** `project` falls back to the session where nothing can be kept; `warnings` says why. Never rejects. */
  async add(key: GrantKey, scope: Grant["scope"]): Promise<Grant["scope"]> {
    const grantedAtMs = this.#now();
    if (scope === "project" && this.#isPersistent) {
      const grant = { key: Key.parse(key), scope, grantedAtMs, expiresAtMs: grantedAtMs + this.#order.ttlMs };
      try {
        await this.#writes.run(() => this.#keep(grant));
        return "project";
      } catch (error) {
        this.#warn(
          `"always" holds for this session only: ${this.#file} was not written: ${messageOf(error)}`,
        );
      }
    }
    this.#session = [
      ...this.#session.filter((one) => !isSameKey(one.key, key)),
      { key, scope: "session" as const, grantedAtMs },
    ].slice(-MAX_GRANTS);
    return "session";
  }

  async #keep(grant: ProjectGrant): Promise<void> {
    await ensurePrivateDir(dirname(this.#file));
    await withFileLock(`${this.#file}.lock`, async () => {
      const now = this.#now();
      const others = (await this.#read()).filter(
        (one) => this.#isValid(one, now) && !isSameKey(one.key, grant.key),
      );
      const grants = [...others, grant].slice(-MAX_GRANTS);
      await writeStateFile(this.#file, { version: 1, root: this.#order.root, grants });
    });
    this.#seen = "";
    await this.#reload();
  }

  async #reload(): Promise<void> {
    if (!this.#isPersistent) return;
    const now = await identity(this.#file);
    if (now === this.#seen) return;
    this.#seen = now;
    this.#project = now === "" ? [] : await this.#read();
  }

  async #read(): Promise<ProjectGrant[]> {
    try {
      const text = await readPrivate(this.#file);
      if (text === undefined) return [];
      const grants = parse(text, this.#order.root);
      if (typeof grants !== "string") return grants;
      await this.#setAside(grants);
    } catch (error) {
      this.#warn(`the grants in ${this.#file} are ignored: ${messageOf(error)}`);
    }
    return [];
  }

  async #setAside(fault: string): Promise<void> {
    const aside = `${this.#file}.bad-${this.#now()}`;
    await rename(this.#file, aside);
    this.#warn(
      `${this.#file} is damaged (${fault}) and was moved to ${aside}: what it allowed is asked again`,
    );
  }

  #isValid(grant: Grant, now: number): boolean {
    if (grant.scope === "session") return true;
    // A shorter time in the configuration also ends grants that were given before.
    const end = Math.min(grant.expiresAtMs ?? 0, grant.grantedAtMs + this.#order.ttlMs);
    return end > now && grant.grantedAtMs <= now + CLOCK_SLACK_MS;
  }

  #warn(message: string): void {
    if (!this.warnings.includes(message)) this.warnings.push(message);
  }
}

/** A text: what is wrong with it. */
function parse(text: string, root: string): ProjectGrant[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
  const file = GrantFile.safeParse(value);
  if (!file.success) return explainIssues(file.error.issues);
  if (file.data.root !== root) return `it belongs to ${file.data.root}`;
  return file.data.grants;
}

/** Changes when the file does; empty: there is none. */
async function identity(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  return info === undefined ? "" : `${info.dev}:${info.ino}:${info.mtimeNs}:${info.ctimeNs}:${info.size}`;
}
