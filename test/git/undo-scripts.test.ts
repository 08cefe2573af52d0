// Random worlds, random edits, and the way back: every covered file has its old bytes, and `.git` was never written.
import { expect, test } from "vitest";
import { size } from "../support/sizes.ts";
import { goBack, seedRandom, World } from "./world.ts";

const SCRIPTS = size("UNDO_SCRIPTS", 8);
const SEED = size("UNDO_SEED", 1);

test(
  `after ${SCRIPTS} random edit scripts, undo gives every covered file its old bytes`,
  async () => {
    const seen = { changed: 0, large: 0, nested: 0, refused: 0 };
    for (let n = 0; n < SCRIPTS; n += 1) {
      const random = seedRandom(SEED * 100_000 + n);
      const world = new World(random);
      try {
        world.build();
        const tree = await world.open();
        const [files, git] = [world.walk(), world.printGitDir()];
        const isTracked = world.git("ls-files", "ignored/tracked") !== "";
        const before = await tree.take();
        expect(world.printGitDir(), `seed ${n}: .git after a checkpoint`).toBe(git);
        for (let edits = 2 + random(10); edits > 0; edits -= 1) world.editOnce();
        if (random(3) === 0) world.editWithGit();
        for (let edits = random(4); edits > 0; edits -= 1) world.editOnce();
        const gitLater = world.printGitDir();
        const after = await tree.take();
        const refused = await goBack(tree, before.tree, after.tree);
        expect(world.printGitDir(), `seed ${n}: .git after undo`).toBe(gitLater);
        const last = await tree.take();
        const large = new Set([...before.large.keys(), ...after.large.keys()]);
        const skipped = (path: string) =>
          large.has(path) ||
          (path === "ignored/tracked" && !isTracked) ||
          [...refused.keys()].some(
            (no) => path === no || path.startsWith(`${no}/`) || no.startsWith(`${path}/`),
          );
        const [expected, got] = [files, world.walk()].map(
          (all) => new Map([...all].filter(([path]) => !skipped(path))),
        );
        expect([...(got ?? [])].sort(), `seed ${n}`).toEqual([...(expected ?? [])].sort());
        if (refused.size === 0 && large.size === 0 && last.large.size === 0 && isTracked)
          expect(last.tree, `seed ${n}`).toBe(before.tree);
        seen.changed += before.tree === after.tree ? 0 : 1;
        seen.large += large.size;
        seen.nested += after.nested.length;
        seen.refused += refused.size;
      } finally {
        world.close();
      }
    }
    expect(seen.changed).toBeGreaterThan(SCRIPTS / 2);
    console.log(`▸ undo: ${SCRIPTS} scripts, ${JSON.stringify(seen)}`);
  },
  60_000 + SCRIPTS * 2_000,
);
