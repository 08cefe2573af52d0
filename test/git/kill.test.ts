// git is killed at a random moment of a checkpoint, and the daemon with it: nothing blocks the next one, and the user's
// repository has nothing of ours.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { size } from "../support/sizes.ts";
import { seedRandom, World } from "./world.ts";

const KILLS = size("GIT_KILLS", 6);

/** The n-th call of git from now on kills itself when it has begun. */
function setKiller(world: World): (call: number) => void {
  const bin = join(world.dir, "bin");
  const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  mkdirSync(bin);
  const count = join(world.dir, "count");
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
n=$(cat ${count} 2>/dev/null || echo 0)
echo $((n - 1)) > ${count}
[ "$n" = 1 ] || exec ${real} "$@"
${real} "$@" & pid=$!
kill -9 $pid
kill -9 $$
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  world.env["PATH"] = `${bin}:${world.env["PATH"]}`;
  return (call) => writeFileSync(count, String(call));
}

test(`after git was killed ${KILLS} times during a checkpoint, the next one works and .git is clean`, async () => {
  const random = seedRandom(42);
  const world = new World(random);
  try {
    mkdirSync(world.root);
    world.git("init", "-q", "-b", "main");
    for (let n = 0; n < 20; n += 1) world.write(`file${n}`, `${n}\n`);
    world.git("add", "-A");
    world.git("commit", "-q", "-m", "x");
    const killAt = setKiller(world);
    killAt(0);
    let tree = await world.open();
    const first = await tree.take();
    let failures = 0;
    for (let n = 0; n < KILLS; n += 1) {
      world.write("file1", `new ${n}\n`);
      world.write(`more${n}`, "more\n");
      const before = world.printGitDir();
      killAt(1 + (n % 5));
      await tree.take().catch(() => {
        failures += 1;
      });
      killAt(0);
      // Another daemon on the same directories, with what the first one left.
      if (random(2) === 0) {
        writeFileSync(join(world.dir, "state", "git", "index.123abc.lock"), "torn");
        tree = await world.open();
      }
      const { tree: after } = await tree.take();
      const listed = await tree.listTree(after);
      expect(listed.get(`more${n}`)).toBeDefined();
      expect(world.printGitDir()).toBe(before);
    }
    expect(failures).toBeGreaterThan(KILLS / 3);
    const own = join(world.dir, "state", "git");
    expect(readdirSync(own).filter((name) => name.startsWith("index."))).toEqual([]);
    const env = { ...world.env, GIT_DIR: own };
    for (const line of execFileSync("git", ["fsck", "--no-dangling"], { env, encoding: "utf8" }).split("\n"))
      expect(line).toBe("");
    expect(world.git("fsck")).toBe("");
    expect(existsSync(join(world.root, ".git", "index.lock"))).toBe(false);
    expect((await tree.compare([first.tree, (await tree.take()).tree], { findsRenames: false })).length).toBe(
      KILLS + 1,
    );
    expect(readFileSync(join(world.root, "file1"), "utf8")).toBe(`new ${KILLS - 1}\n`);
  } finally {
    world.close();
  }
});
