// What a person at a terminal sees when the daemon starts: where it is, which agents it found, what to try.
import { resolveSocketPath } from "../base/socket-path.ts";
import type { Config } from "./config.ts";

/** What the acp backend says of an agent whose version nobody asked for. */
const PRESENT = "present";

export interface HttpAddress {
  port: number;
  tokenFile: string;
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
    ...(http === undefined
      ? []
      : [`  http      http://127.0.0.1:${http.port}, the token is in ${http.tokenFile}`]),
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
    "",
    "Try, in another terminal:",
    `  ${run} run --backend ${backend} "hello"`,
    ...(isDemo ? [`  ${run} run --backend demo "use a tool"`] : []),
    `  npx sm${flag} spawn ${backend} "${isDemo ? "approve" : "what does this project do?"}"`,
    `  npx sm${flag} all`,
    "",
    "Ctrl-C stops it when running turns have finished; twice, at once.",
    "",
  ].join("\n");
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
