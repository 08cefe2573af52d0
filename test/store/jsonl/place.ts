// A database with JSONL files beside it, on the real disk or a simulated one.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openInProcessStore, type Recovery, type Store } from "../../../src/store/index.ts";
import { tempDir } from "../material.ts";

export class JsonlPlace {
  readonly root = tempDir();
  readonly dir = join(this.root, "jsonl");
  readonly path = join(this.root, "log.db");
  found: Recovery[] = [];
  #store: Store | undefined;

  /** Opens the store; closes the previous one. */
  async open(now = Date.now): Promise<Store> {
    await this.close();
    this.found = [];
    const onRecovery = (one: Recovery) => this.found.push(one);
    const oldMarks = join(this.root, "event-log.seqs");
    const marks = join(this.root, "log.seqs");
    const config = { path: this.path, marks, jsonl: { dir: this.dir, oldMarks } };
    const store = await openInProcessStore(config, { now, onRecovery });
    this.#store = store;
    onTestFinished(() => store.close());
    return store;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  names(): string[] {
    return readdirSync(this.dir).sort();
  }

  read(name: string): string {
    return readFileSync(join(this.dir, name), "utf8");
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(join(this.dir, name), content);
  }
}
