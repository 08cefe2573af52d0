// `options.codex.*` → the command line of `codex mcp-server` and the arguments of its two tools.
import type { JsonObject } from "../../../base/json.ts";
import { omitNulls } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { messageError, requireString } from "../../values.ts";
import { listSettings, toFeatureFlags } from "../config-keys.ts";
import type { CodexOptions } from "../options.ts";

const AT = "/options/codex/config";

/** Everything after the program's name. Throws `unsafe_flag` or `invalid_message`. */
export function buildMcpArgv({ config = {} }: CodexOptions): string[] {
  const settings = listSettings(config, AT).flatMap((setting) => ["-c", setting]);
  return ["mcp-server", ...settings, ...toFeatureFlags(config, AT)];
}

/** The first turn starts the thread; later ones continue it, and take only text. */
export function toToolCall(
  options: CodexOptions,
  threadId: string | undefined,
  message: UserMessage,
): JsonObject {
  const prompt = toPrompt(message);
  if (threadId !== undefined) return { name: "codex-reply", arguments: { prompt, threadId } };
  // Translation and process: not the tool's.
  const { include_raw_events: _raw, user_echo: _echo, own_process: _own, ...own } = options;
  return { name: "codex", arguments: { prompt, ...omitNulls(own) } };
}

/** Its text blocks, concatenated: the tools of `mcp-server` accept only text. */
function toPrompt({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  const texts = content.map((block, index) => {
    const at = `/message/content/${index}`;
    if (block.type === "text") return requireString(block, "text", at);
    const advice = "codex mcp-server accepts only text; use Codex 0.154 or newer (app-server)";
    throw messageError(`${at}: a block of type ${block.type}: ${advice}`);
  });
  return texts.join("");
}
