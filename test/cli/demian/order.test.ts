import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../src/cli/command.ts";
import { ACP_FLAGS, RUN_FLAGS } from "../../../src/cli/demian/flags.ts";
import { orderOf } from "../../../src/cli/demian/order.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";

const order = (...argv: string[]) => orderOf(parseArguments(argv, RUN_FLAGS), "/home/me");

/** Every flag of §13 that becomes configuration. */
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

describe("flags", () => {
  test.each(LAYERS)("%j is a piece of configuration that the schema takes", (argv, layer) => {
    expect(order(...argv).flags).toEqual(layer);
    expect(DemianConfig.safeParse(layer)).toMatchObject({ success: true });
  });

  test("what nobody said is left to the config files", () => {
    expect(order()).toEqual({ cwd: "/home/me", flags: {}, yes: false, dryRun: false });
  });

  test("paths are taken from where the program was started, whatever --cwd says", () => {
    const { cwd, configPath } = order("--cwd", "work", "--config", "c.json");
    expect({ cwd, configPath }).toEqual({ cwd: "/home/me/work", configPath: "/home/me/c.json" });
  });

  test("agent, provider, model and -y are for the session", () => {
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
    [["--sub-compact-at", "0"], "above 0"],
    [["--agent", " "], "--agent needs a value"],
  ])("%j is refused with what to do", (argv, says) => {
    expect(() => order(...argv)).toThrow(says);
  });

  test("acp takes all of a session and nothing that is for one message", () => {
    const names = ACP_FLAGS.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["agent", "provider", "model", "config", "cwd", "yes", "no-transcript"]),
    );
    for (const name of ["prompt", "image", "json", "quiet", "stdin"]) expect(names).not.toContain(name);
  });
});
