// A small private JSON file shared by several processes: validated, and replaced as a whole under a lock. Losing it is
// reported and never fatal, so it is only for data that may be lost.
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import type * as z from "zod";
import { toMessage } from "../base/coded-error.ts";
import { ensurePrivateDir, readPrivate } from "../base/private-file.ts";
import { explainIssues } from "../base/schema.ts";
import { withFileLock } from "./file-lock.ts";
import { writeStateFile } from "./state-dir.ts";

export interface StateJsonOrder<T> {
  path: string;
  schema: z.ZodType<T>;
  /** The value when there is no file. */
  empty: T;
  /** The effect of losing it: "costs are counted from zero". */
  loss: string;
  warn(message: string): void;
}

export class StateJson<T> {
  readonly #order: StateJsonOrder<T>;

  constructor(order: StateJsonOrder<T>) {
    this.#order = order;
  }

  /** Never rejects. A damaged file is moved aside. */
  async read(): Promise<T> {
    const { path, empty, loss, warn } = this.#order;
    try {
      const text = await readPrivate(path);
      if (text === undefined) return empty;
      const read = this.#parse(text);
      if ("value" in read) return read.value;
      const aside = `${path}.bad-${Date.now()}`;
      await rename(path, aside);
      warn(`${path} is damaged (${read.fault}) and was moved to ${aside}: ${loss}`);
    } catch (error) {
      warn(`${path} cannot be read: ${toMessage(error)}; ${loss}`);
    }
    return empty;
  }

  /** Never rejects. */
  async change(change: (before: T) => T): Promise<void> {
    const { path, loss, warn } = this.#order;
    try {
      await ensurePrivateDir(dirname(path));
      await withFileLock(`${path}.lock`, async () => writeStateFile(path, change(await this.read())));
    } catch (error) {
      warn(`${path} could not be written: ${toMessage(error)}; ${loss}`);
    }
  }

  #parse(text: string): { value: T } | { fault: string } {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return { fault: toMessage(error) };
    }
    const checked = this.#order.schema.safeParse(value);
    return checked.success ? { value: checked.data } : { fault: explainIssues(checked.error.issues) };
  }
}
