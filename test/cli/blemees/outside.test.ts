// Sessions that were started outside, as users meet them: `sm all --outside`, `sm show`, `sm tail` and `sm adopt`.
import { copyFileSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

const ID = "abe6f9ad-902b-4d89-b758-7751d17427c5";
const OTHER = "abe6f9ad-0000-4d89-b758-7751d17427c5";

let daemon: TestDaemon;
let program: BuiltProgram;
let cwd: string;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  cwd = realpathSync(daemon.home);
  const dir = join(daemon.home, "claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(dir, { recursive: true });
  const recorded = readFileSync(join(ROOT, "test/fixtures/claude-transcripts/tools.jsonl"), "utf8");
  writeFileSync(join(dir, `${ID}.jsonl`), recorded.replaceAll("/home/user/project", cwd));
  copyFileSync(join(dir, `${ID}.jsonl`), join(dir, `${OTHER}.jsonl`));
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});

const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);

test.each([
  ["an unknown id", ["adopt", "none"], "no session that was started outside"],
  ["a prefix of several", ["adopt", "abe6f9ad-"], "matches 2 sessions started outside"],
  ["following one", ["tail", "-f", OTHER], "cannot be followed"],
  [
    "a filter that does not fit",
    ["all", "--outside", "--state", "idle"],
    "--state does not go with --outside",
  ],
  ["an id that is nowhere", ["show", "none"], "no session with the id or name"],
])("%s: one error", async (_what, args, message) => {
  const ran = await sm(...args);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain(message);
});

test("are listed, read and continued", async () => {
  const list = await sm("all", "--outside");
  expect(list).toMatchObject({ code: 0 });
  expect(list.stdout).toMatch(/SESSION +AGENT +ACTIVE +PROJECT +TITLE/);
  expect(list.stdout).toMatch(/abe6f9ad-9 +claude +\S+ +\S+ +#mock:bash echo hello/);
  const { transcripts } = JSON.parse((await sm("all", "--outside", "--json")).stdout);
  expect(transcripts).toMatchObject([
    { backend: "claude", cwd },
    { backend: "claude", cwd },
  ]);
  expect((await sm("all", "--outside", "--ids")).stdout.split("\n").sort()).toEqual(["", OTHER, ID]);
  expect((await sm("all", "--outside", "--project", "none")).stdout).toBe("");

  expect((await sm("show", "abe6f9ad-9")).stdout).toContain(`continue it with: sm adopt ${ID}`);
  const tail = await sm("tail", ID, "-n", "5");
  expect(tail.stdout).toContain("tool said: AA || BB");
  expect(JSON.parse((await sm("tail", ID, "-n", "2", "--json")).stdout)).toMatchObject({ is_end: true });

  const adopted = await sm("adopt", "abe6f9ad-9", "--name", "mine", "#say hi");
  expect(adopted).toMatchObject({ code: 0, stdout: `${ID}\n` });
  const http = new HttpClient({ socket: daemon.socket });
  await http.wait(ID, { until: ["idle"], timeoutMs: PATIENCE_MS });
  const { events } = await http.events(ID, { since_seq: 0, limit: 1_000 });
  expect(events[0]).toMatchObject({ type: "agent.user_echo" });
  expect(await http.session(ID)).toMatchObject({ name: "mine", cwd, last_result: { subtype: "success" } });
  expect((await sm("all", "--outside", "--ids")).stdout).toBe(`${OTHER}\n`);
});

test("the model and mode of a session are shown and set", async () => {
  const { stdout } = await sm("spawn", "claude", "--cwd", cwd);
  const id = stdout.trim();
  const shown = await sm("set", id);
  expect(shown.stdout).toMatch(/mode +default\n.* acceptEdits +changes files without asking/);
  expect(shown.stdout).toContain("commands  /compact /init");
  expect((await sm("set", id, "--mode", "plan", "--model", "sonnet")).stdout).toBe(
    "model  sonnet\nmode   plan\n",
  );
  expect(JSON.parse((await sm("set", id, "--json")).stdout)).toMatchObject({
    permission_mode: { current: "plan" },
  });
  const refused = await sm("set", id, "--mode", "bogus");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain('no mode "bogus"');
});
