// The runtime of one workspace: its configuration, agents, tools and providers. Opens sessions.

import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { ensurePrivateDir } from "../base/private-file.ts";
import { defined } from "../base/values.ts";
import { createAgentRegistry, findMainAgent, settleDefaultAgent } from "./agents/from-config.ts";
import { joinParts, listPromptParts } from "./agents/system-prompt.ts";
import type { AgentDefinition, RegistrySource } from "./agents/types.ts";
import { buildCommandEnv, buildOpenEnv } from "./command-env.ts";
import { type Contributions, loadContributions } from "./config/contributions.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { findMisspelledNames } from "./config/misspelled.ts";
import { deriveContextPolicy } from "./context/budget.ts";
import { renderCatalog } from "./delegation/catalog.ts";
import { createDelegateTool } from "./delegation/delegate-tool.ts";
import { createMainCaller, Delegation, listCallables } from "./delegation/delegation.ts";
import { DELEGATE_TOOL } from "./delegation/types.ts";
import type { EventBody } from "./events.ts";
import { findPathsBelow, listHiddenPaths } from "./hidden-places.ts";
import { History } from "./history.ts";
import { createBuiltinHooks } from "./hooks/builtin/index.ts";
import { createCommandHook } from "./hooks/command.ts";
import { createHookDispatcher } from "./hooks/dispatcher.ts";
import type { HookDispatcher } from "./hooks/types.ts";
import { type InstructionPart, limitInstructions } from "./instructions/text.ts";
import type { McpHub } from "./mcp/hub.ts";
import { createHub } from "./mcp/open.ts";
import { createPermissionGate, type PermissionGate } from "./permissions/gate.ts";
import { listWritableDirs } from "./permissions/grantable.ts";
import { type GrantStore, openGrants } from "./permissions/grants.ts";
import { settleRenewals } from "./providers/codex/refresh.ts";
import type { Effort } from "./providers/effort.ts";
import { findFactsByName, listModels } from "./providers/models/available.ts";
import { type ListedModel, mergeFacts } from "./providers/models/facts.ts";
import { listProviderChoices, resolveProvider } from "./providers/resolve.ts";
import { isExternal, type ResolvedProvider } from "./providers/types.ts";
import { type DelegationRoot, RootSession, type SessionChoice } from "./root-session.ts";
import { CACHES, PYTHON } from "./sandbox/home-entries.ts";
import { createSandbox } from "./sandbox/index.ts";
import type { Sandbox } from "./sandbox/types.ts";
import type {
  DemianSession,
  ProviderChoice,
  Runtime,
  RuntimeOrder,
  SessionChange,
  SessionOrder,
} from "./session-types.ts";
import { getHomeDir, getProjectDir, getStateDir } from "./state-dir.ts";
import { createBuiltinTools } from "./tools/builtin.ts";
import { getOutputDirectory, keepOutput } from "./tools/output.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { createSkillTool } from "./tools/skill.ts";
import type { ToolDefinition } from "./tools/types.ts";
import { openTranscript } from "./transcript.ts";
import { openWorkspace } from "./workspace/open.ts";

const BUILTIN: RegistrySource = { scope: "builtin", trusted: true };
const EMBEDDED: RegistrySource = { scope: "programmatic", trusted: true };
const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Throws `bad_cwd` and `config_invalid`. */
export async function createRuntime(order: RuntimeOrder): Promise<Runtime> {
  const cwd = await realpath(order.cwd).catch((cause: unknown) => {
    throw new CodedError("bad_cwd", `the working directory ${order.cwd} does not exist`, { cause });
  });
  const loaded = await loadConfig({
    cwd,
    env: order.env,
    ...defined({ configPath: order.configPath, flags: order.flags }),
    ...(order.isAlone === true ? { isAlone: true } : {}),
  });
  const contributions =
    order.isAlone === true
      ? undefined
      : await loadContributions({
          cwd,
          env: order.env,
          config: loaded.config,
          toolNames: (order.tools ?? []).map(({ name }) => name),
        });
  return new LoadedRuntime(order, cwd, loaded, contributions);
}

class LoadedRuntime implements Runtime {
  readonly cwd: string;
  readonly config: LoadedConfig["config"];
  readonly warnings: string[];
  readonly tools = new ToolRegistry();
  readonly agents: Runtime["agents"];
  readonly providers: readonly ProviderChoice[];
  readonly commands: Runtime["commands"];
  readonly #order: RuntimeOrder;
  readonly #instructions: Contributions["instructions"];
  readonly #sessions = new Set<DemianSession>();
  readonly #projectServers: ReadonlySet<string>;
  #sandbox: Promise<Sandbox> | undefined;

  constructor(order: RuntimeOrder, cwd: string, loaded: LoadedConfig, files?: Contributions) {
    this.#order = order;
    this.cwd = cwd;
    this.commands = files?.commands ?? [];
    this.#projectServers = loaded.projectServers;
    // Trust is checked for each source, so its problems may be found twice.
    this.warnings = [...new Set([...loaded.warnings, ...(files?.warnings ?? [])])];
    this.#instructions = files?.instructions ?? [];
    this.warnings.push(...limitInstructions(this.#instructions).warnings);
    const { allow } = loaded.config.webFetch;
    for (const tool of order.isAlone === true ? [] : createBuiltinTools(allow))
      this.tools.register(tool, BUILTIN);
    if (files !== undefined && files.skills.length > 0)
      this.tools.register(createSkillTool(files.skills), BUILTIN);
    for (const tool of order.tools ?? []) {
      if (tool.name === DELEGATE_TOOL || !this.tools.register(tool, EMBEDDED))
        this.warnings.push(warnNameTaken("tool", tool.name));
    }
    for (const { tool, source } of files?.tools ?? []) this.tools.register(tool, source);
    const { agents, warnings } = createAgentRegistry({
      config: loaded.config,
      sources: loaded.agentSources,
      ...(files === undefined ? {} : { files: files.agents }),
      toolNames: this.tools.list().map(({ tool }) => tool.name),
      providerKeys: [...(order.providers?.keys() ?? [])],
      ...(order.isAlone === true ? { isAlone: true } : {}),
    });
    this.agents = agents;
    this.warnings.push(...warnings);
    for (const agent of order.agents ?? []) {
      if (!agents.register(agent, EMBEDDED)) this.warnings.push(warnNameTaken("agent", agent.name));
    }
    const settled = settleDefaultAgent(loaded, agents);
    this.config = settled.config;
    this.warnings.push(...settled.warnings);
    this.providers = [
      ...listEmbeddedProviders(order),
      ...listProviderChoices(loaded.config.providers, order.env),
    ];
    this.warnings.push(
      ...findMisspelledNames(this.config, {
        tools: this.tools.list().map(({ tool }) => tool.name),
        providers: this.providers.map(({ key }) => key),
      }),
    );
  }

  listModels(key: string, signal: AbortSignal): Promise<readonly ListedModel[]> {
    const given = this.#order.providers?.get(key);
    return listModels({ key, given, providers: this.config.providers, env: this.#order.env, signal });
  }

  async openSession(order: SessionOrder): Promise<DemianSession> {
    const sessionId = order.sessionId ?? `ses_${randomUUID()}`;
    if (!SESSION_ID.test(sessionId)) {
      throw new CodedError(
        "bad_session_id",
        `"${sessionId}" is not a valid session id: use letters, digits, _ and -`,
      );
    }
    const first = await this.#choose(order);
    const sandbox = await this.#loadSandbox();
    const workspace = await openWorkspace(this.cwd);
    const mcp = createHub(
      {
        ...{ config: this.config, cwd: this.cwd, env: this.#order.env },
        ...{ ofProject: this.#projectServers, given: order.mcpServers },
      },
      this.warnings,
    );
    try {
      const grants = await this.#openGrants();
      const isRecorded = order.transcript ?? this.config.transcript.enabled;
      const { providers } = this.config;
      const open = { ...buildOpenEnv(this.#order.env, providers), ...order.env };
      const env =
        sandbox.mode === "off"
          ? open
          : { ...buildCommandEnv(this.#order.env, providers, this.config.sandbox.env), ...order.env };
      const history = new History(order, order.history);
      const session = new RootSession({
        fixed: {
          sessionId,
          config: this.config,
          workspace,
          sandbox,
          history,
          hooks: (emit) => this.#createHooks(open, emit),
          gate: await this.#gate(order, grants, env["PATH"]),
          env,
          host: { env: this.#order.env, stateDirectory: getProjectDir(this.#order.env, this.cwd) },
          limits: { maxTurns: this.config.maxTurns, context: this.config.context.main },
          dryRun: order.dryRun === true,
          keepOutput: (callId, output) =>
            keepOutput({ directory: getOutputDirectory(workspace.root), callId }, output),
          question: order.question,
        },
        choose: (change, now) => this.#choose(change, now),
        first,
        mcp,
        ...(this.config.agentMode === "single-agent"
          ? {}
          : { delegation: (root) => this.#createDelegation(root, history, mcp) }),
        transcript: (onProblem) =>
          isRecorded ? openTranscript({ root: workspace.root, sessionId, onProblem }) : undefined,
        onEvent: order.onEvent,
        warnings: grants.warnings,
        release: async () => {
          this.#sessions.delete(session);
          await Promise.all([workspace.close(), mcp?.close()]);
        },
      });
      this.#sessions.add(session);
      await session.begin((order.history?.length ?? 0) > 0);
      return session;
    } catch (error) {
      await Promise.all([workspace.close(), mcp?.close()]);
      throw error;
    }
  }

  #openGrants(): Promise<GrantStore> {
    const { enabled, ttlMs } = this.config.persistentGrants;
    const directory = getProjectDir(this.#order.env, this.cwd);
    return openGrants({ directory, root: this.cwd, persistent: enabled, ttlMs });
  }

  async #gate(order: SessionOrder, grants: GrantStore, path: string | undefined): Promise<PermissionGate> {
    return createPermissionGate({
      mode: this.config.agentMode,
      globalRules: this.config.permissions,
      grants,
      writable: await listWritableDirs(this.cwd, tmpdir(), this.#listWritablePaths()),
      hidden: await findPathsBelow(this.cwd, listHiddenPaths(this.#order.env, this.config.providers)),
      path,
      ask: order.ask,
      yes: order.yes === true,
    });
  }

  /** Other writable directories: programs in them get no lasting grants. */
  #listWritablePaths(): string[] {
    const home = getHomeDir(this.#order.env);
    const named = this.config.sandbox.writable.map((path) => path.replace(/^~(?=\/|$)/, home));
    return [...named, ...[...CACHES, PYTHON].map(({ path }) => join(home, path))];
  }

  #createHooks(env: Record<string, string>, emit: (event: EventBody) => void): HookDispatcher {
    const own = createBuiltinHooks();
    const names = new Set(own.map(({ name }) => name));
    const context = { cwd: this.cwd, env };
    return createHookDispatcher({
      hooks: [...own, ...this.config.hooks.map((hook) => createCommandHook(hook, context))],
      onFired: (fired) => {
        // Built-in hooks see every event; only their findings are reported.
        if (fired.decision === "allow" && names.has(fired.hook)) return;
        emit({ type: "hook.fired", ...fired });
      },
      onFailed: (failed) => emit({ type: "hook.failed", ...failed }),
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    // A renewed login invalidates the old one at the vendor, so it must reach the disk.
    await settleRenewals();
  }

  /** Detected once; only the first session waits for it. */
  #loadSandbox(): Promise<Sandbox> {
    this.#sandbox ??= this.#makeSandbox();
    return this.#sandbox;
  }

  async #makeSandbox(): Promise<Sandbox> {
    const { env } = this.#order;
    // A missing path cannot be hidden, not even once it appears.
    await ensurePrivateDir(getStateDir(env)).catch((error: unknown) => {
      this.warnings.push(`preferences cannot be saved: ${toMessage(error)}`);
    });
    return createSandbox(this.config.sandbox, {
      root: this.cwd,
      hide: listHiddenPaths(env, this.config.providers),
      home: getHomeDir(env),
      env,
      cacheDirectory: join(getProjectDir(env, this.cwd), "caches"),
    });
  }

  async #choose(change: SessionChange, now?: SessionChoice): Promise<SessionChoice> {
    const agent = findMainAgent(this.agents, change.agent ?? now?.agent.name ?? this.config.defaultAgent);
    const key = change.provider ?? selectProviderKey(agent, change, now) ?? this.config.defaultProvider;
    const isSame = now?.provider.key === key;
    const model = change.model ?? (isSame ? now.provider.model : undefined);
    const effort = change.effort ?? now?.effort;
    const provider = await this.#provider(key, model, effort);
    const tools = this.#selectTools(agent);
    const callables = this.#listCallables(agent, provider);
    const instructions = this.#fitInstructions(provider);
    const promptParts = listPromptParts(agent, { catalog: renderCatalog(callables), instructions });
    const delegate = callables.length === 0 ? [] : [createDelegateTool(callables)];
    return {
      agent,
      provider,
      effort,
      promptParts,
      systemPrompt: joinParts(promptParts),
      tools: [...tools, ...delegate],
    };
  }

  /** At most a quarter of what the model is sent: a token is about four bytes. */
  #fitInstructions(provider: ResolvedProvider): readonly InstructionPart[] {
    const { contextTokens: windowTokens } = isExternal(provider)
      ? {}
      : mergeFacts(provider.facts, findFactsByName(provider.type, provider.model));
    const { maxContextTokens } = deriveContextPolicy(this.config.context.main, { windowTokens });
    return limitInstructions(this.#instructions, maxContextTokens).parts;
  }

  #selectTools(agent: AgentDefinition): ToolDefinition[] {
    return agent.tools.visible.flatMap((name) => this.tools.get(name) ?? []);
  }

  /** The agents the main agent may delegate to. */
  #listCallables(agent: AgentDefinition, provider: ResolvedProvider): AgentDefinition[] {
    const { agentMode, delegation } = this.config;
    if (agentMode === "single-agent") return [];
    return listCallables(createMainCaller({ agent, provider }), this.agents, delegation.maxDepth);
  }

  #createDelegation(root: DelegationRoot, history: History, mcp: McpHub | undefined): Delegation {
    const { config, agents } = this;
    return new Delegation(
      {
        ...root,
        config,
        agents,
        toolsOf: (agent) => [...this.#selectTools(agent), ...(mcp?.tools(agent) ?? [])],
        provider: (agent, main) => this.#subAgentProvider(agent, main),
      },
      history.callIds,
    );
  }

  /** By name only. A choice for the main agent does not apply to sub-agents, except the model where they name none. */
  async #subAgentProvider(agent: AgentDefinition, main: ResolvedProvider): Promise<ResolvedProvider> {
    const { profile, inheritRoot = true } = agent.provider ?? {};
    const key = profile ?? (inheritRoot ? main.key : this.config.defaultProvider);
    const named = this.providers.find((choice) => choice.key === key)?.model ?? "";
    return this.#provider(key, named === "" && key === main.key ? main.model : undefined);
  }

  async #provider(key: string, model: string | undefined, effort?: Effort): Promise<ResolvedProvider> {
    const given = this.#order.providers?.get(key);
    if (given !== undefined) return { ...given, ...defined({ model, effort }) };
    return resolveProvider(key, this.config.providers, {
      env: this.#order.env,
      ...defined({ model, effort }),
    });
  }
}

/** An agent that names a provider selects it; otherwise the provider stays. */
function selectProviderKey(
  agent: AgentDefinition,
  change: { agent?: string },
  now?: SessionChoice,
): string | undefined {
  if (now === undefined || change.agent !== undefined) return agent.provider?.profile ?? now?.provider.key;
  return now.provider.key;
}

function listEmbeddedProviders({ providers }: RuntimeOrder): ProviderChoice[] {
  return [...(providers ?? [])].map(([key, { type, model }]) => ({ key, type, model, isReady: true }));
}

function warnNameTaken(what: string, name: string): string {
  return `the ${what} "${name}" of the embedding program is ignored: the name is taken`;
}
