// The answer to `/mcp`: servers, their state and what they offer. Everything in it was sanitized before.
import { CodedError } from "../../base/coded-error.ts";
import { joinNames } from "../config/fewer.ts";
import type { DemianSession } from "../session-types.ts";
import type { McpServerStatus } from "./types.ts";

const ORIGINS: Readonly<Record<McpServerStatus["origin"], string>> = {
  user: "your configuration",
  project: "the project",
  client: "the client",
};

/** `word`: what follows the command. Throws `bad_command`. Between turns only. */
export async function answerMcpCommand({ mcp }: Pick<DemianSession, "mcp">, word: string): Promise<string> {
  if (word !== "" && word !== "refresh")
    throw new CodedError("bad_command", `/mcp takes only "refresh" as an argument, not "${word}"`);
  if (mcp === undefined) return "there are no MCP servers; configure them with `mcpServers`";
  if (word === "refresh") await mcp.refresh();
  const commands = mcp
    .commands()
    .map(({ name, hint }) => `  /${name}${hint === undefined ? "" : ` ${hint}`}`);
  const mentions = mcp.mentions();
  return [
    ...mcp.list().flatMap(formatServer),
    ...(commands.length === 0 ? [] : ["prompts:", ...commands]),
    ...(mentions.length === 0 ? [] : [`resources: ${joinNames(mentions)}`]),
  ].join("\n");
}

function formatServer(server: McpServerStatus): string[] {
  const { name, origin, address, state, version, tools, problems, hasChanges } = server;
  const who = version === undefined ? address : `${address}, ${version}`;
  return [
    `${name}: ${state} (${who}; from ${ORIGINS[origin]})`,
    ...problems.map((problem) => `  ! ${problem}`),
    ...(hasChanges ? ["  ! its lists have changed; /mcp refresh applies the changes"] : []),
    ...(tools.length === 0 ? [] : [`  ${tools.length} tools: ${joinNames(tools)}`]),
  ];
}
