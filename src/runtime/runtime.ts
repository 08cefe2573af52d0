// The runtime of one workspace: its configuration, and what that makes available. Sessions are opened here.
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodedError, messageOf } from "../base/coded-error.ts";
import { nearest } from "../base/nearest.ts";
import { createAgentRegistry, mainAgent, settleDefaultAgent } from "./agents/from-config.ts";
import { buildSystemPrompt } from "./agents/system-prompt.ts";
import type { AgentDefinition, RegistrySource } from "./agents/types.ts";
import { commandEnv } from "./command-env.ts";
import { type Contributions, loadContributions } from "./config/contributions.ts";
import { fewer } from "./config/fewer.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { catalogText } from "./delegation/catalog.ts";
import { createDelegateTool } from "./delegation/delegate-tool.ts";
import { callablesOf, Delegation, mainCaller } from "./delegation/delegation.ts";
import { DELEGATE_TOOL } from "./delegation/types.ts";
import type { EventBody } from "./events.ts";
import { hiddenPlaces, placesBelow } from "./hidden-places.ts";
import { History } from "./history.ts";
import { createBuiltinHooks } from "./hooks/builtin/index.ts";
import { createCommandHook } from "./hooks/command.ts";
import { createHookDispatcher } from "./hooks/dispatcher.ts";
import type { HookDispatcher } from "./hooks/types.ts";
import { createPermissionGate, type PermissionGate } from "./permissions/gate.ts";
import { writablePlaces } from "./permissions/grantable.ts";
import { type GrantStore, openGrants } from "./permissions/grants.ts";
import { unknownTools } from "./permissions/unknown-tools.ts";
import { settleRenewals } from "./providers/codex/refresh.ts";
import { providerChoices, resolveProvider } from "./providers/resolve.ts";
import type { ResolvedProvider } from "./providers/types.ts";
import { type Choice, type DelegationRoot, RootSession } from "./root-session.ts";
import { createSandbox } from "./sandbox/index.ts";
import type { Sandbox } from "./sandbox/types.ts";
import type { DemianSession, ProviderChoice, Runtime, RuntimeOrder, SessionOrder } from "./session-types.ts";
import { ensurePrivateDir, homeDir, projectDir, stateDir } from "./state-dir.ts";
import { builtinTools } from "./tools/builtin.ts";
import { keepOutput, outputDirectory } from "./tools/output.ts";
import { ToolRegistry } from "./tools/registry.ts";
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
    ...(order.configPath === undefined ? {} : { configPath: order.configPath }),
    ...(order.flags === undefined ? {} : { flags: order.flags }),
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
  readonly #order: RuntimeOrder;
  readonly #sessions = new Set<DemianSession>();
  #sandbox: Promise<Sandbox> | undefined;

  constructor(order: RuntimeOrder, cwd: string, loaded: LoadedConfig, files?: Contributions) {
    this.#order = order;
    this.cwd = cwd;
    // Trust is looked at for each: what is wrong with it is found twice.
    this.warnings = [...new Set([...loaded.warnings, ...(files?.warnings ?? [])])];
    for (const tool of order.isAlone === true ? [] : builtinTools()) this.tools.register(tool, BUILTIN);
    for (const tool of order.tools ?? []) {
      if (tool.name === DELEGATE_TOOL || !this.tools.register(tool, EMBEDDED))
        this.warnings.push(taken("tool", tool.name));
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
      if (!agents.register(agent, EMBEDDED)) this.warnings.push(taken("agent", agent.name));
    }
    const settled = settleDefaultAgent(loaded, agents);
    this.config = settled.config;
    this.warnings.push(...settled.warnings);
    this.providers = [...embedded(order), ...providerChoices(loaded.config.providers, order.env)];
    this.warnings.push(...this.#misspelt());
  }

  /** What is configured and means nothing: it would only be noticed when it matters. */
  #misspelt(): string[] {
    const { permissions, agents, defaultProvider } = this.config;
    const tools = this.tools.list().map(({ tool }) => tool.name);
    const keys = this.providers.map(({ key }) => key);
    const guess = nearest(defaultProvider, keys);
    const hint = guess === undefined ? "" : `; did you mean "${guess}"?`;
    return [
      ...fewer(unknownTools(permissions, tools, "permissions"), "permissions"),
      ...Object.entries(agents).flatMap(([name, agent]) =>
        fewer(unknownTools(agent.permissions, tools, `agents.${name}.permissions`), `agents.${name}`),
      ),
      ...(keys.includes(defaultProvider)
        ? []
        : [`defaultProvider: no provider is called "${defaultProvider}"${hint}`]),
    ];
  }

  async openSession(order: SessionOrder): Promise<DemianSession> {
    const sessionId = order.sessionId ?? `ses_${randomUUID()}`;
    if (!SESSION_ID.test(sessionId)) {
      throw new CodedError("bad_session_id", `"${sessionId}" is no session id: use letters, digits, _ and -`);
    }
    const first = await this.#choose(order);
    const sandbox = await this.#sandboxed();
    const workspace = await openWorkspace(this.cwd);
    try {
      const grants = await this.#grants();
      const isRecorded = order.transcript ?? this.config.transcript.enabled;
      const env = { ...commandEnv(this.#order.env, this.config.providers), ...order.env };
      const history = new History(order, order.history);
      const session = new RootSession({
        fixed: {
          sessionId,
          config: this.config,
          workspace,
          sandbox,
          history,
          hooks: (emit) => this.#hooks(env, emit),
          gate: await this.#gate(order, grants, env["PATH"]),
          env,
          host: { env: this.#order.env, stateDirectory: projectDir(this.#order.env, this.cwd) },
          limits: { maxTurns: this.config.maxTurns, context: this.config.context.main },
          dryRun: order.dryRun === true,
          keepOutput: (callId, output) =>
            keepOutput({ directory: outputDirectory(workspace.root), callId }, output),
          question: order.question,
        },
        choose: (change, now) => this.#choose(change, now),
        first,
        ...(this.config.agentMode === "single-agent"
          ? {}
          : { delegation: (root) => this.#delegation(root, history) }),
        transcript: (onProblem) =>
          isRecorded ? openTranscript({ root: workspace.root, sessionId, onProblem }) : undefined,
        onEvent: order.onEvent,
        warnings: grants.warnings,
        release: async () => {
          this.#sessions.delete(session);
          await workspace.close();
        },
      });
      this.#sessions.add(session);
      await session.begin((order.history?.length ?? 0) > 0);
      return session;
    } catch (error) {
      await workspace.close();
      throw error;
    }
  }

  #grants(): Promise<GrantStore> {
    const { enabled, ttlMs } = this.config.persistentGrants;
    const directory = projectDir(this.#order.env, this.cwd);
    return openGrants({ directory, root: this.cwd, persistent: enabled, ttlMs });
  }

  async #gate(order: SessionOrder, grants: GrantStore, path: string | undefined): Promise<PermissionGate> {
    return createPermissionGate({
      mode: this.config.agentMode,
      globalRules: this.config.permissions,
      grants,
      writable: await writablePlaces(this.cwd, tmpdir(), this.#elsewhere()),
      hidden: await placesBelow(this.cwd, hiddenPlaces(this.#order.env, this.config.providers)),
      path,
      ask: order.ask,
      yes: order.yes === true,
    });
  }

  /** Where else commands write: no program there is granted for longer. */
  #elsewhere(): string[] {
    const home = homeDir(this.#order.env);
    const named = this.config.sandbox.writable.map((path) => path.replace(/^~(?=\/|$)/, home));
    return [...named, ...[".npm", ".cache"].map((name) => join(home, name))];
  }

  #hooks(env: Record<string, string>, emit: (event: EventBody) => void): HookDispatcher {
    const own = createBuiltinHooks();
    const names = new Set(own.map(({ name }) => name));
    const context = { cwd: this.cwd, env };
    return createHookDispatcher({
      hooks: [...own, ...this.config.hooks.map((hook) => createCommandHook(hook, context))],
      onFired: (fired) => {
        // The built-in ones look at everything: only what they found is worth a word.
        if (fired.decision === "allow" && names.has(fired.hook)) return;
        emit({ type: "hook.fired", ...fired });
      },
      onFailed: (failed) => emit({ type: "hook.failed", ...failed }),
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    // A login that is being renewed is used up at the vendor: it must not be lost on the way to the disk.
    await settleRenewals();
  }

  /** Found out once: the first session waits for it, nobody else. */
  #sandboxed(): Promise<Sandbox> {
    this.#sandbox ??= this.#makeSandbox();
    return this.#sandbox;
  }

  async #makeSandbox(): Promise<Sandbox> {
    const { env } = this.#order;
    // What is not there cannot be hidden, and would not be when it appears.
    await ensurePrivateDir(stateDir(env)).catch((error: unknown) => {
      this.warnings.push(`nothing can be remembered: ${messageOf(error)}`);
    });
    return createSandbox(this.config.sandbox, {
      root: this.cwd,
      hide: hiddenPlaces(env, this.config.providers),
      home: homeDir(env),
      cacheDirectory: join(projectDir(env, this.cwd), "caches"),
    });
  }

  async #choose(change: Pick<SessionOrder, "agent" | "provider" | "model">, now?: Choice): Promise<Choice> {
    const agent = mainAgent(this.agents, change.agent ?? now?.agent.name ?? this.config.defaultAgent);
    const key = change.provider ?? keyOf(agent, change, now) ?? this.config.defaultProvider;
    const isSame = now?.provider.key === key;
    const model = change.model ?? (isSame ? now.provider.model : undefined);
    const provider = await this.#provider(key, model);
    const tools = this.#toolsOf(agent);
    const callables = this.#callables(agent, provider);
    if (callables.length === 0) return { agent, provider, systemPrompt: buildSystemPrompt(agent), tools };
    const systemPrompt = buildSystemPrompt(agent, { catalog: catalogText(callables) });
    return { agent, provider, systemPrompt, tools: [...tools, createDelegateTool(callables)] };
  }

  #toolsOf(agent: AgentDefinition): ToolDefinition[] {
    return agent.tools.visible.flatMap((name) => this.tools.get(name) ?? []);
  }

  /** Whom the main agent may delegate to. */
  #callables(agent: AgentDefinition, provider: ResolvedProvider): AgentDefinition[] {
    const { agentMode, delegation } = this.config;
    if (agentMode === "single-agent") return [];
    return callablesOf(mainCaller({ agent, provider }), this.agents, delegation.maxDepth);
  }

  #delegation(root: DelegationRoot, history: History): Delegation {
    const { config, agents } = this;
    return new Delegation(
      {
        ...root,
        config,
        agents,
        toolsOf: (agent) => this.#toolsOf(agent),
        provider: (agent, main) => this.#subAgentProvider(agent, main),
      },
      history.callIds,
    );
  }

  /** By name only (§8). What was chosen for the main agent is not chosen for others, but for a model where none is named. */
  async #subAgentProvider(agent: AgentDefinition, main: ResolvedProvider): Promise<ResolvedProvider> {
    const { profile, inheritRoot = true } = agent.provider ?? {};
    const key = profile ?? (inheritRoot ? main.key : this.config.defaultProvider);
    const named = this.providers.find((choice) => choice.key === key)?.model ?? "";
    return this.#provider(key, named === "" && key === main.key ? main.model : undefined);
  }

  async #provider(key: string, model: string | undefined): Promise<ResolvedProvider> {
    const given = this.#order.providers?.get(key);
    if (given !== undefined) return model === undefined ? given : { ...given, model };
    return resolveProvider(key, this.config.providers, {
      env: this.#order.env,
      ...(model === undefined ? {} : { model }),
    });
  }
}

/** An agent that names a provider brings it along; one that does not leaves it as it is. */
function keyOf(agent: AgentDefinition, change: { agent?: string }, now?: Choice): string | undefined {
  if (now === undefined || change.agent !== undefined) return agent.provider?.profile ?? now?.provider.key;
  return now.provider.key;
}

function embedded({ providers }: RuntimeOrder): ProviderChoice[] {
  return [...(providers ?? [])].map(([key, { type, model }]) => ({ key, type, model, isReady: true }));
}

function taken(what: string, name: string): string {
  return `the ${what} "${name}" of the embedding program is left out: that name is taken`;
}
