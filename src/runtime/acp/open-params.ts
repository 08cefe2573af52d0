// Validates the parameters of session/new, load and resume, including `_meta.blemees`.
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { ProviderChoice, SessionOrder } from "../session-types.ts";
import { invalidParamsError } from "./errors.ts";

export interface OpenParams {
  cwd: string;
  mcpServers?: readonly McpServer[];
  additionalDirectories?: readonly string[];
  _meta?: Record<string, unknown> | null;
}

export interface Cwd {
  /** As sent by the client. */
  given: string;
  real: string;
}

/** Throws -32602. */
export async function checkCwd(given: string): Promise<Cwd> {
  if (!isAbsolute(given)) throw invalidParamsError(`cwd must be an absolute path, not "${given}"`);
  try {
    const real = await realpath(given);
    if (!(await stat(real)).isDirectory()) throw invalidParamsError(`cwd is not a directory: ${given}`);
    return { given: resolve(given), real };
  } catch (error) {
    const errno = readErrno(error);
    if (errno === undefined) throw error;
    const why = errno === "ENOENT" ? "no such directory" : toMessage(error);
    throw invalidParamsError(`cannot use cwd ${given}: ${why}`);
  }
}

/** `_meta.blemees` of session/new, load and resume. */
export function readSessionOptions(
  meta: Record<string, unknown> | null | undefined,
): Pick<SessionOrder, "env" | "yes" | "transcript"> {
  const ours = meta?.["blemees"];
  if (ours === undefined) return {};
  if (!isObject(ours)) throw invalidParamsError("_meta.blemees must be an object");
  const { env, approvals, transcript } = ours;
  if (
    env !== undefined &&
    !(isObject(env) && Object.values(env).every((value) => typeof value === "string"))
  ) {
    throw invalidParamsError("_meta.blemees.env must be an object of strings");
  }
  for (const [name, value] of Object.entries({ approvals, transcript })) {
    if (value === undefined || typeof value === "boolean") continue;
    throw invalidParamsError(`_meta.blemees.${name} must be true or false`);
  }
  return {
    ...(env !== undefined && { env: env as Record<string, string> }),
    ...(approvals !== undefined && { yes: approvals === false }),
    ...(transcript !== undefined && { transcript: transcript === true }),
  };
}

/** `_meta.blemees.agent_mode`; overrides the configuration. */
export function readAgentMode(
  meta: Record<string, unknown> | null | undefined,
): DemianConfig["agentMode"] | undefined {
  const ours = meta?.["blemees"];
  const mode = isObject(ours) ? ours["agent_mode"] : undefined;
  if (mode === undefined || mode === "single-agent" || mode === "multi-agent") return mode;
  throw invalidParamsError('_meta.blemees.agent_mode must be "single-agent" or "multi-agent"');
}

/** `_meta.blemees.mode` and `.model`: for clients that cannot wait for `session/set_model`. */
export function readInitialChoice(
  meta: Record<string, unknown> | null | undefined,
  providers: readonly ProviderChoice[],
): Pick<SessionOrder, "agent" | "provider" | "model"> {
  const ours = meta?.["blemees"];
  const { mode, model } = isObject(ours) ? ours : {};
  for (const [name, value] of Object.entries({ mode, model })) {
    if (value === undefined || (typeof value === "string" && value !== "")) continue;
    throw invalidParamsError(`_meta.blemees.${name} must be a non-empty string`);
  }
  return {
    ...(typeof mode === "string" && { agent: mode }),
    ...(typeof model === "string" && parseModel(model, providers)),
  };
}

/** "provider/model", a provider, or a model of the default provider. */
function parseModel(
  wish: string,
  providers: readonly ProviderChoice[],
): Pick<SessionOrder, "provider" | "model"> {
  const [key = "", ...rest] = wish.split("/");
  if (!providers.some((one) => one.key === key)) return { model: wish };
  return rest.length === 0 ? { provider: key } : { provider: key, model: rest.join("/") };
}

/** The servers that the client wants in its session. Those with a transport we do not have are ignored. */
export function readMcpServers({ mcpServers = [] }: OpenParams): NonNullable<SessionOrder["mcpServers"]> {
  return mcpServers.flatMap((server): NonNullable<SessionOrder["mcpServers"]> => {
    if ("command" in server) {
      const { name, command, args, env } = server;
      return [{ name, config: { command, args: [...args], env: toRecord(env) } }];
    }
    if (server.type !== "http") return [];
    return [{ name: server.name, config: { url: server.url, headers: toRecord(server.headers) } }];
  });
}

function toRecord(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

/** Lists parameters that are not supported, for users. */
export function listIgnoredParams(params: OpenParams): string[] {
  const { mcpServers = [], additionalDirectories = [] } = params;
  const notices: string[] = [];
  const usable = readMcpServers(params).map(({ name }) => name);
  const names = mcpServers.map(({ name }) => name).filter((name) => !usable.includes(name));
  if (names.length > 0)
    notices.push(
      `MCP servers that need the transport SSE are not supported and were not started: ${names.join(", ")}`,
    );
  if (additionalDirectories.length > 0) {
    notices.push(
      `additional directories are not supported and were ignored: ${additionalDirectories.join(", ")}`,
    );
  }
  return notices;
}
