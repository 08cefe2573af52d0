// Agents and tool modules from files. Agents are data; tool modules are code and are loaded only if their current
// content is trusted. What is faulty, changed or untrusted is skipped and reported; the rest works.
import { toMessage } from "../../base/coded-error.ts";
import { quoteShellWord } from "../../base/shell-word.ts";
import { type FileAgent, readAgentFile } from "../agents/files.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { findInstructions, type InstructionFile } from "../instructions/find.ts";
import { type PromptCommand, readPromptCommand } from "../prompts.ts";
import { readSkills, type Skill } from "../skills/read.ts";
import { createBuiltinTools } from "../tools/builtin.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { SKILL_TOOL } from "../tools/skill.ts";
import { joinNames } from "./fewer.ts";
import type { DemianConfig } from "./schema.ts";
import {
  listScopes,
  readScope,
  readScopeTrust,
  type Scope,
  type ScopeFile,
  type ScopePlace,
} from "./scope.ts";
import {
  decideTrust,
  explainHowToTrust,
  findRecord,
  getTrust,
  type TrustRecords,
  type TrustState,
} from "./trust.ts";

export interface ContributionsOrder extends ScopePlace {
  /** As loaded: `trust.userTools`, and `trust.project`, which only a flag can set. */
  config: DemianConfig;
  /** Tools of the embedding program. */
  toolNames?: readonly string[];
}

type Trusted = ScopeFile | InstructionFile;

export interface Contributions {
  /** The user's, then the project's. agents/from-config.ts checks the names they use. */
  agents: readonly FileAgent[];
  tools: readonly RegisteredTool[];
  skills: readonly Skill[];
  /** Own slash commands. */
  commands: readonly PromptCommand[];
  /** The user's, then the project's from the root of the repository down. */
  instructions: readonly InstructionFile[];
  warnings: string[];
}

/** Never rejects. Runs the code of trusted modules. */
export async function loadContributions(order: ContributionsOrder): Promise<Contributions> {
  const warnings: string[] = [];
  const found = order.config.instructions.enabled ? await findInstructions(order) : { files: [], faults: [] };
  const read = await Promise.all(
    (await listScopes(order)).map(async (scope) => {
      const [tools, agents, commands, skills] = await Promise.all([
        readScope(scope, "tool"),
        readScope(scope, "agent"),
        readScope(scope, "command"),
        readScope(scope, "skill"),
      ]);
      warnings.push(...tools.faults, ...agents.faults, ...commands.faults, ...skills.faults);
      const instructions = found.files.filter((file) => file.scope.name === scope.name);
      return {
        scope,
        tools: tools.files,
        agents: agents.files,
        commands: commands.files,
        skills: skills.files,
        instructions,
      };
    }),
  );
  warnings.push(...found.faults);
  const trusted = await Promise.all(
    read.map(async (files) => ({
      ...files,
      trust: await loadTrust(files.scope, listFiles(files), order, warnings),
    })),
  );
  const tools: RegisteredTool[] = [];
  for (const { scope, tools: modules, trust } of trusted)
    tools.push(...(await loadTools(modules, order, { scope, trust, taken: tools }, warnings)));
  const agents: FileAgent[] = [];
  const instructions: InstructionFile[] = [];
  const commands: PromptCommand[] = [];
  for (const { scope, agents: files, commands: prompts, instructions: texts, trust } of trusted) {
    commands.push(...(await readCommands(prompts, trust, warnings)));
    instructions.push(...chooseInstructions(texts, scope, trust, warnings));
    const fresh = await readAgents(files, order, { trust, tools }, warnings);
    const strange = fresh.filter(({ source }) => !source.trusted).map(({ name }) => name);
    if (strange.length > 0)
      warnings.push(
        `${scope.root}/agents contains agents whose prompts you did not write: ${joinNames(strange)}`,
      );
    agents.push(...fresh);
  }
  const skills = await readSkills(trusted, warnings);
  return { agents, tools, skills, commands: keepFirst(commands), instructions, warnings };
}

/** Everything of a project and the code of the user need trust. */
function listFiles({
  scope,
  tools,
  agents,
  skills,
  commands,
  instructions,
}: {
  scope: Scope;
  tools: ScopeFile[];
  agents: ScopeFile[];
  skills: ScopeFile[];
  commands: ScopeFile[];
  instructions: InstructionFile[];
}): Trusted[] {
  return scope.name === "project" ? [...tools, ...agents, ...commands, ...skills, ...instructions] : tools;
}

/** Data, like agents: a project's are used with a warning until they are trusted, and not at all if they are refused. */
function chooseInstructions(
  files: readonly InstructionFile[],
  scope: Scope,
  trust: TrustRecords,
  warnings: string[],
): InstructionFile[] {
  if (scope.name === "user") return [...files];
  const used = files.filter((file) => getTrust(trust, file) !== "refused");
  const strange = used.filter((file) => file.isWritableByOthers || getTrust(trust, file) !== "trusted");
  for (const { path } of strange)
    warnings.push(
      `${path} contains instructions that you did not write; the model gets them. To confirm or refuse them, ${explainHowToTrust(path)}`,
    );
  return used;
}

async function loadTrust(
  scope: Scope,
  files: readonly Trusted[],
  order: ContributionsOrder,
  warnings: string[],
): Promise<TrustRecords> {
  if (files.length === 0) return { records: [] };
  const trust = await readScopeTrust(scope, order);
  if (trust.warning !== undefined) {
    warnings.push(trust.warning);
    return trust;
  }
  if (scope.name !== "project" || !order.config.trust.project) return trust;
  // `--trust-project`: trusts the current content, except what the user refused in this version.
  const fresh = files.filter((file) => ["unknown", "changed"].includes(getTrust(trust, file)));
  if (fresh.length === 0) return trust;
  const now = Date.now();
  try {
    await decideTrust(scope.trustDirectory, fresh, "trusted", now);
  } catch (error) {
    warnings.push(`${scope.root} is trusted for this run only: ${toMessage(error)}`);
  }
  const decided = fresh.map(({ path, sha256, kind }) => {
    return { path, sha256, kind, decision: "trusted" as const, decidedAtMs: now };
  });
  return { records: [...decided, ...trust.records] };
}

async function loadTools(
  modules: readonly ScopeFile[],
  { config, toolNames = [] }: ContributionsOrder,
  { scope, trust, taken }: { scope: Scope; trust: TrustRecords; taken: readonly RegisteredTool[] },
  warnings: string[],
): Promise<RegisteredTool[]> {
  const loaded: RegisteredTool[] = [];
  const reserved = [...createBuiltinTools().map(({ name }) => name), SKILL_TOOL, DELEGATE_TOOL, ...toolNames];
  for (const module of modules) {
    const { path } = module;
    const refusal = explainRefusal(module, trust, scope.name === "user" && config.trust.userTools);
    if (refusal !== undefined) {
      if (refusal !== "") warnings.push(`${path} is not loaded: ${refusal}`);
      continue;
    }
    try {
      // Imported on demand: few users have tools, and the JSON Schema validator is large.
      const { loadToolModule } = await import("../tools/modules.ts");
      const tool = await loadToolModule(module, warnings);
      const other = [...taken, ...loaded].find((one) => one.tool.name === tool.name);
      if (reserved.includes(tool.name)) throw new Error(`the name "${tool.name}" belongs to a built-in tool`);
      if (other !== undefined)
        throw new Error(
          `the name "${tool.name}" belongs to the tool of ${other.source.path}; rename one of them`,
        );
      loaded.push({ tool, source: { scope: scope.name, path, trusted: true } });
    } catch (error) {
      warnings.push(`${path} is ignored: ${toMessage(error)}`);
    }
  }
  return loaded;
}

/** Undefined: it may be loaded. Empty: the user refused it, which needs no warning. */
function explainRefusal(
  module: ScopeFile,
  trust: TrustRecords,
  isTrustedByConfig: boolean,
): string | undefined {
  const { path, isWritableByOthers } = module;
  const state = getTrust(trust, module);
  if (state === "refused") return "";
  if (isWritableByOthers) return "it is writable by everyone; run chmod go-w on it";
  if (state === "trusted" || isTrustedByConfig) return undefined;
  return `it is code that ${describeState(state, trust, module)}. Read it, then run \`demian trust ${quoteShellWord(path)}\``;
}

function describeState(state: TrustState, trust: TrustRecords, module: ScopeFile): string {
  if (state !== "changed") return "you have not trusted yet";
  const { decision, decidedAtMs = 0 } = findRecord(trust, module) ?? {};
  const day = new Date(decidedAtMs).toISOString().slice(0, 10);
  return `changed since you ${decision === "refused" ? "refused" : "trusted"} it (${day})`;
}

/** A project's are words that the user sends without reading them, so they need trust. */
async function readCommands(
  files: readonly ScopeFile[],
  trust: TrustRecords,
  warnings: string[],
): Promise<PromptCommand[]> {
  const commands: PromptCommand[] = [];
  for (const file of files) {
    const refusal = file.scope.name === "user" ? undefined : explainCommandRefusal(file, trust);
    if (refusal !== undefined && refusal !== "") warnings.push(`${file.path} is not used: ${refusal}`);
    const command = refusal === undefined ? await readPromptCommand(file, warnings) : undefined;
    if (command !== undefined) commands.push(command);
  }
  return commands;
}

/** Empty: the user refused it, which needs no warning. */
function explainCommandRefusal(file: ScopeFile, trust: TrustRecords): string | undefined {
  const state = getTrust(trust, file);
  if (state === "refused") return "";
  if (file.isWritableByOthers) return "it is writable by everyone; run chmod go-w on it";
  if (state === "trusted") return undefined;
  return `it is a command that ${describeState(state, trust, file)}. To use it, ${explainHowToTrust(file.path)}`;
}

/** The user's command wins over one of the project with the same name. */
function keepFirst(commands: readonly PromptCommand[]): PromptCommand[] {
  return commands.filter(({ name }, at) => commands.findIndex((one) => one.name === name) === at);
}

async function readAgents(
  files: readonly ScopeFile[],
  { config, toolNames = [] }: ContributionsOrder,
  { trust, tools }: { trust: TrustRecords; tools: readonly RegisteredTool[] },
  warnings: string[],
): Promise<FileAgent[]> {
  const names = tools.map(({ tool }) => tool.name);
  const known = [
    ...createBuiltinTools().map(({ name }) => name),
    SKILL_TOOL,
    DELEGATE_TOOL,
    ...toolNames,
    ...names,
  ];
  const projectTools = tools.flatMap(({ tool, source }) => (source.scope === "project" ? [tool.name] : []));
  const agents: FileAgent[] = [];
  for (const file of files) {
    const state = getTrust(trust, file);
    if (file.scope.name === "project" && state === "refused") continue;
    if (file.isWritableByOthers) warnings.push(`${file.path} is writable by everyone; run chmod go-w on it`);
    const isTrusted = state === "trusted" && !file.isWritableByOthers;
    const agent = await readAgentFile(file, { config, isTrusted, toolNames: known, projectTools }, warnings);
    if (agent !== undefined) agents.push(agent);
  }
  return agents;
}
