// `sm pr` as users run it: real git, a remote in a directory, and a `gh` that records how it was called.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { Scratch } from "../../git/scratch.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let daemon: TestDaemon;
let http: HttpClient;
let program: BuiltProgram;
let scratch: Scratch;
let remote: string;
let path: string;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});
beforeEach(async () => {
  scratch = Scratch.create();
  remote = join(scratch.home, "remote.git");
  scratch.run("init", "-q", "--bare", "-b", "main", remote);
  scratch.run("remote", "add", "origin", remote);
  scratch.run("push", "-q", "origin", "main");
  const { session } = await http.spawn({
    backend: "claude",
    cwd: scratch.root,
    name: "pr",
    worktree: { name: "fix" },
  });
  path = session.worktree?.path ?? "";
});
afterEach(async () => {
  for (const { session_id } of await http.sessions()) await http.remove(session_id);
  scratch.remove();
});

const USER = {
  GIT_AUTHOR_NAME: "Me",
  GIT_AUTHOR_EMAIL: "me@example.com",
  GIT_COMMITTER_NAME: "Me",
  GIT_COMMITTER_EMAIL: "me@example.com",
};
const pr = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
  program.run(daemon.socket, ["pr", "pr", ...args], "", { HOME: userHome(), ...USER, ...env });
const inRemote = (...args: string[]) => scratch.runIn(remote, ...args);

/** With a name and an address for commits, and directories on PATH before the others. */
function userHome(): string {
  const home = join(scratch.home, "user");
  mkdirSync(join(home, "bin"), { recursive: true });
  const config = join(home, ".gitconfig");
  if (!existsSync(config)) writeFileSync(config, "[user]\n\tname = Me\n\temail = me@example.com\n");
  return home;
}

/** A remote that looks like GitHub, by the user's own configuration, and its program. */
function useGitHub(script: string): Record<string, string> {
  const home = userHome();
  scratch.run("remote", "set-url", "origin", "https://github.com/me/app.git");
  writeFileSync(
    join(home, ".gitconfig"),
    `[user]\n\tname = Me\n\temail = me@example.com\n[url "${remote}"]\n\tinsteadOf = https://github.com/me/app.git\n`,
  );
  writeFileSync(join(home, "bin/gh"), `#!/bin/sh\nprintf '%s\\n' "$@" > "${home}/called"\n${script}\n`);
  chmodSync(join(home, "bin/gh"), 0o755);
  return { PATH: `${join(home, "bin")}:${process.env["PATH"]}` };
}

test("shows what goes where, pushes after --yes, and the worktree can then be removed", async () => {
  scratch.write("a.txt", "fixed\n", path);
  scratch.commit("Fix it", path);
  const asked = await pr([]);
  expect(asked).toMatchObject({ code: 2 });
  expect(asked.stderr).toContain(`blemees/fix → main at ${remote}`);
  expect(asked.stderr).toMatch(/ {2}[0-9a-f]{7} Fix it/);
  expect(asked.stderr).toContain("nothing was pushed");
  expect(inRemote("branch", "--list", "blemees/*")).toBe("");
  expect(await pr(["--yes", "--json"])).toMatchObject({ code: 0 });
  expect(inRemote("show", "blemees/fix:a.txt")).toBe("fixed");
  expect((await http.worktrees()).find(({ name }) => name === "fix")).toMatchObject({ unmerged: 0 });
});

test("what is not committed is named, and --commit commits it as the user", async () => {
  scratch.write("new.txt", "new\n", path);
  const refused = await pr(["--yes"]);
  expect(refused.stderr).toContain("has no commit that main does not have; 1 files are changed");
  expect(await pr(["--yes", "--commit", "Add it"])).toMatchObject({ code: 0 });
  expect(inRemote("log", "-1", "--format=%an %s", "blemees/fix")).toBe("Me Add it");
  expect(inRemote("show", "blemees/fix:new.txt")).toBe("new");
});

test("gh opens the pull request; if it fails, the page to open it on is printed", async () => {
  scratch.write("a.txt", "fixed\n", path);
  scratch.commit("Fix it", path);
  const env = useGitHub("echo https://github.com/me/app/pull/7");
  expect(await pr(["--yes", "--draft"], env)).toMatchObject({
    code: 0,
    stdout: "https://github.com/me/app/pull/7\n",
  });
  expect(readFileSync(join(userHome(), "called"), "utf8").split("\n")).toEqual(
    expect.arrayContaining(["--repo=github.com/me/app", "--head=blemees/fix", "--title=Fix it", "--draft"]),
  );
  const failing = await pr(["--yes"], useGitHub("echo not logged in >&2; exit 4"));
  expect(failing.stderr).toContain("gh did not open the pull request: not logged in");
  expect(failing.stdout).toBe("https://github.com/me/app/compare/main...blemees/fix?expand=1\n");
});

test("nothing that the repository configures runs; plain git would run it", async () => {
  const mark = join(scratch.home, "mark");
  const probe = join(scratch.home, "probe.sh");
  writeFileSync(probe, `#!/bin/sh\ntouch "${mark}"\n`);
  chmodSync(probe, 0o755);
  scratch.write("a.txt", "fixed\n", path);
  scratch.commit("Fix it", path);
  mkdirSync(join(scratch.root, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-push", "reference-transaction"]) {
    writeFileSync(join(scratch.root, ".git/hooks", hook), `#!/bin/sh\nexec ${probe}\n`);
    chmodSync(join(scratch.root, ".git/hooks", hook), 0o755);
  }
  scratch.run("config", "credential.helper", probe);
  scratch.run("config", "core.sshCommand", probe);
  scratch.run("config", "remote.origin.receivepack", probe);
  expect(await pr(["--yes"])).toMatchObject({ code: 0 });
  expect(existsSync(mark)).toBe(false);
  scratch.run("update-ref", "refs/heads/control", "HEAD");
  expect(existsSync(mark)).toBe(true);
});

test.each([
  ["no remote", () => scratch.run("remote", "remove", "origin"), [], "has no remote"],
  ["a remote that does not exist", () => "", ["--remote", "up"], 'there is no remote "up"'],
  [
    "a remote that starts a program",
    () => scratch.run("config", "remote.origin.url", "ext::sh -c touch%20x"),
    [],
    "has an unusual URL",
  ],
  ["a detached HEAD", () => scratch.runIn(path, "checkout", "-q", "--detach"), [], "HEAD is detached"],
  [
    "the main branch itself",
    () => scratch.runIn(path, "branch", "-m", "trunk"),
    ["--base", "trunk"],
    "works on trunk itself",
  ],
])("%s: one error, nothing pushed", async (_what, change, args, message) => {
  change();
  const ran = await pr(["--yes", ...args]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain(message);
});

test("an agent may not push", async () => {
  const ran = await pr(["--yes"], { BLEMEES_SESSION_ID: "s-1" });
  expect(ran).toMatchObject({ code: 2 });
  expect(ran.stderr).toContain("ask a person to run: sm pr pr");
});
