// Which of several places decides the mode, the provider and the budgets.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isObject } from "../../../src/base/json.ts";
import { CONFIG_VARIABLES } from "../../../src/runtime/config/environment.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import { Places } from "./places.ts";

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

const SINGLE = "single-agent";
const MULTI = "multi-agent";

describe("39: mode: flags, agentMode, mode, multiAgent, default", () => {
  const mode = async (more = {}) => (await places.load(more)).config.agentMode;

  test("without anything it is single-agent", async () => {
    expect(await mode()).toBe(SINGLE);
  });

  test.each([[{ agentMode: MULTI }], [{ mode: MULTI }], [{ multiAgent: { enabled: true } }]])(
    "%j turns multi-agent mode on, silently",
    async (file) => {
      places.user(file);
      const { config, warnings } = await places.load();
      expect({ mode: config.agentMode, warnings }).toEqual({ mode: MULTI, warnings: [] });
    },
  );

  test.each([
    [{ agentMode: SINGLE, mode: MULTI, multiAgent: { enabled: true } }, SINGLE],
    [{ agentMode: MULTI, mode: SINGLE, multiAgent: { enabled: false } }, MULTI],
    [{ mode: SINGLE, multiAgent: { enabled: true } }, SINGLE],
    [{ mode: MULTI, multiAgent: { enabled: false } }, MULTI],
    [{ multiAgent: { enabled: false } }, SINGLE],
    [{ multiAgent: {} }, SINGLE],
  ])("in one file %j means %s", async (file, expected) => {
    places.user(file);
    expect(await mode()).toBe(expected);
  });

  test.each([
    [{ agentMode: MULTI }, { mode: SINGLE }, SINGLE],
    [{ agentMode: SINGLE }, { mode: MULTI }, MULTI],
    [{ agentMode: SINGLE }, { multiAgent: { enabled: true } }, MULTI],
    [{ mode: MULTI }, { multiAgent: { enabled: false } }, SINGLE],
    [{ agentMode: MULTI }, { multiAgent: {} }, MULTI],
    [{ agentMode: MULTI }, { maxTurns: 3 }, MULTI],
  ])("%j in the user's file and %j in --config mean %s", async (user, explicit, expected) => {
    places.user(user);
    places.write(`${places.cwd}/other.json`, explicit);
    expect(await mode({ configPath: "other.json" })).toBe(expected);
  });

  test("a flag wins over every file, both ways", async () => {
    places.user({ agentMode: MULTI });
    places.write(`${places.cwd}/other.json`, { mode: MULTI });
    expect(await mode({ configPath: "other.json", flags: { agentMode: SINGLE } })).toBe(SINGLE);
    places.user({ agentMode: SINGLE });
    expect(await mode({ flags: { agentMode: MULTI } })).toBe(MULTI);
  });

  test.each([{ agentMode: MULTI }, { mode: MULTI }, { multiAgent: { enabled: true } }])(
    "a project cannot turn it on, also when it is trusted: %j",
    async (file) => {
      places.project(file);
      const { config, warnings } = await places.load({ flags: { trust: { project: true } } });
      expect(config.agentMode).toBe(SINGLE);
      expect(warnings).toEqual([expect.stringMatching(/"agentMode" is ignored: a project may only tighten/)]);
    },
  );

  test.each([{ agentMode: SINGLE }, { mode: SINGLE }, { multiAgent: { enabled: false } }])(
    "a project can turn it off: %j",
    async (file) => {
      places.user({ agentMode: MULTI });
      places.project(file);
      expect(await mode()).toBe(SINGLE);
      expect(await mode({ flags: { agentMode: MULTI } })).toBe(MULTI);
    },
  );

  test("another word is refused with the file", async () => {
    places.user({ mode: "swarm" });
    await expect(mode()).rejects.toMatchObject({
      message: expect.stringMatching(/config\.json: \/agentMode: expected one of .*not "swarm"/),
    });
  });
});

describe("19: budgets: file, variable, flag", () => {
  const VARIABLES = Object.entries(CONFIG_VARIABLES);

  function at(config: unknown, path: readonly string[]): unknown {
    return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), config);
  }

  function layer(path: readonly string[], value: number): Record<string, unknown> {
    return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
  }

  test("the table matches the specification", () => {
    expect(VARIABLES.map(([name]) => name)).toEqual([
      "DEMIAN_MAIN_MAX_CONTEXT_TOKENS",
      "DEMIAN_MAIN_COMPACT_AT_RATIO",
      "DEMIAN_MAIN_SUMMARY_TARGET_TOKENS",
      "DEMIAN_MAIN_KEEP_RAW_DELEGATE_RESULTS",
      "DEMIAN_MAIN_MAX_DELEGATE_RESULT_TOKENS",
      "DEMIAN_SUB_MAX_CONTEXT_TOKENS",
      "DEMIAN_SUB_COMPACT_AT_RATIO",
      "DEMIAN_SUB_SUMMARY_TARGET_TOKENS",
      "DEMIAN_SUB_RECENT_TURNS",
      "DEMIAN_SUB_MAX_HANDOFF_TOKENS",
      "DEMIAN_SUB_MAX_DELEGATE_CONTEXT_TOKENS",
      "DEMIAN_SUB_MAX_RESULT_TOKENS_TO_MAIN",
    ]);
  });

  test.each(VARIABLES)("%s wins over files, and a flag over it", async (variable, path) => {
    const isRatio = variable.endsWith("RATIO");
    const [own, explicit, fromEnv, flag] = isRatio ? [0.2, 0.3, 0.4, 0.5] : [1100, 1200, 1300, 1400];
    const told = async (more = {}) => at((await places.load(more)).config, path);
    expect(await told()).toBe(at(DemianConfig.parse({}), path));
    places.user(layer(path, own ?? 0));
    expect(await told()).toBe(own);
    places.write(`${places.cwd}/other.json`, layer(path, explicit ?? 0));
    const configPath = "other.json";
    expect(await told({ configPath })).toBe(explicit);
    const env = { ...places.env, [variable]: String(fromEnv) };
    expect(await told({ configPath, env })).toBe(fromEnv);
    expect(await told({ configPath, env, flags: layer(path, flag ?? 0) })).toBe(flag);
  });

  test.each(VARIABLES)("%s that is not such a number is refused by name", async (variable) => {
    for (const text of ["many", "-1", "1e3", "0x10"]) {
      const env = { ...places.env, [variable]: text };
      await expect(places.load({ env })).rejects.toMatchObject({
        message: expect.stringMatching(new RegExp(`^${variable}: expected a number, not "${text}"`)),
      });
    }
  });
});
