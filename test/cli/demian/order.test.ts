import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../src/cli/command.ts";
import { ACP_FLAGS, RUN_FLAGS } from "../../../src/cli/demian/flags.ts";
import { readOrder } from "../../../src/cli/demian/order.ts";
import { loadConfig } from "../../../src/runtime/config/load.ts";

const order = (...argv: string[]) => readOrder(parseArguments(argv, RUN_FLAGS), "/home/me");

/** Every flag that becomes configuration. */
const LAYERS: [string[], object][] = [
  [["--max-turns", "7"], { maxTurns: 7 }],
  [["--sandbox", "read-only"], { sandbox: { mode: "read-only" } }],
  [["--stream"], { streaming: { enabled: true } }],
  [["--no-stream"], { streaming: { enabled: false } }],
  [["--persistent-grants"], { persistentGrants: { enabled: true } }],
  [["--no-persistent-grants"], { persistentGrants: { enabled: false } }],
  [["--no-transcript"], { transcript: { enabled: false } }],
  [["--main-max-context-tokens", "9000"], { context: { main: { maxContextTokens: 9000 } } }],
  [["--main-compact-at=0.5"], { context: { main: { compactAtRatio: 0.5 } } }],
  [["--sub-max-context-tokens", "9"], { context: { subAgent: { maxContextTokens: 9 } } }],
  [["--sub-compact-at", "1"], { context: { subAgent: { compactAtRatio: 1 } } }],
  [["--mode", "single"], { agentMode: "single-agent" }],
  [["--single-agent"], { agentMode: "single-agent" }],
  [["--mode", "multi", "--multi-agent"], { agentMode: "multi-agent" }],
  [["--trust-project"], { trust: { project: true } }],
  [["--trust-user-tools"], { trust: { userTools: true } }],
];

/** All flags except `--image`, which applies to one message. */
const OF_THE_SPEC = [
  ...["mode", "single-agent", "multi-agent", "agent", "provider", "model", "max-turns"],
  ...["main-max-context-tokens", "main-compact-at", "sub-max-context-tokens", "sub-compact-at"],
  ...["cwd", "yes", "dry-run", "stream", "no-stream", "sandbox", "persistent-grants", "no-persistent-grants"],
  ...["no-transcript", "config", "trust-user-tools", "trust-project"],
];

describe("flags", () => {
  test.each(LAYERS)("%j is a configuration setting, and overrides the files", async (argv, layer) => {
    const { flags } = order(...argv);
    expect(flags).toEqual(layer);
    const home = mkdtempSync(join(tmpdir(), "demian-flags-"));
    try {
      const { config } = await loadConfig({ cwd: home, env: { HOME: home }, flags });
      expect(config).toMatchObject(layer);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  test.each(OF_THE_SPEC)("--%s exists for messages and for acp", (name) => {
    for (const flags of [RUN_FLAGS, ACP_FLAGS]) expect(flags.map((flag) => flag.name)).toContain(name);
  });

  test("every flag is configuration except those for a session or a start", () => {
    const names = LAYERS.flatMap(([argv]) => argv.flatMap((word) => word.match(/^--([a-z-]+)/)?.[1] ?? []));
    const others = ["agent", "provider", "model", "cwd", "yes", "dry-run", "config"];
    expect([...new Set([...names, ...others])].sort()).toEqual([...OF_THE_SPEC].sort());
  });

  test("settings without a flag are left to the config files", () => {
    expect(order()).toEqual({ cwd: "/home/me", flags: {}, yes: false, dryRun: false });
  });

  test("paths are relative to where the program was started, whatever --cwd is", () => {
    const { cwd, configPath } = order("--cwd", "work", "--config", "c.json");
    expect({ cwd, configPath }).toEqual({ cwd: "/home/me/work", configPath: "/home/me/c.json" });
  });

  test("agent, provider, model and -y apply to the session", () => {
    expect(order("--agent", "plan", "--provider", "p", "--model", "m", "-y", "--dry-run")).toMatchObject({
      agent: "plan",
      provider: "p",
      model: "m",
      yes: true,
      dryRun: true,
    });
  });

  test.each([
    [["--max-turns", "0"], "at least 1"],
    [["--max-turns", "2.5"], "whole number"],
    [["--sandbox", "readonly"], "did you mean read-only?"],
    [["--mode", "many"], "single, multi"],
    [["--mode", "single", "--multi-agent"], "give one mode"],
    [["--stream", "--no-stream"], "not both"],
    [["--main-compact-at", "1.5"], "at most 1"],
    [["--sub-compact-at", "0"], "greater than 0"],
    [["--agent", " "], "--agent needs a value"],
  ])("%j is refused with what to do", (argv, says) => {
    expect(() => order(...argv)).toThrow(says);
  });

  test("acp takes all flags of a session and none for a single message", () => {
    const names = ACP_FLAGS.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["agent", "provider", "model", "config", "cwd", "yes", "no-transcript"]),
    );
    for (const name of ["prompt", "image", "json", "quiet", "stdin"]) expect(names).not.toContain(name);
  });
});
