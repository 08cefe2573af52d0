// Walks from the handle of the root to the target of a path, one component at a time. We read and follow links
// ourselves, so the kernel never does, and ".." goes back through the handles we came by.
import { fstatSync, type Stats } from "node:fs";
import { readErrno } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { At } from "./at.ts";
import { joinPath, outsideError, splitPath } from "./lexical.ts";

export interface Origin {
  at: At;
  fd: number;
  /** Absolute and real; links may contain it. */
  path: string;
}

/** Its handles are open only while `use` runs. */
export type Found = { real: string[] } & (
  | { kind: "directory"; fd: number; stats: Stats }
  | { kind: "file" | "other"; parent: number; name: string; stats: Stats }
  /** `rest`: what would have to be made below `parent`; the last one is the file. */
  | { kind: "missing"; parent: number; rest: string[] }
);

const MAX_LINKS = 40;
const MAX_STEPS = 2048;

/** Throws `path_outside`, `link_loop`, `not_a_directory`, and system errors unchanged. */
export function lookUp<T>(origin: Origin, names: readonly string[], use: (found: Found) => T): T {
  const walk = new Walk(origin, names);
  try {
    return use(walk.run());
  } finally {
    walk.close();
  }
}

class Walk {
  readonly #origin: Origin;
  readonly #shown: string;
  /** The directories entered below the root. */
  readonly #entered: { name: string; fd: number }[] = [];
  /** Remaining components, the next one last. */
  readonly #pending: string[];
  #links = 0;

  constructor(origin: Origin, names: readonly string[]) {
    this.#origin = origin;
    this.#shown = joinPath(names);
    this.#pending = names.toReversed();
  }

  run(): Found {
    // Concurrent changes may repeat a step; this bounds the loop.
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const name = this.#pending.pop();
      if (name === undefined) {
        return {
          kind: "directory",
          fd: this.#currentDirectory(),
          stats: fstatSync(this.#currentDirectory()),
          real: this.#realNames(),
        };
      }
      const found = name === ".." ? this.#leave() : this.#step(name);
      if (found !== undefined) return found;
    }
    throw new ToolError("link_loop", `${this.#shown} leads through too many links or directories`);
  }

  close(): void {
    for (const { fd } of this.#entered.splice(0)) this.#origin.at.close(fd);
  }

  #currentDirectory(): number {
    return this.#entered.at(-1)?.fd ?? this.#origin.fd;
  }

  #realNames(): string[] {
    return this.#entered.map(({ name }) => name);
  }

  #leave(): undefined {
    const left = this.#entered.pop();
    if (left === undefined) throw outsideError(this.#shown, "it contains a link that leads outside");
    this.#origin.at.close(left.fd);
  }

  #step(name: string): Found | undefined {
    const { at } = this.#origin;
    const parent = this.#currentDirectory();
    const stats = tryStat(at, parent, name);
    if (stats === undefined) return this.#endMissing(name);
    if (stats.isSymbolicLink()) return this.#follow(name);
    if (stats.isDirectory()) return this.#enter(name);
    if (this.#pending.length > 0) {
      const path = joinPath([...this.#realNames(), name]);
      throw new ToolError("not_a_directory", `${this.#shown}: ${path} is not a directory`);
    }
    return {
      kind: stats.isFile() ? "file" : "other",
      parent,
      name,
      stats,
      real: [...this.#realNames(), name],
    };
  }

  #endMissing(name: string): Found {
    const rest = [name, ...this.#pending.toReversed()];
    if (rest.includes("..")) throw new ToolError("not_found", `${this.#shown}: it contains a broken link`);
    return { kind: "missing", parent: this.#currentDirectory(), rest, real: [...this.#realNames(), ...rest] };
  }

  #follow(name: string): undefined {
    this.#links += 1;
    if (this.#links > MAX_LINKS) {
      throw new ToolError("link_loop", `${this.#shown} leads through more than ${MAX_LINKS} links`);
    }
    const target = this.#readLink(name);
    if (target === undefined) return;
    let rest = target;
    if (target.startsWith("/")) {
      const prefix = this.#origin.path.endsWith("/") ? this.#origin.path : `${this.#origin.path}/`;
      if (target !== this.#origin.path && !target.startsWith(prefix)) {
        throw outsideError(this.#shown, "it contains a link that leads outside");
      }
      rest = target.slice(prefix.length);
      this.close();
    }
    this.#pending.push(...splitPath(rest).toReversed());
  }

  /** Undefined: no longer a link; look again. */
  #readLink(name: string): string | undefined {
    try {
      return this.#origin.at.readLink(this.#currentDirectory(), name);
    } catch (error) {
      return this.#retry(name, error, ["EINVAL", "ENOENT"]);
    }
  }

  #enter(name: string): undefined {
    try {
      this.#entered.push({ name, fd: this.#origin.at.openDirectory(this.#currentDirectory(), name) });
    } catch (error) {
      this.#retry(name, error, ["ELOOP", "ENOTDIR", "ENOENT"]);
    }
  }

  #retry(name: string, error: unknown, expected: readonly string[]): undefined {
    if (!expected.includes(readErrno(error) ?? "")) throw error;
    this.#pending.push(name);
  }
}

export function tryStat(at: At, directory: number, name: string): Stats | undefined {
  try {
    return at.stat(directory, name);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw error;
  }
}
