import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkConfig } from "../../../src/cli/demian/doctor/config.ts";
import { checkNode, checkRipgrep, checkSandbox, checkState } from "../../../src/cli/demian/doctor/machine.ts";
import { checkProviders } from "../../../src/cli/demian/doctor/providers.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import { PRESETS } from "../../../src/runtime/providers/presets.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";

const directory = realpathSync(mkdtempSync(join(tmpdir(), "demian-doctor-")));
const env = { HOME: directory, XDG_STATE_HOME: join(directory, "state"), PATH: process.env["PATH"] };
afterAll(() => rmSync(directory, { recursive: true }));

test("a state directory that others can write is broken, one that they can read is a warning", async () => {
  const path = join(directory, "state/demian");
  expect(await checkState(env)).toMatchObject({
    status: "ok",
    text: expect.stringContaining("not created yet"),
  });
  mkdirSync(path, { recursive: true });
  for (const [mode, status] of [
    [0o700, "ok"],
    [0o755, "warn"],
    [0o770, "fail"],
  ] as const) {
    chmodSync(path, mode);
    expect(await checkState(env)).toMatchObject({ name: "state", status });
  }
  rmSync(path, { recursive: true });
  symlinkSync(directory, path);
  expect(await checkState(env)).toMatchObject({
    status: "fail",
    text: expect.stringContaining("not a directory"),
  });
});

test("without a sandbox the report says what commands can do", async () => {
  const off = await checkSandbox({ ...SANDBOX, mode: "off" }, directory, env);
  expect(off).toMatchObject({ status: "warn", todo: expect.stringContaining("workspace-write") });
  const root = await checkSandbox(SANDBOX, "/", env);
  expect(root).toMatchObject({ status: "fail", text: expect.stringContaining("whole file system") });
});

test("with a sandbox the report says how much commands may use", async () => {
  const { status, text } = await checkSandbox({ ...SANDBOX, maxProcesses: 77, maxMemoryMb: 512 }, directory, {
    ...env,
    HOME: "/nonexistent",
  });
  // What a machine lacks is a warning or a failure of its own.
  if (status === "ok") expect(text).toMatch(/at most 77 processes.*512 MB of memory, 2048 MB in \/tmp/);
  else expect(text).toMatch(/, but |refused/);
});

test("ripgrep is looked up outside the workspace, and an old Node is reported", async () => {
  expect(await checkRipgrep(directory, env)).toMatchObject({
    status: "ok",
    text: expect.stringMatching(/^ripgrep \d/),
  });
  expect(checkNode("18.19.0")).toMatchObject({ status: "fail", todo: expect.stringContaining("20") });
  expect(checkNode("24.1.0")).toMatchObject({ status: "ok" });
});

test("providers are broken when none can be used, and warn when only the default cannot", () => {
  const config = (more: object) => DemianConfig.parse({ providers: PRESETS, ...more });
  const states = (more: object, variables: Record<string, string>) =>
    checkProviders(config(more), variables).map(({ status }) => status);
  expect(states({}, {})).toEqual(["warn", "fail"]);
  const model = { providers: { ...PRESETS, ollama: { ...PRESETS["ollama"], model: "m" } } };
  expect(states(model, {})).toEqual(["warn", "ok"]);
  expect(states({ ...model, defaultProvider: "ollama" }, {})).toEqual(["ok", "ok"]);
  const [lost] = checkProviders(config({ defaultProvider: "olama" }), {});
  expect(lost).toMatchObject({ status: "fail", text: expect.stringContaining("did you mean ollama?") });
});

test("config files are named, warnings are shown, and a missing workspace fails", async () => {
  const lost = await checkConfig({ cwd: join(directory, "gone"), env });
  expect(lost.checks).toMatchObject([{ name: "workspace", status: "fail" }]);
  mkdirSync(join(directory, ".demian"));
  writeFileSync(join(directory, ".demian/config.json"), '{ "trust": { "project": true } }');
  const workspace = join(directory, "workspace");
  mkdirSync(workspace);
  const { checks } = await checkConfig({ cwd: workspace, env });
  expect(checks).toMatchObject([
    { name: "workspace", status: "ok" },
    { name: "config", status: "ok", text: expect.stringContaining("config.json (user)") },
    { name: "config", status: "warn", text: expect.stringContaining('"trust.project" is ignored') },
  ]);
});
