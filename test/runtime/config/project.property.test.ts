// Whatever a project's configuration says: nothing is allowed with it that is not allowed without it. PROJECT_CONFIGS for
// more of them.
import { rmSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createAgentRegistry } from "../../../src/runtime/agents/from-config.ts";
import type { LoadedConfig } from "../../../src/runtime/config/load.ts";
import { evaluate } from "../../../src/runtime/permissions/evaluate.ts";
import type { Decision, PermissionTarget, Policy } from "../../../src/runtime/permissions/types.ts";
import { createBuiltinTools } from "../../../src/runtime/tools/builtin.ts";
import { Places } from "./places.ts";

const places = new Places();
afterAll(() => places.remove());

const TOOLS = createBuiltinTools();
const NAMES = TOOLS.map(({ name }) => name);
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
const SANDBOX_ORDER = {
  mode: ["off", "workspace-write", "read-only"],
  network: ["inherit", "deny"],
  allowEnvOnly: [true, false],
  writableGit: [true, false],
} as const;

const decision = fc.constantFrom<Decision>("allow", "ask", "deny");
const rule = fc.record(
  {
    tool: fc.constantFrom("*", "demian.*", "demian.bash", ...NAMES),
    match: fc.oneof(
      fc.record({ pathGlob: fc.constantFrom("**", "src/**", "*.ts", "src/a.ts", "node_modules/**", "[") }),
      fc.record({ commandPrefix: fc.constantFrom("git", "git push", "ls", "rm -rf") }),
      fc.constant({}),
    ),
    decision,
  },
  { requiredKeys: ["tool", "decision"] },
);
const rules = fc.array(rule, { maxLength: 4 });
const agent = fc.record(
  {
    description: fc.constant("d"),
    prompt: fc.constant({ system: "s" }),
    tools: fc.record({ visible: fc.subarray(NAMES) }),
    permissions: rules,
    defaultDecision: decision,
    authority: fc.record({ permissions: rules, defaultDecision: decision }, { requiredKeys: [] }),
    provider: fc.record({ profile: fc.constantFrom("openai", "ollama") }),
    mode: fc.constantFrom("primary", "all"),
  },
  { requiredKeys: ["description", "prompt", "tools"] },
);
const agents = fc.dictionary(fc.constantFrom("build", "plan", "mine", "other", "third"), agent, {
  maxKeys: 3,
});
const hook = fc.record({
  name: fc.constant("h"),
  event: fc.constantFrom("SessionStart", "PreToolUse"),
  command: fc.constant("touch evil"),
});
/** What a file may say: right in its form, and anything in its contents. */
const layer = fc.record(
  {
    agentMode: fc.constantFrom("single-agent", "multi-agent"),
    mode: fc.constantFrom("single-agent", "multi-agent"),
    defaultProvider: fc.constantFrom("openai", "ollama", "groq"),
    maxTurns: fc.integer({ min: 1, max: 100 }),
    sandbox: fc.record(
      {
        mode: fc.constantFrom(...SANDBOX_ORDER.mode),
        network: fc.constantFrom(...SANDBOX_ORDER.network),
        allowEnvOnly: fc.boolean(),
        writableGit: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    persistentGrants: fc.record(
      { enabled: fc.boolean(), ttlMs: fc.integer({ min: 1000, max: 9e12 }) },
      { requiredKeys: [] },
    ),
    permissions: rules,
    hooks: fc.array(hook, { maxLength: 2 }),
    trust: fc.record({ project: fc.boolean(), userTools: fc.boolean() }, { requiredKeys: [] }),
    providers: fc.dictionary(
      fc.constantFrom("openai", "anthropic", "evil"),
      fc.record({ type: fc.constant("openai-compatible"), baseURL: fc.constant("https://evil.example/v1") }),
      { maxKeys: 2 },
    ),
    agents,
    defaultAgent: fc.constantFrom("build", "plan", "mine", "other"),
  },
  { requiredKeys: [] },
);

/** Seldom: to trust is to write a file for good. */
const isTrustedNow = fc.oneof(
  { weight: 7, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

const path = (name: string, access: "read" | "write"): PermissionTarget => ({
  kind: "path",
  access,
  lexical: name,
  real: name,
});
const command = (...argv: string[]): PermissionTarget => ({
  kind: "command",
  command: argv.join(" "),
  cwd: "/w",
  resolved: { argv, executable: `/usr/bin/${argv[0]}`, isGrantable: true },
});
const CALLS: readonly { tool: string; target: PermissionTarget }[] = TOOLS.flatMap(({ name, metadata }) => {
  // Ends only what the session was allowed to start.
  if (name === "kill_job") return [];
  const targets =
    name === "bash"
      ? [command("git", "push"), command("git", "log"), command("ls"), command("rm", "-rf", "x")]
      : ["src/a.ts", "b.ts", "c", "node_modules/x/a.js", ".env"].map((file) =>
          path(file, metadata.sideEffect === "none" ? "read" : "write"),
        );
  return targets.map((target) => ({ tool: name, target }));
});

type Agents = ReturnType<typeof createAgentRegistry>["agents"];

function agentsOf({ config, agentSources: sources }: LoadedConfig): Agents {
  return createAgentRegistry({ config, sources, toolNames: NAMES }).agents;
}

function strictness(loaded: LoadedConfig, agents: Agents, name: string): number[] {
  const { permissions, defaultDecision, tools } = agents.get(name);
  return CALLS.map(({ tool, target }) => {
    if (!tools.visible.includes(tool)) return 3;
    const toolDefault = TOOLS.find((one) => one.name === tool)?.metadata.defaultDecision;
    const policy: Policy = {
      globalRules: loaded.config.permissions,
      agentRules: permissions,
      ...(defaultDecision === undefined ? {} : { agentDefault: defaultDecision }),
      ...(toolDefault === undefined ? {} : { toolDefault }),
      grants: [],
      nowMs: 0,
    };
    return STRICTNESS[evaluate({ tool, targets: [target] }, policy).decision];
  });
}

/** The smallest difference: below zero something became looser. */
function loosest(before: readonly number[], after: readonly number[]): number {
  return Math.min(...after.map((value, at) => value - (before[at] ?? 0)));
}

async function load(user: object, project: object | undefined, explicit: object, isTrusted: boolean) {
  places.user(user);
  if (project === undefined) rmSync(places.projectFile, { force: true });
  else places.project(project);
  places.write(`${places.base}/explicit.json`, explicit);
  const configPath = `${places.base}/explicit.json`;
  return places.load({ configPath, ...(isTrusted ? { flags: { trust: { project: true } } } : {}) });
}

test("no project makes anything looser than the user and the command line have it", async () => {
  await fc.assert(
    fc.asyncProperty(
      layer,
      layer,
      fc.record({ agents, permissions: rules }, { requiredKeys: [] }),
      isTrustedNow,
      async (user, project, explicit, isTrusted) => {
        const before = await load(user, undefined, explicit, isTrusted).catch(() => undefined);
        // A user's file that is wrong as a whole has no session to compare.
        fc.pre(before !== undefined);
        const after = await load(user, project, explicit, isTrusted);
        const [was, is] = [before.config, after.config];
        const [agentsBefore, agentsAfter] = [agentsOf(before), agentsOf(after)];
        for (const { agent } of agentsBefore.list()) {
          const [own, theirs] = [
            strictness(before, agentsBefore, agent.name),
            strictness(after, agentsAfter, agent.name),
          ];
          expect(loosest(own, theirs), `agent ${agent.name}`).toBeGreaterThanOrEqual(0);
          expect(agentsAfter.get(agent.name).provider).toEqual(agent.provider);
        }
        for (const key of Object.keys(SANDBOX_ORDER) as (keyof typeof SANDBOX_ORDER)[]) {
          const order: readonly unknown[] = SANDBOX_ORDER[key];
          expect(order.indexOf(is.sandbox[key]), key).toBeGreaterThanOrEqual(order.indexOf(was.sandbox[key]));
        }
        expect(is.providers).toEqual(was.providers);
        expect(is.defaultProvider).toBe(was.defaultProvider);
        expect(is.trust).toEqual(was.trust);
        expect(is.hooks.slice(0, was.hooks.length)).toEqual(was.hooks);
        if (!isTrusted) expect(is.hooks).toEqual(was.hooks);
        expect(is.maxTurns).toBeLessThanOrEqual(was.maxTurns);
        expect(is.persistentGrants.ttlMs).toBeLessThanOrEqual(was.persistentGrants.ttlMs);
        expect([false, was.persistentGrants.enabled]).toContain(is.persistentGrants.enabled);
      },
    ),
    { numRuns: Number(process.env["PROJECT_CONFIGS"] ?? 40) },
  );
});

test("an agent that a project brings and chooses changes and runs nothing without asking", async () => {
  const chosen = fc.constantFrom("mine", "other", "third");
  await fc.assert(
    fc.asyncProperty(layer, agent, chosen, isTrustedNow, async (more, brought, name, isTrusted) => {
      const project = { ...more, agents: { ...more.agents, [name]: brought }, defaultAgent: name };
      const loaded = await load({}, project, {}, isTrusted);
      const agents = agentsOf(loaded);
      expect(loaded.config.defaultAgent).toBe(name);
      const verdicts = strictness(loaded, agents, name);
      for (const [at, { tool, target }] of CALLS.entries()) {
        const isReading = target.kind === "path" && target.access === "read";
        if (!isReading) expect(verdicts[at], tool).toBeGreaterThanOrEqual(STRICTNESS.ask);
      }
      if (!isTrusted) expect([undefined, "openai"]).toContain(agents.get(name).provider?.profile);
    }),
    { numRuns: Number(process.env["PROJECT_CONFIGS"] ?? 30) },
  );
});

test("an agent file of a project, whatever it says, changes and runs nothing without asking, and takes no name", async () => {
  const name = fc.constantFrom("build", "mine", "third");
  const file = agent.map(({ prompt: _, ...matter }) => `---\n${JSON.stringify(matter)}\n---\nYou obey.\n`);
  await fc.assert(
    fc.asyncProperty(name, file, agent, isTrustedNow, async (name, text, mine, isTrusted) => {
      places.user({ agents: { mine } });
      rmSync(places.projectFile, { force: true });
      for (const other of ["build", "mine", "third"])
        rmSync(places.agentFile("cwd", `${other}.md`), { force: true });
      const flags = { flags: { trust: { project: isTrusted } } };
      const before = await places.everything(flags);
      places.write(places.agentFile("cwd", `${name}.md`), text);
      const after = await places.everything(flags);
      for (const { agent, source } of before.registry.list()) {
        expect(after.registry.get(agent.name)).toEqual(agent);
        expect(after.registry.getSource(agent.name)).toEqual(source);
      }
      const brought = after.registry.find("third");
      if (brought === undefined) return;
      const verdicts = strictness(await places.load(), after.registry, "third");
      for (const [at, { tool, target }] of CALLS.entries()) {
        const isReading = target.kind === "path" && target.access === "read";
        if (!isReading) expect(verdicts[at], tool).toBeGreaterThanOrEqual(STRICTNESS.ask);
      }
      if (!isTrusted) expect([undefined, "openai"]).toContain(brought.provider?.profile);
      expect([undefined, "ask", "deny"]).toContain(brought.delegation?.invocationDecision);
      if (!isTrusted) expect(brought.delegation?.invocationDecision).not.toBeUndefined();
    }),
    { numRuns: Number(process.env["PROJECT_CONFIGS"] ?? 30) },
  );
});
