// Attacks that take two commands: the first prepares the ground for what is found out before the second one starts.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { Ground, runIn, whyNoSandbox } from "./ground.ts";

const lacking = await whyNoSandbox();
const reason = process.platform === "linux" ? lacking : "these attacks are for Linux";
const ground = new Ground();

/** Directories in one another, further down than a path can say, with `s` moved to the end. */
const DEEP = {
  make: "n=$(printf 'd%.0s' {1..250}); for i in {1..20}; do mkdir $n && mv s $n/ && cd $n; done",
  enter: "n=$(printf 'd%.0s' {1..250}); for i in {1..20}; do cd $n; done",
};

afterAll(() => ground.close());

if (reason !== undefined) test.skip(`no escape was tried: ${reason}`, () => undefined);

describe.skipIf(reason !== undefined)(
  "a command cannot prepare that the next one",
  { timeout: 30_000 },
  () => {
    beforeEach(() => ground.lay());

    const twice = async (first: string, second: string, config = {}) => {
      const sandbox = await ground.sandbox(config);
      const before = await runIn(sandbox, ground.workspace, `${first}\necho prepared`);
      expect(before.output).toMatch(/prepared\n$/);
      return (await runIn(sandbox, ground.workspace, `${second}\necho ran`)).output;
    };

    test.each([
      ["in node_modules", "mkdir node_modules && mv packages/a node_modules/a", "node_modules/a/.env.local"],
      [
        "in a directory that becomes node_modules",
        "mv packages/a packages/node_modules",
        "packages/node_modules/.env.local",
      ],
      ["in a .git of its own", "mkdir -p x/.git && mv packages/a x/.git/a", "x/.git/a/.env.local"],
      ["in a directory that was closed", "chmod 311 packages/a", "packages/a/.env.local"],
    ])("reads an environment file %s", async (_where, first, file) => {
      const output = await twice(first, `chmod 755 packages/a 2>&1; cat ${file}`);
      expect(output).not.toContain("TOPSECRET");
      expect(output).toMatch(/ran\n$/);
      // The control: it is there.
      chmodSync(join(ground.workspace, file, ".."), 0o755);
      expect(readFileSync(join(ground.workspace, file), "utf8")).toContain("TOPSECRET");
    });

    test.each([
      [
        "whose name is not UTF-8",
        "mkdir -p b/$'x\\xff' && mv packages/a b/$'x\\xff'",
        "cat b/*/a/.env.local",
      ],
      ["that is too deep to be named", `mv packages/a s; ${DEEP.make}`, `${DEEP.enter}; cat s/.env.local`],
    ])("reads an environment file in a directory %s", async (_which, first, second) => {
      expect(await twice(first, second)).not.toContain("TOPSECRET");
      // The control: it is there.
      const off = await ground.sandbox({ mode: "off" });
      expect((await runIn(off, ground.workspace, second)).output).toContain("TOPSECRET");
      // What Node cannot name it cannot remove either.
      await runIn(off, ground.workspace, "rm -rf *");
    });

    test("reads an environment file at the top, in a directory whose name is not UTF-8", async () => {
      const first = "mkdir $'x\\xff' && mv packages/a $'x\\xff'";
      await expect(twice(first, "cat x*/a/.env.local")).rejects.toMatchObject({
        code: "workspace_too_odd",
        message: expect.stringMatching(/contains environment files.*rename or delete it/),
      });
      // One without secrets does no harm.
      ground.lay();
      expect(await twice("mkdir $'x\\xff'; touch $'y\\xff'", "ls | wc -l")).toBe("4\nran\n");
    });

    test.each(["/", "..", "/proc", "/tmp", "/usr"])("sees more by a .git that leads to %s", async (to) => {
      const processes = "ls -d /proc/[0-9]* | wc -l";
      const output = await twice(
        `mkdir x && ln -s ${to} x/.git && ln -s ${to} packages/.demian`,
        `${processes}; echo y > new && cat new`,
      );
      expect(Number(output.split("\n")[0])).toBeLessThan(10);
      expect(output).toContain("\ny\n");
      expect(readFileSync(join(ground.workspace, "new"), "utf8")).toBe("y\n");
    });

    test.each(["outside", "."])("writes outside by a writable .git that leads to %s", async (to) => {
      const target = to === "." ? ground.base : ground.outside;
      const output = await twice(
        `mkdir x && ln -s ${target} x/.git && ln -s ${target} .git/info`,
        `echo evil > ${ground.outside}/new`,
        { writableGit: true },
      );
      expect(output).toMatch(/Read-only file system.*\nran\n$/);
      expect(existsSync(join(ground.outside, "new"))).toBe(false);
    });

    test("finds no shell, because a file that is named like an environment file leads to it", async () => {
      const shell = realpathSync("/bin/bash");
      expect(await twice(`ln -s ${shell} packages/.env; ln -s /etc packages/.env.d`, "echo fine")).toBe(
        "fine\nran\n",
      );
    });

    test("does not run, because there are too many environment files to mask", async () => {
      const output = await twice("mkdir many; cd many; seq -f .env.%g 3200 | xargs touch", "cat .env").catch(
        (error: unknown) => String(error),
      );
      expect(output).not.toContain("TOPSECRET");
    });
  },
);

test.skipIf(reason !== undefined)("hidden paths may be nested, in any order", async () => {
  ground.lay();
  const inner = join(ground.state, "inner");
  mkdirSync(inner, { recursive: true });
  const hide = [ground.state, inner, join(ground.state, "secret"), ground.state];
  const sandbox = await createSandbox(SANDBOX, { root: ground.workspace, hide });
  expect((await runIn(sandbox, ground.workspace, `ls -A ${ground.state} && echo ran`)).output).toBe("ran\n");
});

describe.skipIf(reason !== undefined)("a repository that comes with links", () => {
  test("for .git and .demian does not change what is held", async () => {
    ground.lay();
    for (const name of [".git", ".demian"]) rmSync(join(ground.workspace, name), { recursive: true });
    mkdirSync(join(ground.workspace, "sub"));
    symlinkSync("/", join(ground.workspace, ".git"));
    symlinkSync(ground.base, join(ground.workspace, ".demian"));
    symlinkSync("..", join(ground.workspace, "sub/.git"));
    writeFileSync(join(ground.workspace, "file"), "1\n");
    const sandbox = await ground.sandbox({ writableGit: true });
    const line = `echo 2 > file; cat ${ground.state}/secret ${ground.settings}; echo x > ${ground.outside}/new; ls -d /proc/[0-9]* | wc -l`;
    const { output } = await runIn(sandbox, ground.workspace, line);
    expect(output).not.toContain("TOPSECRET");
    expect(Number(output.trim().split("\n").at(-1))).toBeLessThan(10);
    expect(existsSync(join(ground.outside, "new"))).toBe(false);
    expect(readFileSync(join(ground.workspace, "file"), "utf8")).toBe("2\n");
  });
});
