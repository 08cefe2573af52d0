// Recognizes environment files by identity: a hard link in a package directory, where links are normal, may lead to one.
import { fstatSync } from "node:fs";
import { readLinkedIdentity, toIdentity } from "../sandbox/hard-links.ts";
import { Tree } from "../sandbox/tree.ts";

/** A search of packages opens many files; the workspace is searched once for all of them. */
const FRESH_MS = 1000;

export class LinkedSecrets {
  readonly #tree: Tree;
  #found: { at: number; identities: Promise<ReadonlySet<string>> } | undefined;

  constructor(root: string) {
    this.#tree = new Tree(root);
  }

  /** Whether the open file is also an environment file of the workspace. Unknown counts as yes. */
  async has(fd: number): Promise<boolean> {
    const now = performance.now();
    if (this.#found === undefined || now - this.#found.at > FRESH_MS) {
      this.#found = { at: now, identities: this.#search() };
    }
    return this.#found.identities.then(
      (identities) => identities.has(toIdentity(fstatSync(fd, { bigint: true }))),
      () => true,
    );
  }

  async #search(): Promise<ReadonlySet<string>> {
    const { secrets } = await this.#tree.search();
    return new Set(secrets.flatMap((path) => readLinkedIdentity(path) ?? []));
  }
}
