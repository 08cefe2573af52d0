// One snapshot of a work tree at a time. Sessions that ask while another snapshot is being taken share the next one: it begins
// after all of them asked. So sessions in one repository do not queue behind each other.
import { KeyedLock } from "../../base/keyed-lock.ts";
import type { Snapshot, WorkTree } from "../../git/index.ts";

interface Follower {
  tree: WorkTree;
  /** Undefined: it has to take its own. */
  settle(snapshot: Snapshot | undefined): void;
}

export class SharedSnapshots {
  readonly #locks = new KeyedLock();
  /** By root: who shares the snapshot that has not begun yet. */
  readonly #next = new Map<string, Follower[]>();

  /** Throws `git_failed`, errors of the disk. */
  async take(tree: WorkTree): Promise<Snapshot> {
    for (;;) {
      const followers = this.#next.get(tree.root);
      if (followers === undefined) return this.#lead(tree);
      const shared = await new Promise<Snapshot | undefined>((settle) => followers.push({ tree, settle }));
      if (shared !== undefined) return shared;
    }
  }

  async #lead(tree: WorkTree): Promise<Snapshot> {
    const followers: Follower[] = [];
    this.#next.set(tree.root, followers);
    const release = await this.#locks.lock(tree.root);
    this.#next.delete(tree.root);
    try {
      const snapshot = await tree.take();
      await Promise.all(
        followers.map(async (follower) => {
          const isShared = await follower.tree.adopt(tree, snapshot).catch(() => false);
          if (isShared) follower.settle(snapshot);
        }),
      );
      return snapshot;
    } finally {
      release();
      for (const { settle } of followers) settle(undefined);
    }
  }
}
