// Walks from the handle of the root to what a path means, one component at a time. Links are read and followed by us,
// so none is ever followed by the kernel, and ".." goes back through the handles that we came by.
import { fstatSync, type Stats } from "node:fs";
import { errnoOf } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { At } from "./at.ts";
import { joinPath, outside, splitPath } from "./lexical.ts";

export interface Origin {
  at: At;
  fd: number;
  /** Absolute and real; links may name it. */
  path: string;
}

/** Handles in it are open while `use` runs, and no longer. */
export type Found = { real: string[] } & (
  | { kind: "directory"; fd: number; stats: Stats }
  | { kind: "file" | "other"; parent: number; name: string; stats: Stats }
  /** `rest`: what would have to be made below `parent`; the last one is the file. */
  | { kind: "missing"; parent: number; rest: string[] }
);

const MAX_LINKS = 40;
const MAX_STEPS = 2048;

/** Throws `path_outside`, `link_loop`, `not_a_directory`, and errors of the system as they come. */
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
  /** The directories that were entered below the root. */
  readonly #entered: { name: string; fd: number }[] = [];
  /** What is left to do, the next one last. */
  readonly #pending: string[];
  #links = 0;

  constructor(origin: Origin, names: readonly string[]) {
    this.#origin = origin;
    this.#shown = joinPath(names);
    this.#pending = names.toReversed();
  }

  run(): Found {
    // Something that changes under our hands makes a step count twice; it cannot go on for ever.
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const name = this.#pending.pop();
      if (name === undefined) {
        return { kind: "directory", fd: this.#here(), stats: fstatSync(this.#here()), real: this.#real() };
      }
      const found = name === ".." ? this.#leave() : this.#step(name);
      if (found !== undefined) return found;
    }
    throw new ToolError("link_loop", `${this.#shown} leads through too many links or directories`);
  }

  close(): void {
    for (const { fd } of this.#entered.splice(0)) this.#origin.at.close(fd);
  }

  #here(): number {
    return this.#entered.at(-1)?.fd ?? this.#origin.fd;
  }

  #real(): string[] {
    return this.#entered.map(({ name }) => name);
  }

  #leave(): undefined {
    const left = this.#entered.pop();
    if (left === undefined) throw outside(this.#shown, "a link in it leads out");
    this.#origin.at.close(left.fd);
  }

  #step(name: string): Found | undefined {
    const { at } = this.#origin;
    const parent = this.#here();
    const stats = statOrUndefined(at, parent, name);
    if (stats === undefined) return this.#missing(name);
    if (stats.isSymbolicLink()) return this.#follow(name);
    if (stats.isDirectory()) return this.#enter(name);
    if (this.#pending.length > 0) {
      const path = joinPath([...this.#real(), name]);
      throw new ToolError("not_a_directory", `${this.#shown}: ${path} is not a directory`);
    }
    return { kind: stats.isFile() ? "file" : "other", parent, name, stats, real: [...this.#real(), name] };
  }

  #missing(name: string): Found {
    const rest = [name, ...this.#pending.toReversed()];
    if (rest.includes("..")) throw new ToolError("not_found", `${this.#shown}: a link in it leads nowhere`);
    return { kind: "missing", parent: this.#here(), rest, real: [...this.#real(), ...rest] };
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
        throw outside(this.#shown, "a link in it leads out");
      }
      rest = target.slice(prefix.length);
      this.close();
    }
    this.#pending.push(...splitPath(rest).toReversed());
  }

  /** Undefined: it was no link any more, and is looked at again. */
  #readLink(name: string): string | undefined {
    try {
      return this.#origin.at.readLink(this.#here(), name);
    } catch (error) {
      return this.#again(name, error, ["EINVAL", "ENOENT"]);
    }
  }

  #enter(name: string): undefined {
    try {
      this.#entered.push({ name, fd: this.#origin.at.openDirectory(this.#here(), name) });
    } catch (error) {
      this.#again(name, error, ["ELOOP", "ENOTDIR", "ENOENT"]);
    }
  }

  #again(name: string, error: unknown, expected: readonly string[]): undefined {
    if (!expected.includes(errnoOf(error) ?? "")) throw error;
    this.#pending.push(name);
  }
}

export function statOrUndefined(at: At, directory: number, name: string): Stats | undefined {
  try {
    return at.stat(directory, name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
