// The version of the installed `claude` and the flags that its help lists.
import {
  askProgram,
  isClaudeCode,
  MIN_CLAUDE_VERSION,
  readVersion,
  speaksControl,
} from "../../../base/claude-wire/version.ts";
import { FileCache } from "../../../base/file-cache.ts";
import type { Env } from "../../state-dir.ts";
import { ClaudeFailure } from "./transport.ts";

export interface Capabilities {
  version: string;
  /** "--resume", …; undefined if the help could not be read: then every flag is assumed to exist. */
  flags: ReadonlySet<string> | undefined;
}

const LIMIT_MS = 15_000;

export class CapabilityProbe {
  readonly #cache = new FileCache<Capabilities>();

  /** Throws `ClaudeFailure` if the program is too old or is not Claude Code. */
  find(path: string, env: Env): Promise<Capabilities> {
    return this.#cache.get(path, () => probe(path, env));
  }
}

async function probe(path: string, env: Env): Promise<Capabilities> {
  const options = { env, limitMs: LIMIT_MS };
  const [said, help] = await Promise.all([
    askProgram(path, "--version", options),
    askProgram(path, "--help", options),
  ]);
  if ("fault" in said) {
    throw new ClaudeFailure("start_failed", `\`${path} --version\` failed: ${said.fault}`);
  }
  const version = readVersion(said.text);
  if (version === undefined || !isClaudeCode(said.text)) {
    const shown = said.text.trim().slice(0, 80);
    throw new ClaudeFailure("start_failed", `${path} is not Claude Code: --version printed "${shown}"`);
  }
  if (!speaksControl(said.text)) {
    throw new ClaudeFailure(
      "start_failed",
      `${path} is Claude Code ${version}, which cannot ask before it runs a tool; update to ${MIN_CLAUDE_VERSION} or newer with \`claude update\``,
    );
  }
  return { version, flags: "fault" in help ? undefined : readFlags(help.text) };
}

/** Undefined if the text lists no flags. */
export function readFlags(help: string): ReadonlySet<string> | undefined {
  const flags = help.split("\n").flatMap((line) => {
    // "  -r, --resume [value]   Resume …": only the names before the description, which may mention other flags.
    const names = /^\s+((?:-\w|--[\w-]+)(?:, (?:-\w|--[\w-]+))*)/.exec(line)?.[1];
    return names?.split(", ") ?? [];
  });
  return flags.length === 0 ? undefined : new Set(flags);
}
