// A home, a workspace and a state directory of their own, with the files of a test in them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAgentRegistry, settleDefaultAgent } from "../../../src/runtime/agents/from-config.ts";
import type { AgentRegistry } from "../../../src/runtime/agents/registry.ts";
import { type Contributions, loadContributions } from "../../../src/runtime/config/contributions.ts";
import { type ConfigOrder, type LoadedConfig, loadConfig } from "../../../src/runtime/config/load.ts";
import { createBuiltinTools } from "../../../src/runtime/tools/builtin.ts";

export interface Everything extends Contributions {
  registry: AgentRegistry;
  config: LoadedConfig["config"];
}

export class Places {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "demian-config-")));
  readonly home = join(this.base, "home");
  readonly cwd = join(this.base, "repo");
  readonly env = { HOME: this.home, XDG_STATE_HOME: join(this.base, "state") };
  readonly userFile = join(this.home, ".demian", "config.json");
  readonly projectFile = join(this.cwd, ".demian", "config.json");

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.cwd);
  }

  user(content: unknown): void {
    this.write(this.userFile, content);
  }

  project(content: unknown): void {
    this.write(this.projectFile, content);
  }

  write(path: string, content: unknown): void {
    mkdirSync(dirname(path), { recursive: true });
    const isText = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(path, isText ? content : JSON.stringify(content));
  }

  load(more: Partial<ConfigOrder> = {}): Promise<LoadedConfig> {
    return loadConfig({ cwd: this.cwd, env: this.env, ...more });
  }

  agentFile(scope: "home" | "cwd", name: string): string {
    return join(this[scope], ".demian", "agents", name);
  }

  toolFile(scope: "home" | "cwd", name: string): string {
    return join(this[scope], ".demian", "tools", name);
  }

  /** As the runtime does it; the warnings are those of files and of agents. */
  async everything(more: Partial<ConfigOrder> = {}): Promise<Everything> {
    const loaded = await this.load(more);
    const { config, agentSources: sources } = loaded;
    const cwd = more.cwd ?? this.cwd;
    const {
      agents: files,
      tools,
      skills,
      commands,
      instructions,
      warnings,
    } = await loadContributions({
      ...{ cwd, env: this.env, config },
    });
    const toolNames = [...createBuiltinTools(), ...tools.map(({ tool }) => tool)].map(({ name }) => name);
    const { agents: registry, warnings: told } = createAgentRegistry({ config, sources, files, toolNames });
    const settled = settleDefaultAgent(loaded, registry);
    const all = [...warnings, ...told, ...settled.warnings];
    return {
      agents: files,
      tools,
      skills,
      commands,
      instructions,
      registry,
      config: settled.config,
      warnings: all,
    };
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}
