import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ChainWriter } from "../../../src/base/chain/writer.ts";
import { findProgram } from "../../../src/base/find-program.ts";
import { checkAgents, checkAny, checkLogins } from "../../../src/cli/blemees/doctor/agents.ts";
import type { CheckContext } from "../../../src/cli/blemees/doctor/check.ts";
import { checkConfigured } from "../../../src/cli/blemees/doctor/configured.ts";
import { checkDaemon, checkSocket } from "../../../src/cli/blemees/doctor/daemon.ts";
import { checkDemian } from "../../../src/cli/blemees/doctor/demian.ts";
import { checkDisk, checkNode, checkSandbox, checkState } from "../../../src/cli/blemees/doctor/machine.ts";
import { checkAudit, checkPolicy } from "../../../src/cli/blemees/doctor/policy.ts";
import { checkSpace } from "../../../src/cli/blemees/doctor/space.ts";
import { DOCTOR } from "../../../src/cli/blemees/doctor.ts";
import { createBlemeesWords } from "../../../src/cli/request-text.ts";
import { HealthReply } from "../../../src/protocol/wire/http.ts";
import { ScriptedHttp } from "../../client/scripted-http.ts";
import { memoryOutput } from "../memory-sink.ts";

let home: string;
let patient: CheckContext;
const closers: (() => unknown)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sm-doctor-"));
  mkdirSync(join(home, "bin"));
  const env = { HOME: home, PATH: join(home, "bin") };
  const signal = new AbortController().signal;
  const demianProgram = join(home, "demian.mjs");
  patient = { env, version: "1.2.3", socket: join(home, "d.sock"), signal, demianProgram };
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(home, { recursive: true });
});

const program = (name: string, text: string): void =>
  writeFileSync(join(home, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
const listen = (mode: number): Promise<void> =>
  new Promise((resolve) => {
    const server = createServer();
    closers.push(() => new Promise((done) => server.close(done)));
    server.listen(patient.socket, () => {
      chmodSync(patient.socket ?? "", mode);
      resolve();
    });
  });

test("installed agents are listed with their version, others with how to install them", async () => {
  program("claude", "echo '2.1.200 (Claude Code)'");
  expect(await checkAgents(patient)).toEqual([
    { name: "claude", status: "ok", text: `2.1.200 (Claude Code) (${join(home, "bin/claude")})` },
    expect.objectContaining({
      name: "codex",
      status: "warn",
      todo: expect.stringContaining("BLEMEESD_CODEX"),
    }),
  ]);
});

test("an agent that is older or newer than the tested versions is reported with them", async () => {
  program("claude", "echo '2.1.99 (Claude Code)'");
  program("codex", "echo 'codex-cli 0.999.0'");
  expect(await checkAgents(patient)).toMatchObject([
    {
      status: "ok",
      text: expect.stringMatching(/; older than the oldest tested, 2\.1\.197$/),
      todo: "update it",
    },
    { status: "ok", text: expect.stringMatching(/; newer than the newest tested, 0\.169\.0$/) },
  ]);
});

test("so is a known ACP agent of the config; an unknown one is not started", async () => {
  program("gemini", "echo 0.1.0");
  program("other", `touch ${join(home, "asked")}; echo 0.1.0`);
  mkdirSync(join(home, ".config/blemeesd"), { recursive: true });
  const config = '[agents.g]\ncommand = "gemini"\n[agents.o]\ncommand = "other"\n';
  writeFileSync(join(home, ".config/blemeesd/config.toml"), config);
  const [known, other] = await checkConfigured(patient);
  expect(known?.text).toMatch(/^0\.1\.0, .*older than the oldest tested, 0\.61\.0$/);
  expect(other?.text).toBe(`${join(home, "bin/other")}, from [agents.o]`);
  expect(existsSync(join(home, "asked"))).toBe(false);
});

test("an agent that does not run fails, and having no agent is reported", async () => {
  program("codex", "exit 3");
  const checks = await checkAgents(patient);
  expect(checks.map(({ name, status }) => [name, status])).toEqual([
    ["claude", "warn"],
    ["codex", "fail"],
  ]);
  expect(checkAny(checks)).toMatchObject([{ name: "agents", status: "warn" }]);
  expect(checkAny([...checks, { name: "demian", status: "ok", text: "" }])).toEqual([]);
});

/** A demian whose own doctor finds this. */
const demianFinds = (...rows: [string, string, string?][]): void => {
  const checks = rows.map(([name, status, text = `the ${name}`]) => ({ name, status, text }));
  const answer = JSON.stringify({ ok: false, checks });
  const script = `if (process.argv[2] + process.argv[3] === "doctor--json") console.log(${JSON.stringify(answer)}); process.exitCode = 1;`;
  writeFileSync(patient.demianProgram, script);
};

test.each([
  [[["provider", "ok", "ollama with m"]], "ok", "ollama with m"],
  [
    [
      ["provider", "warn"],
      ["providers", "fail"],
    ],
    "warn",
    "no provider is ready",
  ],
  [
    [
      ["provider", "warn", "openai is not ready"],
      ["providers", "ok"],
    ],
    "warn",
    "openai is not ready",
  ],
  [[["config", "fail", "config.json:1:2"]], "fail", "config.json:1:2"],
] as [[string, string, string?][], string, string][])(
  "demian whose doctor finds %j is %s",
  async (rows, status, text) => {
    demianFinds(...rows, ["sandbox", "fail", "bubblewrap is not installed"]);
    expect(await checkDemian(patient)).toMatchObject([
      { name: "demian", status, text },
      { name: "sandbox", status: "warn", text: "bubblewrap is not installed" },
    ]);
  },
);

test("a demian whose doctor prints nothing fails, and the sandbox is still checked", async () => {
  expect(await checkDemian(patient)).toMatchObject([
    { name: "demian", status: "fail", todo: expect.stringContaining("demian doctor") },
    { name: "sandbox", status: "warn" },
  ]);
});

const daemonConfig = (text: string): void => {
  mkdirSync(join(home, ".config/blemeesd"), { recursive: true });
  writeFileSync(join(home, ".config/blemeesd/config.toml"), text);
};

test("each agent of the config file is listed, with its program or what to do", async () => {
  expect(await checkConfigured(patient)).toEqual([]);
  program("opencode", "true");
  daemonConfig(
    '[agents.opencode]\ncommand = "opencode"\n[agents.ghost]\ncommand = "ghost"\n[agents.none]\nargs = []',
  );
  expect(await checkConfigured(patient)).toEqual([
    expect.objectContaining({
      name: "opencode",
      status: "ok",
      text: expect.stringContaining("bin/opencode"),
    }),
    expect.objectContaining({
      name: "ghost",
      status: "warn",
      todo: expect.stringContaining("[agents.ghost]"),
    }),
    expect.objectContaining({ name: "none", status: "fail", text: expect.stringContaining("no command") }),
  ]);
});

test("a PATH in the agent's own env takes precedence", async () => {
  program("opencode", "true");
  daemonConfig('[agents.opencode]\ncommand = "opencode"\nenv = { PATH = "/nowhere" }');
  expect(await checkConfigured(patient)).toMatchObject([{ name: "opencode", status: "warn" }]);
});

test("a config file that is not TOML fails, with the file", async () => {
  daemonConfig("[agents.opencode");
  const [check] = await checkConfigured(patient);
  expect(check).toMatchObject({ name: "config", status: "fail" });
  expect(check?.text).toContain("config.toml");
});

test("a login is detected by its file or its key, and neither is printed", async () => {
  program("claude", "echo 2");
  program("codex", "echo 1");
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex/auth.json"), "TOP-SECRET");
  expect((await checkLogins(patient)).map(({ name, status }) => [name, status])).toEqual([
    ["claude login", process.platform === "darwin" ? "ok" : "warn"],
    ["codex login", "ok"],
  ]);
  const keyed = await checkLogins({ ...patient, env: { ...patient.env, ANTHROPIC_API_KEY: "TOP-SECRET" } });
  expect(keyed[0]).toMatchObject({ status: "ok", text: expect.stringContaining("ANTHROPIC_API_KEY") });
  expect(JSON.stringify(keyed)).not.toContain("TOP-SECRET");
});

test.each([
  [0o600, "ok"],
  [0o666, "fail"],
])("a socket of mode %o is %s", async (mode, status) => {
  await listen(mode);
  expect(await checkSocket(patient)).toMatchObject({ status });
});

test("a file in the place of the socket fails, no socket is only a warning", async () => {
  expect(await checkSocket(patient)).toMatchObject({ status: "warn" });
  writeFileSync(patient.socket ?? "", "");
  expect(await checkSocket(patient)).toMatchObject({
    status: "fail",
    text: expect.stringContaining("not a socket"),
  });
});

test.each([
  ["blemeesd/1.2.3", "ok"],
  ["blemeesd/1.2.2", "warn"],
])("a daemon %s beside sm 1.2.3 is %s", async (daemon, status) => {
  const server = await ScriptedHttp.start(() => HealthReply.parse({ ok: true, daemon, pid: 7 }));
  closers.push(() => server.close());
  expect(await checkDaemon({ ...patient, socket: server.path })).toMatchObject({ status });
});

test("no daemon is a warning, one that does not answer a failure", async () => {
  expect(await checkDaemon(patient)).toMatchObject({ status: "warn", text: "not running" });
  const server = await ScriptedHttp.start(() => "cut");
  closers.push(() => server.close());
  expect(await checkDaemon({ ...patient, socket: server.path })).toMatchObject({ status: "fail" });
});

test("the machine: Node, a sandbox program, a state directory that can be created, disk space", async () => {
  expect(await checkNode()).toMatchObject({ status: "ok" });
  expect(await checkSandbox(patient)).toMatchObject({ status: "warn", todo: expect.any(String) });
  program("bwrap", "true");
  program("sandbox-exec", "true");
  expect(await checkSandbox(patient)).toMatchObject({ status: "ok" });
  expect(await checkState(patient)).toMatchObject({
    status: "ok",
    text: expect.stringContaining("will be created"),
  });
  expect((await checkDisk(patient)).text).toMatch(/^\d+ MiB free at/);
});

test("what the daemon's files take is shown with its largest parts, and is a warning above the limit", async () => {
  const state = join(home, "state");
  mkdirSync(join(state, "checkpoints"), { recursive: true });
  writeFileSync(join(state, "checkpoints/objects"), "x".repeat(3 * 1024 * 1024));
  writeFileSync(join(state, "blemees.db"), "x".repeat(1000));
  const env = { ...patient.env, BLEMEESD_STATE_DIR: state };
  expect(await checkSpace({ ...patient, env })).toEqual({
    name: "space",
    status: "ok",
    text: expect.stringMatching(/^4 MiB: checkpoints 4 MiB, blemees\.db 1 MiB$/),
  });
  let limit = 0;
  const server = await ScriptedHttp.start(() => ({
    state_dir: state,
    config: { retention_total_bytes: limit, session_retention_days: 90, summary_retention_days: 0 },
  }));
  closers.push(() => server.close());
  const check = () => checkSpace({ ...patient, socket: server.path });
  expect(await check()).toMatchObject({
    status: "ok",
    text: expect.stringMatching(/^4 MiB, no limit: .*; history is kept 90 days, usage without limit$/),
  });
  limit = 1024 * 1024;
  expect(await check()).toMatchObject({ status: "warn", text: expect.stringContaining("4 MiB of 1 MiB: ") });
});

test("the state directory is the one that the daemon's config file names", async () => {
  mkdirSync(join(home, ".config/blemeesd"), { recursive: true });
  writeFileSync(join(home, ".config/blemeesd/config.toml"), `state_dir = "${home}/mine"\n`);
  expect(await checkState(patient)).toMatchObject({ text: `${join(home, "mine")} (will be created)` });
  const env = { ...patient.env, BLEMEESD_STATE_DIR: join(home, "other") };
  expect(await checkState({ ...patient, env })).toMatchObject({
    text: `${join(home, "other")} (will be created)`,
  });
});

test("a program is found as a shell finds it, and not in a relative directory of PATH", async () => {
  program("tool", "true");
  expect(await findProgram("tool", patient.env)).toBe(join(home, "bin/tool"));
  expect(await findProgram("tool", { PATH: "bin:." })).toBeUndefined();
});

test("what fails makes the exit code 1, also as JSON", async () => {
  writeFileSync(patient.socket ?? "", "");
  const { output, stdout } = memoryOutput();
  const code = await DOCTOR.run(
    { words: [], flags: {}, many: {} },
    {
      ...patient,
      output,
      isJson: true,
      words: createBlemeesWords("sm"),
      daemonProgram: "/nowhere/blemeesd.js",
      connect: () => Promise.reject(new Error("doctor starts nothing")),
      readInput: () => Promise.resolve(undefined),
    },
  );
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(stdout.text);
  expect(ok).toBe(false);
  expect(checks.find(({ name }: { name: string }) => name === "socket")).toMatchObject({ status: "fail" });
});

test("policy: without a file every request is asked; rules are counted; a fault names the rule and what to do", async () => {
  expect(await checkPolicy(patient)).toEqual({
    ...{ name: "policy", status: "ok", text: "no rules: every request is asked" },
  });
  const file = join(home, ".config/blemeesd/policy.toml");
  mkdirSync(join(home, ".config/blemeesd"), { recursive: true });
  const rule = '[[rules]]\nid = "no"\nthen = "deny"\n[rules.when]\ntool = "Bash"\n';
  writeFileSync(file, rule, { mode: 0o600 });
  expect(await checkPolicy(patient)).toEqual({ name: "policy", status: "ok", text: `1 rule in ${file}` });
  appendFileSync(file, rule);
  expect(await checkPolicy(patient)).toEqual({
    ...{ name: "policy", status: "fail", text: `${file}: rule 2: /id: "no" is used twice` },
    todo: expect.stringMatching(/^fix the file; until then a running daemon keeps the last good rules/),
  });
  writeFileSync(file, rule);
  chmodSync(file, 0o666);
  expect(await checkPolicy(patient)).toMatchObject({
    status: "fail",
    text: expect.stringMatching(/chmod 600/),
  });
});

test("audit: intact with its number of lines, or the first line that does not fit", async () => {
  expect(await checkAudit(patient)).toEqual({ name: "audit", status: "ok", text: "intact, 0 lines" });
  const dir = join(home, ".local/state/blemees");
  const chain = new ChainWriter({ dir, name: "audit", maxBytes: 1 << 20 });
  for (const kind of ["a", "b"]) chain.append({ kind });
  chain.close();
  expect(await checkAudit(patient)).toMatchObject({ status: "ok", text: "intact, 2 lines" });
  appendFileSync(join(dir, "audit.ndjson"), "{}\n");
  expect(await checkAudit(patient)).toEqual({
    ...{ name: "audit", status: "warn", text: expect.stringMatching(/^line 3 has the number undefined/) },
    todo: "see `sm audit verify`",
  });
});
