// What `demian --daemon` asks the daemon for, and what it refuses.
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../../src/cli/command.ts";
import { PROGRAM_FLAGS } from "../../../../src/cli/demian/flags.ts";
import { orderOf } from "../../../../src/cli/demian/order.ts";
import { spawnBody } from "../../../../src/cli/demian/tui/on-daemon.ts";

function bodyOf(args: string[], message?: string) {
  const given = parseArguments(["--daemon", ...args], PROGRAM_FLAGS);
  return spawnBody(given, message, orderOf(given, "/home/you/project"));
}

describe("a session of the daemon", () => {
  test("works where we are, as the configuration says", () => {
    expect(bodyOf([])).toEqual({ backend: "demian", cwd: "/home/you/project" });
  });

  test("gets agent, provider, model, agent mode and the first message", () => {
    const args = [
      "--agent",
      "plan",
      "--provider",
      "other",
      "--model",
      "big",
      "--multi-agent",
      "--cwd",
      "sub",
    ];
    expect(bodyOf(args, "hi")).toEqual({
      backend: "demian",
      cwd: "/home/you/project/sub",
      model: "other/big",
      prompt: "hi",
      options: { mode: "plan", agent_mode: "multi-agent" },
    });
  });

  test.each([
    [["--provider", "other"], "other"],
    [["--model", "big"], "big"],
  ])("%j names the model %s", (args, model) => {
    expect(bodyOf(args)).toMatchObject({ model });
  });

  test("of the demo needs no model", () => {
    expect(bodyOf(["--demo"])).toMatchObject({ backend: "demo" });
  });

  test.each([
    ["--yes"],
    ["--dry-run"],
    ["--image", "a.png"],
    ["--sandbox", "off"],
    ["--config", "c.json"],
    ["--max-turns", "3"],
    ["--no-transcript"],
    ["--plain"],
    ["--json"],
    ["--stdin"],
    ["--trust-project"],
  ])("%s is refused with a sentence: only a runtime in this process can do it", (...args) => {
    expect(() => bodyOf(args)).toThrow(`--daemon cannot take ${args[0]}: only a runtime in this process can`);
  });
});
