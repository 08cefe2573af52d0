// Sessions in worktrees as users start them: `sm spawn --worktree`, `sm worktrees`, with the real daemon and git.
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { Scratch } from "../../git/scratch.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../../support/patience.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let daemon: TestDaemon;
let http: HttpClient;
let program: BuiltProgram;
let setUp: Scratch;
let scratch: Scratch;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  setUp = Scratch.create();
  const command = "test ! -e refuse && echo done > set-up.txt || { echo no room for it >&2; exit 3; }";
  daemon = await startDaemon({
    env: { BLEMEESD_WORKTREE_SETUP: `${setUp.root}=${command}`, BLEMEESD_SHUTDOWN_GRACE: "0" },
  });
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(async () => {
  await daemon.close();
  program.remove();
  setUp.remove();
});
beforeEach(() => {
  scratch = Scratch.create();
});
afterEach(() => scratch.remove());

const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);
const spawn = (...args: string[]) => sm("spawn", "claude", "--cwd", scratch.root, ...args);
const show = async (id: string) => http.session(id.trim());
const listNames = async () => (await http.worktrees()).map(({ name }) => name);
const countBranches = (of: Scratch) =>
  of.run("branch", "--list", "blemees/*").split("\n").filter(Boolean).length;

async function stop(session_id: string): Promise<void> {
  await http.stop(session_id);
  await vi.waitFor(async () => expect((await http.session(session_id)).running).toBe(false), PATIENT);
}

describe("a session in a worktree", () => {
  test("works there, on a branch of its own, and says so", async () => {
    scratch.write("sub/file", "x");
    scratch.commit("sub");
    const ran = await sm(
      "spawn",
      "claude",
      "--cwd",
      join(scratch.root, "sub"),
      "--worktree=fix-1",
      "#say hi",
    );
    expect(ran).toMatchObject({ code: 0 });
    const view = await show(ran.stdout);
    expect(view.worktree).toMatchObject({ name: "fix-1", branch: "blemees/fix-1", repository: scratch.root });
    expect(view.cwd).toBe(join(view.worktree?.path ?? "", "sub"));
    expect(scratch.runIn(view.cwd ?? "", "branch", "--show-current")).toBe("blemees/fix-1");
    expect((await sm("show", view.session_id)).stdout).toContain("fix-1, branch blemees/fix-1");
    expect(scratch.run("status", "--porcelain")).toBe("");
    expect(await sm("worktrees", "path", "fix-1")).toMatchObject({
      code: 0,
      stdout: `${view.worktree?.path}\n`,
    });
  });

  test("without a name it gets that of the session; changes come along if asked for", async () => {
    scratch.write("a.txt", "mine");
    const ran = await spawn("--name", "Fix it!", "--worktree", "--with-changes", "#say hi");
    const view = await show(ran.stdout);
    expect(view.worktree?.name).toMatch(/^Fix-it-[0-9a-f]{6}$/);
    expect(readFileSync(join(view.cwd ?? "", "a.txt"), "utf8")).toBe("mine");
    const other = await show((await spawn("--worktree=plain", "#say hi")).stdout);
    expect(readFileSync(join(other.cwd ?? "", "a.txt"), "utf8")).toBe("one\n");
  });

  test("the same key makes it once", async () => {
    const body = {
      backend: "claude",
      cwd: scratch.root,
      worktree: { name: "once" },
      idempotency_key: "k-once",
    };
    const first = await http.spawn(body);
    expect(await http.spawn(body)).toMatchObject({
      repeated: true,
      session: { session_id: first.session.session_id },
    });
    expect(countBranches(scratch)).toBe(1);
  });

  test.each([
    ["a name that is taken", ["--worktree=taken"], "already exists"],
    ["a base that does not exist", ["--worktree=x", "--base", "none"], '"none" is not a commit'],
    ["a directory outside a repository", ["--worktree=x", "--cwd", "/"], "is not in a git repository"],
    ["a name that is a path", ["--worktree=../x"], "expected 1-64 characters"],
    ["--base without --worktree", ["--base", "main"], "--base needs --worktree"],
    ["an agent that does not exist", ["--worktree=x", "-o", "permission_mode=odd"], "permission_mode"],
  ])("%s: one error, and nothing is left", async (_what, args, message) => {
    if (args.includes("--worktree=taken")) scratch.run("branch", "blemees/taken");
    const before = [countBranches(scratch), (await listNames()).length, (await http.sessions()).length];
    const ran = await spawn(...args, "#say hi");
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(message);
    expect([countBranches(scratch), (await listNames()).length, (await http.sessions()).length]).toEqual(
      before,
    );
  });

  test("is set up before its first agent starts, once; if that fails, nothing is left", async () => {
    const spawnSetUp = (name: string) =>
      http.spawn({ backend: "claude", cwd: setUp.root, worktree: { name }, prompt: "#say hi" });
    const { session } = await spawnSetUp("good");
    await http.wait(session.session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
    const file = join(session.cwd ?? "", "set-up.txt");
    expect(readFileSync(file, "utf8")).toBe("done\n");
    writeFileSync(file, "not again");
    await stop(session.session_id);
    await http.input(session.session_id, { text: "#say hi" });
    await http.wait(session.session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
    expect(readFileSync(file, "utf8")).toBe("not again");
    setUp.write("refuse", "");
    setUp.commit("refuse");
    const failed = spawnSetUp("bad");
    await expect(failed).rejects.toThrow(/set-up command of the worktree ended with code 3.*no room for it/s);
    expect(setUp.run("branch", "--list", "blemees/*")).toBe("+ blemees/good");
  });
});

describe("sm worktrees", () => {
  test("lists them, refuses to remove what is in use or has something to lose, and removes the rest", async () => {
    const { session_id, worktree } = await show((await spawn("--worktree=gone", "#say hi")).stdout);
    const path = worktree?.path ?? "";
    await http.wait(session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
    expect((await sm("worktrees", "rm", "gone")).stderr).toContain("an agent is running in");
    await stop(session_id);
    scratch.write("new", "x", path);
    const listed = (await sm("worktrees")).stdout;
    expect(listed).toMatch(
      new RegExp(`^gone +blemees/gone .*1 changed +${session_id.slice(0, 8)} +${path}$`, "m"),
    );
    expect((await sm("worktrees", "rm", "gone")).stderr).toContain("1 changed or untracked file; commit");
    scratch.runIn(path, "clean", "-fdq");
    expect(await sm("worktrees", "rm", "gone")).toMatchObject({ code: 0, stdout: `Removed ${path}\n` });
    expect(existsSync(path)).toBe(false);
    expect(await listNames()).not.toContain("gone");
    expect((await sm("worktrees", "rm", "gone")).stderr).toContain('there is no worktree "gone"');
    expect((await sm("worktrees", "drop")).stderr).toContain('unknown action "drop"');
    expect(await sm("worktrees", "rm")).toMatchObject({ code: 2 });
  });

  test("a worktree whose repository is gone is listed with its fault", async () => {
    const other = Scratch.create();
    await http.spawn({ backend: "claude", cwd: other.root, worktree: { name: "orphan" } });
    other.remove();
    const found = (await http.worktrees()).find(({ name }) => name === "orphan");
    expect(found).toMatchObject({ removable: false, fault: expect.any(String) });
    expect(realpathSync(found?.path ?? "")).toBe(found?.path);
  });
});
