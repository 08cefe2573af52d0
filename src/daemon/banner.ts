// The start message on a terminal: addresses, detected agents and first commands.
import { hostname } from "node:os";
import { resolveSocketPath } from "../base/socket-path.ts";
import type { Config } from "./config.ts";

/** The acp backend's version of an agent that was not asked for it. */
const PRESENT = "present";

export interface HttpAddress {
  port: number;
  tokenFile: string;
  /** A one-time link to the dashboard. */
  link?: string;
  /** Why there is no link. */
  noLink?: string;
}

export function formatBanner(
  config: Config,
  version: string,
  backends: Record<string, string>,
  http?: HttpAddress,
): string {
  const agents = Object.entries(backends).map(([name, found]) =>
    found === PRESENT ? name : `${name} ${found}`,
  );
  const missing = Object.keys(config.agents).filter((name) => backends[name] === undefined);
  const isDemo = Object.keys(backends).join() === "demo";
  const backend = Object.keys(backends)[0] ?? "demo";
  // Clients find the default socket on their own.
  const { BLEMEESD_SOCKET: _, ...plain } = process.env;
  const isUsual = config.socket_path === resolveSocketPath(plain);
  const flag = isUsual ? "" : ` --socket ${config.socket_path}`;
  return [
    `blemeesd ${version} is listening on ${config.socket_path}`,
    `  history   ${historyText(config)}`,
    `  agents    ${agents.join(", ")}`,
    ...missing.map(
      (name) => `            ${name} was not found: ${lookFor(config.agents[name]?.command ?? "")}`,
    ),
    ...(isDemo
      ? [
          "            No agent was found, so the built-in demo is used. Install Claude Code or Codex",
          "            (npm install -g @anthropic-ai/claude-code, npm install -g @openai/codex), or give the",
          "            built-in agent a model (npx demian list-providers), then restart.",
        ]
      : []),
    ...(http === undefined
      ? []
      : [`  http      http://127.0.0.1:${http.port}, the token is in ${http.tokenFile}`]),
    "",
    ...dashboardLines(http, isDemo, flag),
    `${http?.link === undefined ? "Try" : "Or"}, in another terminal:`,
    `  npx blemees${flag} spawn ${backend} "${isDemo ? "approve" : "what does this project do?"}"`,
    `  npx blemees${flag}                all sessions on one screen`,
    `  npx blemees${flag} run --backend ${backend} "${isDemo ? "use a tool" : "hello"}"`,
    ...(http === undefined ? [`  npx blemees${flag} web            the dashboard in your browser`] : []),
    "",
    "Press Ctrl-C to stop after running turns have finished, twice to stop now.",
    "",
  ].join("\n");
}

/** The link grants access like a password: only for the user at this terminal. */
function dashboardLines(http: HttpAddress | undefined, isDemo: boolean, flag: string): string[] {
  if (http?.noLink !== undefined) return [`No dashboard: ${http.noLink}`, ""];
  if (http?.link === undefined) return [];
  return [
    "Open this link in your browser:",
    `  ${http.link}`,
    isDemo
      ? 'Press "Try the demo" to see an agent ask for approval, or "New" and type: approve.'
      : 'Press "New" to start an agent, or "Try the demo" to see how one asks for approval.',
    `The link works once, within 10 minutes. For another one: npx blemees${flag} web`,
    ...(process.env["SSH_CONNECTION"] === undefined
      ? []
      : [`From your own machine, run first: ssh -L ${http.port}:127.0.0.1:${http.port} ${hostname()}`]),
    "",
  ];
}

/** The command may be misspelled. */
function lookFor(command: string): string {
  return command.includes("/")
    ? `${command} is not an executable file`
    : `${command} is not on the daemon's PATH`;
}

function historyText(config: Config): string {
  const { state_dir, event_log_dir } = config;
  if (event_log_dir !== undefined) return `kept in ${state_dir}, and as JSONL files in ${event_log_dir}`;
  if (config.store === "memory") return "in memory only (store = memory)";
  return `kept in ${state_dir}`;
}
