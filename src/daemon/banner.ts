// What a person at a terminal sees when the daemon starts: where it is, which agents it found, what to try.
import { hostname } from "node:os";
import { resolveSocketPath } from "../base/socket-path.ts";
import type { Config } from "./config.ts";

/** What the acp backend says of an agent whose version nobody asked for. */
const PRESENT = "present";

export interface HttpAddress {
  port: number;
  tokenFile: string;
  /** Opens the dashboard once. */
  link?: string;
  /** Why there is none. */
  noLink?: string;
}

export function bannerText(
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
  // Clients find the usual place by themselves.
  const { BLEMEESD_SOCKET: _, ...plain } = process.env;
  const isUsual = config.socket_path === resolveSocketPath(plain);
  const flag = isUsual ? "" : ` --socket ${config.socket_path}`;
  const run = `npx blemeesctl${flag}`;
  return [
    `blemeesd ${version} is listening on ${config.socket_path}`,
    `  history   ${historyText(config)}`,
    `  agents    ${agents.join(", ")}`,
    ...missing.map(
      (name) => `            ${name} was not found: ${lookFor(config.agents[name]?.command ?? "")}`,
    ),
    ...(isDemo
      ? [
          "            No real agent was found: the built-in demo answers. Install Claude Code or Codex",
          "            (npm install -g @anthropic-ai/claude-code, npm install -g @openai/codex), or give our own",
          "            agent a model (npx demian list-providers), then start again.",
        ]
      : []),
    ...(http === undefined
      ? []
      : [`  http      http://127.0.0.1:${http.port}, the token is in ${http.tokenFile}`]),
    "",
    ...dashboardLines(http, isDemo, flag),
    `${http?.link === undefined ? "Try" : "Or"}, in another terminal:`,
    `  npx sm${flag} spawn ${backend} "${isDemo ? "approve" : "what does this project do?"}"`,
    `  npx sm${flag} tui                 all sessions on one screen; npx blemees is the same`,
    `  ${run} run --backend ${backend} "hello"`,
    ...(isDemo ? [`  ${run} run --backend demo "use a tool"`] : []),
    ...(http === undefined ? [`  npx sm${flag} web                 the dashboard in your browser`] : []),
    "",
    "Ctrl-C stops it when running turns have finished; twice, at once.",
    "",
  ].join("\n");
}

/** The link is a way in like a password: only for the person at this terminal. */
function dashboardLines(http: HttpAddress | undefined, isDemo: boolean, flag: string): string[] {
  if (http?.noLink !== undefined) return [`No dashboard: ${http.noLink}`, ""];
  if (http?.link === undefined) return [];
  return [
    "Open this link in your browser:",
    `  ${http.link}`,
    isDemo
      ? 'There press "Try the demo" (later "New", and write: approve). An agent asks you, and you answer.'
      : 'There "New" starts an agent; while there is none, "Try the demo" shows how one asks and you answer.',
    `The link works once, within 10 minutes; another one: npx sm${flag} web`,
    ...(process.env["SSH_CONNECTION"] === undefined
      ? []
      : [`From your own machine, first: ssh -L ${http.port}:127.0.0.1:${http.port} ${hostname()}`]),
    "",
  ];
}

/** A configured agent that is not there may only be misspelt. */
function lookFor(command: string): string {
  return command.includes("/")
    ? `${command} is not an executable file`
    : `there is no ${command} on the PATH of this daemon`;
}

function historyText(config: Config): string {
  if (config.event_log_dir !== undefined) return `JSONL files in ${config.event_log_dir}`;
  if (config.store === "memory") return "in memory only (store = memory)";
  return `kept in ${config.state_dir}`;
}
