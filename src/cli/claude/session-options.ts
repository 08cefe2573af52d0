// The options of the session: from the command line, and from the program's `initialize` request. Its hooks and its own MCP
// servers run in the program; claude reaches them at the addresses of `callbacks`.
import { readFileSync } from "node:fs";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asStrings } from "../../base/values.ts";
import { UsageError } from "../command.ts";
import type { ClaudeArguments } from "./arguments.ts";

export interface CallbackPlaces {
  /** Where claude posts the input of this hook. */
  hook(callback_id: string): string;
  /** Where claude finds this MCP server. */
  server(name: string): string;
  /** What it must send. */
  headers: Readonly<Record<string, string>>;
}

/** What a session cannot be started with. */
const UNSUPPORTED = [
  "codeRunningMcpTools",
  "managedSettings",
  "planModeInstructions",
  "appendSubagentSystemPrompt",
  "plugins",
  "toolAliases",
] as const;
/** Claude calls these only as programs. */
const NOT_BY_HTTP: ReadonlySet<string> = new Set(["SessionStart", "Setup"]);
const HOOK_LIMIT_S = 60;

/** True if claude must reach the program. */
export function needsCallbacks(init: JsonObject): boolean {
  return Object.keys(asObject(init["hooks"])).length > 0 || asStrings(init["sdkMcpServers"]).length > 0;
}

/** Throws for what the session cannot do. */
export function toSessionOptions(
  given: ClaudeArguments,
  init: JsonObject,
  { cwd, places }: { cwd: string; places: CallbackPlaces | undefined },
): Record<string, unknown> {
  const wanted = UNSUPPORTED.find((key) => init[key] !== undefined && init[key] !== null);
  if (wanted !== undefined) throw new CodedError("invalid_message", `initialize: ${wanted} is not supported`);
  const { allowed, mcp } = given;
  const options: Record<string, unknown> = { ...given.options, cwd };
  const system = init["systemPrompt"];
  if (system !== undefined && system !== null)
    options["system_prompt"] = Array.isArray(system) ? asStrings(system).join("\n\n") : String(system);
  setFrom(options, init, {
    appendSystemPrompt: "append_system_prompt",
    agents: "agents",
    jsonSchema: "json_schema",
    excludeDynamicSections: "exclude_dynamic_system_prompt_sections",
    title: "session_name",
  });
  if (Array.isArray(init["disallowedTools"])) options["disallowed_tools"] = init["disallowedTools"];
  const settings = mergeSettings(given.settings, {
    allowed,
    hooks: places === undefined ? {} : toHooks(asObject(init["hooks"]), places),
  });
  if (settings !== undefined) options["settings"] = settings;
  const servers = mergeServers([...mcp, ...(isObject(init["mcpServers"]) ? [init["mcpServers"]] : [])], {
    names: asStrings(init["sdkMcpServers"]),
    places,
  });
  if (servers.length > 0) options["mcp_config"] = servers;
  // Every event of claude as it came; texts as they are written, for the other screens.
  return { ...options, native_events: true, include_partial_messages: true };
}

function setFrom(options: Record<string, unknown>, init: JsonObject, names: Record<string, string>): void {
  for (const [key, option] of Object.entries(names)) {
    const value = init[key];
    if (value !== undefined && value !== null && value !== "") options[option] = value;
  }
}

/** Claude's settings with the rules that allow tools, and with the hooks. Undefined if there is nothing to set. */
function mergeSettings(
  source: string | undefined,
  { allowed, hooks }: { allowed: readonly string[]; hooks: JsonObject },
): string | undefined {
  if (allowed.length === 0 && Object.keys(hooks).length === 0) return source;
  const settings = source === undefined ? {} : readJson(source, "--settings");
  const permissions = asObject(settings["permissions"]);
  const allow = [...asStrings(permissions["allow"]), ...allowed];
  const before = asObject(settings["hooks"]);
  const merged = Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(hooks)])].map((event) => [
      event,
      [...asObjects(before[event]), ...asObjects(hooks[event])],
    ]),
  );
  return JSON.stringify({
    ...settings,
    ...(allow.length > 0 && { permissions: { ...permissions, allow } }),
    ...(Object.keys(merged).length > 0 && { hooks: merged }),
  });
}

/** Each of the program's hooks as one that claude posts to. */
function toHooks(hooks: JsonObject, { hook, headers }: CallbackPlaces): JsonObject {
  return Object.fromEntries(
    Object.entries(hooks).map(([event, matchers]) => {
      if (NOT_BY_HTTP.has(event))
        throw new CodedError("invalid_message", `hooks of the event ${event} are not supported`);
      const made = asObjects(matchers).map(({ matcher, hookCallbackIds, timeout }) => ({
        ...(typeof matcher === "string" && { matcher }),
        hooks: asStrings(hookCallbackIds).map((id) => ({
          type: "http",
          url: hook(id),
          headers,
          timeout: typeof timeout === "number" ? timeout : HOOK_LIMIT_S,
        })),
      }));
      return [event, made];
    }),
  );
}

/** The MCP configurations, with the program's own servers as servers that claude connects to. */
function mergeServers(
  sources: readonly unknown[],
  { names, places }: { names: readonly string[]; places: CallbackPlaces | undefined },
): string[] {
  const own = (name: string): JsonObject | undefined =>
    places === undefined || !names.includes(name)
      ? undefined
      : { type: "http", url: places.server(name), headers: places.headers };
  const given = sources.map((source): JsonObject => {
    const config = isObject(source) ? { mcpServers: source } : readJson(String(source), "--mcp-config");
    const servers = Object.entries(asObject(config["mcpServers"]));
    const kept = servers.filter(([, server]) => asString(asObject(server)["type"]) !== "sdk");
    return Object.fromEntries(kept) as JsonObject;
  });
  const all = Object.assign({}, ...given, Object.fromEntries(names.map((name) => [name, own(name)])));
  return Object.keys(all).length === 0 ? [] : [JSON.stringify({ mcpServers: all })];
}

/** JSON, or a file with it. */
function readJson(source: string, flag: string): JsonObject {
  try {
    const text = source.trimStart().startsWith("{") ? source : readFileSync(source, "utf8");
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw new UsageError(`${flag} is neither JSON nor a readable file with JSON: ${toMessage(error)}`);
  }
  throw new UsageError(`${flag} must be a JSON object`);
}
