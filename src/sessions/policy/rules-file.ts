// The rules file: read again when it changes. A file that became invalid changes nothing: the last good rules stay, and
// the fault is reported.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { readPrivate, writePrivate } from "../../base/private-file.ts";
import { Serial } from "../../base/serial.ts";
import type { PolicyRule, PolicyWhen } from "../../protocol/policy.ts";
import { formatRules, parseRules } from "../../protocol/policy-file.ts";

export interface LoadedRules {
  /** As in the file. */
  rules: readonly PolicyRule[];
  /** The same, with the real paths of directories added to them. */
  effective: readonly PolicyRule[];
  /** Of the file's text; empty without a file. */
  sha256: string;
}

const NO_RULES: LoadedRules = { rules: [], effective: [], sha256: "" };

export class RulesFile {
  readonly path: string;
  /** Called when other rules take effect, and why: `null` if the file was changed by hand. */
  readonly #onChange: (before: LoadedRules, now: LoadedRules) => void;
  readonly #onFault: (fault: string) => void;
  readonly #steps = new Serial();
  #seen: string | undefined;
  #loaded = NO_RULES;
  #fault: string | undefined;

  constructor(
    path: string,
    on: { change(before: LoadedRules, now: LoadedRules): void; fault(fault: string): void },
  ) {
    this.path = path;
    this.#onChange = on.change;
    this.#onFault = on.fault;
  }

  /** Why the file in its present state cannot be used. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The rules in effect, without looking at the file again. */
  get loaded(): LoadedRules {
    return this.#loaded;
  }

  /** Whether the file differs from what was read. One `stat`. */
  hasChanged(): boolean {
    return readIdentity(this.path) !== this.#seen;
  }

  /** Reads the file if it changed. Never rejects: an unusable file is a fault. */
  async refresh(): Promise<LoadedRules> {
    if (this.hasChanged()) await this.#steps.run(() => this.#read());
    return this.#loaded;
  }

  /** Throws `policy_invalid` if the file is invalid now, and what `change` throws. Nothing is written then. */
  change(make: (rules: readonly PolicyRule[]) => PolicyRule[]): Promise<LoadedRules> {
    return this.#steps.run(async () => {
      await this.#read();
      if (this.#fault !== undefined)
        throw new CodedError("policy_invalid", `${this.#fault}; fix the file first, nothing was changed`);
      const text = formatRules(make(this.#loaded.rules));
      // What is written must be readable.
      parseRules(text, this.path);
      await writePrivate(this.path, text);
      await this.#read();
      return this.#loaded;
    });
  }

  async #read(): Promise<void> {
    const now = readIdentity(this.path);
    if (now === this.#seen) return;
    try {
      const text = await readPrivate(this.path);
      const next = text === undefined ? NO_RULES : await load(text, this.path);
      const before = this.#loaded;
      this.#seen = now;
      this.#fault = undefined;
      this.#loaded = next;
      if (before.sha256 !== next.sha256) this.#onChange(before, next);
    } catch (error) {
      this.#seen = now;
      const fault = toMessage(error);
      if (this.#fault !== fault) this.#onFault(fault);
      this.#fault = fault;
    }
  }
}

async function load(text: string, path: string): Promise<LoadedRules> {
  const rules = parseRules(text, path);
  const effective = await Promise.all(
    rules.map(async (rule) => ({ ...rule, when: await addRealPaths(rule.when) })),
  );
  return { rules, effective, sha256: createHash("sha256").update(text).digest("hex") };
}

/** Files are compared by their real path, so a directory named through a link counts as both. */
async function addRealPaths(when: PolicyWhen): Promise<PolicyWhen> {
  const next = { ...when };
  for (const name of ["paths_within", "cwd_within", "started_within"] as const) {
    const given = when[name];
    if (given === undefined) continue;
    const named = [given].flat();
    const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
    next[name] = [...new Set([...named, ...real])];
  }
  return next;
}

/** Changes when the file does; empty if there is none. */
function readIdentity(path: string): string {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  return info === undefined ? "" : `${info.dev}:${info.ino}:${info.mtimeNs}:${info.ctimeNs}:${info.size}`;
}
