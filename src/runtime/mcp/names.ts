// Names of MCP tools: `mcp__server__tool`, with the characters and the length that every provider accepts.
import { createHash } from "node:crypto";

export const MCP_PREFIX = "mcp__";
const MAX_NAME = 64;
const MAX_SERVER = 24;

/** Unique among `taken`, and the same for the same names. */
export function nameTool(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `${MCP_PREFIX}${toWord(server).slice(0, MAX_SERVER)}__${toWord(tool)}`;
  if (plain.length <= MAX_NAME && !taken.has(plain)) return plain;
  const digest = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${plain.slice(0, MAX_NAME - digest.length - 1)}_${digest}`;
}

/** The name of a server from a client, which may be any text. */
export function nameServer(given: string, taken: ReadonlySet<string>): string {
  const plain = /^[A-Za-z]/.test(given) ? toWord(given).slice(0, 32) : `s_${toWord(given)}`.slice(0, 32);
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? plain : `${plain}_${at}`;
    if (!taken.has(name)) return name;
  }
}

/** Whether an agent's list of tools includes it: by name, or by `mcp__server__*` and `mcp__*`. */
export function isToolVisible(visible: readonly string[], name: string): boolean {
  return visible.some((pattern) => matchesMcpName(pattern, name));
}

/** `mcp__github__*` covers the tools of a server. */
export function matchesMcpName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return isMcpPattern(pattern) && name.startsWith(pattern.slice(0, -1));
}

export function isMcpPattern(pattern: string): boolean {
  return (pattern.startsWith(MCP_PREFIX) && pattern.endsWith("__*")) || pattern === `${MCP_PREFIX}*`;
}

/** Two underscores separate the parts of a name. */
function toWord(text: string): string {
  return text.replace(/[^A-Za-z0-9-]+/g, "_");
}
