// Stores grants: for the session in memory, for the project in a file outside the workspace, where the agent cannot write.
// Denials take precedence over grants.
import { rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { toMessage } from "../../base/coded-error.ts";
import { isBelow } from "../../base/commands/executables.ts";
import { ensurePrivateDir, readPrivate } from "../../base/private-file.ts";
import { explainIssues } from "../../base/schema.ts";
import { Serial } from "../../base/serial.ts";
import { withFileLock } from "../file-lock.ts";
import { resolveRealPath, writeStateFile } from "../state-dir.ts";
import { isSameKey } from "./grant-key.ts";
import type { Grant, GrantKey } from "./types.ts";

export interface GrantOptions {
  /** The project's state directory (`projectDir` in state-dir.ts). */
  directory: string;
  /** The workspace, as a real path. */
  root: string;
  /** False keeps all grants in memory. */
  persistent: boolean;
  ttlMs: number;
  /** For tests. */
  now?: () => number;
}

const MAX_GRANTS = 1000;
/** A grant from the future means that the clock was set back; it would live too long. */
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

export async function openGrants(options: GrantOptions): Promise<GrantStore> {
  const store = new GrantStore({ ...options, directory: await resolveRealPath(options.directory) });
  await store.list();
  return store;
}

export class GrantStore {
  /** For users; each is reported once. */
  readonly warnings: string[] = [];
  readonly #options: GrantOptions;
  readonly #now: () => number;
  readonly #file: string;
  readonly #writes = new Serial();
  #isPersistent: boolean;
  #session: Grant[] = [];
  #project: ProjectGrant[] = [];
  #seen = "";

  constructor(options: GrantOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#file = join(options.directory, "grants.json");
    this.#isPersistent = options.persistent;
    if (this.#isPersistent && isBelow(options.directory, options.root)) {
      this.#isPersistent = false;
      this.#warn(
        `${options.directory} is in the workspace, where the agent could write its own grants; "always" lasts for this session only. Set XDG_STATE_HOME to a directory outside the workspace`,
      );
    }
  }

  /** How long an "always" lasts, for users. */
  get span(): string {
    if (!this.#isPersistent) return "for this session";
    const hours = Math.max(1, Math.round(this.#options.ttlMs / 3_600_000));
    return `for ${hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`} in this project`;
  }

  /** The valid grants, including those of other processes. Never rejects. */
  async list(): Promise<readonly Grant[]> {
    await this.#reload();
    const now = this.#now();
    return [...this.#session, ...this.#project].filter((grant) => this.#isValid(grant, now));
  }

  /** If the file cannot be written, a `project` grant lasts for the session and a warning is added. Never rejects. */
  async add(key: GrantKey, scope: Grant["scope"]): Promise<Grant["scope"]> {
    const grantedAtMs = this.#now();
    if (scope === "project" && this.#isPersistent) {
      const grant = {
        key: Key.parse(key),
        scope,
        grantedAtMs,
        expiresAtMs: grantedAtMs + this.#options.ttlMs,
      };
      try {
        await this.#writes.run(() => this.#store(grant));
        return "project";
      } catch (error) {
        this.#warn(`"always" lasts for this session only: cannot write ${this.#file}: ${toMessage(error)}`);
      }
    }
    this.#session = [
      ...this.#session.filter((one) => !isSameKey(one.key, key)),
      { key, scope: "session" as const, grantedAtMs },
    ].slice(-MAX_GRANTS);
    return "session";
  }

  async #store(grant: ProjectGrant): Promise<void> {
    await ensurePrivateDir(dirname(this.#file));
    await withFileLock(`${this.#file}.lock`, async () => {
      const now = this.#now();
      const others = (await this.#read()).filter(
        (one) => this.#isValid(one, now) && !isSameKey(one.key, grant.key),
      );
      const grants = [...others, grant].slice(-MAX_GRANTS);
      await writeStateFile(this.#file, { version: 1, root: this.#options.root, grants });
    });
    this.#seen = "";
    await this.#reload();
  }

  async #reload(): Promise<void> {
    if (!this.#isPersistent) return;
    const now = await readIdentity(this.#file);
    if (now === this.#seen) return;
    this.#seen = now;
    this.#project = now === "" ? [] : await this.#read();
  }

  async #read(): Promise<ProjectGrant[]> {
    try {
      const text = await readPrivate(this.#file);
      if (text === undefined) return [];
      const grants = parse(text, this.#options.root);
      if (typeof grants !== "string") return grants;
      await this.#setAside(grants);
    } catch (error) {
      this.#warn(`ignoring the grants in ${this.#file}: ${toMessage(error)}`);
    }
    return [];
  }

  async #setAside(fault: string): Promise<void> {
    const aside = `${this.#file}.bad-${this.#now()}`;
    await rename(this.#file, aside);
    this.#warn(`${this.#file} is damaged (${fault}) and was moved to ${aside}; you will be asked again`);
  }

  #isValid(grant: Grant, now: number): boolean {
    if (grant.scope === "session") return true;
    // A shorter configured time also applies to existing grants.
    const end = Math.min(grant.expiresAtMs ?? 0, grant.grantedAtMs + this.#options.ttlMs);
    return end > now && grant.grantedAtMs <= now + CLOCK_SLACK_MS;
  }

  #warn(message: string): void {
    if (!this.warnings.includes(message)) this.warnings.push(message);
  }
}

/** Returns the grants, or the fault. */
function parse(text: string, root: string): ProjectGrant[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return toMessage(error);
  }
  const file = GrantFile.safeParse(value);
  if (!file.success) return explainIssues(file.error.issues);
  if (file.data.root !== root) return `it belongs to ${file.data.root}`;
  return file.data.grants;
}

/** Changes when the file does; empty if there is none. */
async function readIdentity(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  return info === undefined ? "" : `${info.dev}:${info.ino}:${info.mtimeNs}:${info.ctimeNs}:${info.size}`;
}
