// Differences of trees, which never change: the last ones are kept.
import type { RawPath, TreeChange, WorkTree } from "../../git/index.ts";
import { type KnownRecord, type LargeChange, listLargeChanges, type Span } from "./spans.ts";

const MAX_ENTRIES = 300;
/** Larger results are computed again. */
const MAX_CHANGES = 20_000;

export class Comparisons {
  readonly #kept = new Map<string, TreeChange[]>();

  async compare(tree: WorkTree, from: string, to: string, findsRenames: boolean): Promise<TreeChange[]> {
    const key = `${tree.root}\0${from}\0${to}\0${findsRenames}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const changes = await tree.compare([from, to], { findsRenames });
    if (changes.length > MAX_CHANGES) return changes;
    this.#kept.set(key, changes);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_ENTRIES && oldest !== undefined) this.#kept.delete(oldest);
    return changes;
  }

  /** The paths that differ, without looking for renames, large files included. */
  async listPaths(tree: WorkTree, { from, to }: Pick<Span, "from" | "to">): Promise<Set<RawPath>> {
    const changes = await this.compare(tree, from.tree, to.tree, false);
    return new Set([...changes, ...listLargeChanges(from, to)].map(({ path }) => path));
  }

  async listChanges(tree: WorkTree, from: KnownRecord, to: KnownRecord): Promise<FoundChanges> {
    const changes = await this.compare(tree, from.tree, to.tree, true);
    return { changes, large: listLargeChanges(from, to) };
  }
}

export interface FoundChanges {
  changes: TreeChange[];
  large: LargeChange[];
}
