// A small private file that several processes read and change: one JSON value, checked, replaced as a whole under a lock.
// Losing it is told and never fatal. Not for what must not be lost.
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import type * as z from "zod";
import { messageOf } from "../base/coded-error.ts";
import { explainIssues } from "../base/schema.ts";
import { withFileLock } from "./file-lock.ts";
import { ensurePrivateDir, readPrivate, writeStateFile } from "./state-dir.ts";

export interface StateJsonOrder<T> {
  path: string;
  schema: z.ZodType<T>;
  /** What is in it when there is no file. */
  empty: T;
  /** What it costs when it cannot be used: "costs are counted from zero". */
  loss: string;
  warn(message: string): void;
}

export class StateJson<T> {
  readonly #order: StateJsonOrder<T>;

  constructor(order: StateJsonOrder<T>) {
    this.#order = order;
  }

  /** Never rejects. A damaged file is set aside. */
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
      warn(`${path} cannot be read: ${messageOf(error)}; ${loss}`);
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
      warn(`${path} was not written: ${messageOf(error)}; ${loss}`);
    }
  }

  #parse(text: string): { value: T } | { fault: string } {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return { fault: messageOf(error) };
    }
    const checked = this.#order.schema.safeParse(value);
    return checked.success ? { value: checked.data } : { fault: explainIssues(checked.error.issues) };
  }
}
