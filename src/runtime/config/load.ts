// The configuration of one workspace: built-in defaults, then the user's file, the project's, `--config`, the
// environment and the flags. Each layer is merged and validated at once, so that an error names its layer.

import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { RegistrySource } from "../agents/types.ts";
import { PRESETS } from "../providers/presets.ts";
import { type Env, getHomeDir } from "../state-dir.ts";
import { checkMerged } from "./check.ts";
import { readEnvironmentLayers } from "./environment.ts";
import { type ConfigText, readConfigFile, readProjectFile } from "./file.ts";
import { mergeLayer, modernize } from "./layer.ts";
import { type ProjectOrder, restrictProject } from "./project.ts";
import type { DemianConfig } from "./schema.ts";
import { listScopes, readScopeTrust } from "./scope.ts";
import { decideTrust, getTrust } from "./trust.ts";

export interface ConfigOrder {
  /** The workspace. */
  cwd: string;
  env: Env;
  /** `--config`, relative to `cwd`: must exist. */
  configPath?: string;
  /** The strongest layer. `{trust: {project: true}}` trusts the current content of the project's file. */
  flags?: Record<string, unknown>;
  /** Use only the flags: no file, variable or preset. */
  isAlone?: boolean;
}

export type ConfigScope = "user" | "project" | "explicit" | "environment" | "flags";

export interface ConfigSource {
  /** A file, or the name of a variable. */
  path: string;
  scope: ConfigScope;
}

export interface LoadedConfig {
  config: DemianConfig;
  /** Settings ignored or refused, for the user. */
  warnings: string[];
  /** Weakest first. */
  sources: ConfigSource[];
  /** Where each configured agent comes from. */
  agentSources: ReadonlyMap<string, RegistrySource>;
  /** The MCP servers that the project's file defines. */
  projectServers: ReadonlySet<string>;
  /** The project's file, if there is one. */
  project?: { path: string; sha256: string; isTrusted: boolean };
  /** The project set `defaultAgent`, valid or not; `instead` is the default without the project. */
  projectAgent?: { path: string; instead: string };
}

/** Throws `config_invalid` with the file, the field and the fix. */
export async function loadConfig(order: ConfigOrder): Promise<LoadedConfig> {
  if (order.isAlone === true) return loadFlags(order.flags ?? {});
  const stack = new LayerStack({ providers: PRESETS });
  const userPath = join(getHomeDir(order.env), ".demian", "config.json");
  const user = await readConfigFile(userPath);
  if (user !== undefined) {
    if (user.isWritableByOthers)
      stack.warnings.push(`${userPath} is writable by everyone; run chmod go-w on it`);
    stack.addFile(user, "user");
  }
  const project = await readProjectFile(order.cwd);
  // In the home directory, the project's file is the user's own.
  const isOwn = project === undefined || project.identity === user?.identity;
  const trust = isOwn ? undefined : await isTrusted(order, project, stack.warnings);
  const explicit =
    order.configPath === undefined ? undefined : await readExplicit(order.cwd, order.configPath);
  const stronger = [explicit?.value, order.flags].filter((layer) => layer !== undefined);
  if (!isOwn) stack.addProject(project, { userPath, isTrusted: trust === true, stronger });
  if (explicit !== undefined) stack.addFile(explicit, "explicit");
  for (const { variable, value } of readEnvironmentLayers(order.env))
    stack.add(value, { path: variable, scope: "environment" });
  if (order.flags !== undefined) stack.add(order.flags, { path: "the command line", scope: "flags" });
  return {
    config: stack.config,
    warnings: stack.warnings,
    sources: stack.sources,
    agentSources: stack.agentSources,
    projectServers: stack.projectServers,
    ...(isOwn ? {} : { project: { path: project.path, sha256: project.sha256, isTrusted: trust === true } }),
    ...defined({ projectAgent: stack.projectAgent }),
  };
}

function loadFlags(flags: Record<string, unknown>): LoadedConfig {
  const stack = new LayerStack({});
  stack.add(flags, { path: "the command line", scope: "flags" });
  const { warnings, sources, agentSources, projectServers } = stack;
  return { config: stack.config, warnings, sources, agentSources, projectServers };
}

async function readExplicit(cwd: string, given: string): Promise<ConfigText> {
  const path = resolve(cwd, given);
  const file = await readConfigFile(path);
  if (file === undefined) throw new CodedError("config_invalid", `--config: no such file: ${path}`);
  return file;
}

async function isTrusted(order: ConfigOrder, file: ConfigText, warnings: string[]): Promise<boolean> {
  const place = { ...order, cwd: await realpath(order.cwd) };
  const scope = (await listScopes(place)).find(({ name }) => name === "project");
  if (scope === undefined) return false;
  const trust = await readScopeTrust(scope, place);
  const state = getTrust(trust, file);
  const flag = order.flags?.["trust"];
  const isNow = isObject(flag) && flag["project"] === true && state !== "refused";
  if (isNow && state !== "trusted")
    await decideTrust(scope.trustDirectory, [{ ...file, kind: "config" }], "trusted", Date.now()).catch(
      (error: unknown) =>
        void warnings.push(`${file.path} is trusted for this run only: ${toMessage(error)}`),
    );
  else if (trust.warning !== undefined) warnings.push(trust.warning);
  return isNow || state === "trusted";
}

/** The layers merged so far, raw and validated. */
class LayerStack {
  readonly warnings: string[] = [];
  readonly sources: ConfigSource[] = [];
  readonly agentSources = new Map<string, RegistrySource>();
  readonly projectServers = new Set<string>();
  projectAgent: LoadedConfig["projectAgent"];
  #merged: JsonObject;
  config: DemianConfig;

  constructor(presets: JsonObject) {
    this.#merged = presets;
    this.config = checkMerged(presets, { label: "the presets", offsets: {} });
  }

  addFile(file: ConfigText, scope: "user" | "explicit"): void {
    const { trust, ...rest } = file.value;
    if (isObject(trust) && trust["project"] === true) {
      this.warnings.push(
        `${file.path}: "trust.project" is ignored: it would trust every repository. Run demian once with --trust-project in the project you mean`,
      );
      this.add({ ...rest, trust: { ...trust, project: false } }, { path: file.path, scope });
    } else this.add(file.value, { path: file.path, scope });
  }

  addProject(
    file: ConfigText,
    order: Omit<ProjectOrder, "layer" | "base" | "path" | "hasDefaultAgent" | "check">,
  ): void {
    const { layer, warnings } = restrictProject({
      layer: modernize(file.value),
      base: this.config,
      path: file.path,
      ...order,
      hasDefaultAgent: this.#merged["defaultAgent"] !== undefined,
      check: (checked) => void this.#mergeAndCheck(checked, file.path),
    });
    this.warnings.push(...warnings);
    const instead = this.config.defaultAgent;
    this.add(layer, { path: file.path, scope: "project" }, order.isTrusted);
    if ("defaultAgent" in layer) this.projectAgent = { path: file.path, instead };
  }

  add(layer: JsonObject, source: ConfigSource, isTrusted = source.scope !== "project"): void {
    const today = modernize(layer);
    const { merged, config } = this.#mergeAndCheck(today, source.path);
    this.#merged = merged;
    this.config = config;
    this.sources.push(source);
    if ("defaultAgent" in today) this.projectAgent = undefined;
    for (const name of Object.keys(isObject(today["mcpServers"]) ? today["mcpServers"] : {})) {
      if (source.scope === "project") this.projectServers.add(name);
      else this.projectServers.delete(name);
    }
    for (const name of Object.keys(isObject(today["agents"]) ? today["agents"] : {})) {
      const before = this.agentSources.get(name);
      if (before !== undefined)
        this.warnings.push(
          `${source.path}: its agent "${name}" overrides the one in ${before.path ?? "the configuration before it"}`,
        );
      const scope = source.scope === "project" ? "project" : "user";
      this.agentSources.set(name, { scope, path: source.path, trusted: isTrusted });
    }
  }

  #mergeAndCheck(layer: JsonObject, label: string): { merged: JsonObject; config: DemianConfig } {
    const merged = mergeLayer(this.#merged, layer);
    const offsets = { permissions: this.config.permissions.length, hooks: this.config.hooks.length };
    return { merged, config: checkMerged(merged, { label, offsets }) };
  }
}
