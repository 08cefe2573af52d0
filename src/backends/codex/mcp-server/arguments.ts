// `options.codex.*` → the command line of `codex mcp-server` and the arguments of its two tools.
import { CodedError } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { withoutNul } from "../../argv.ts";

const OPTIONS_AT = "/options/codex";
const AT = `${OPTIONS_AT}/config`;
/** Options that the tool `codex` takes under the same name. */
const TOOL_OPTIONS = [
  "model",
  "profile",
  "cwd",
  "sandbox",
  "approval-policy",
  "base-instructions",
  "developer-instructions",
  "compact-prompt",
  "config",
];

/** Options that only the app-server supports. `own_process` is not among them: here every session has its own. */
const TOO_NEW = ["effort", "collaboration_mode", "output_schema"];

/** No client option is dropped silently. The transport may be known only at start. */
export function refuseNewOptions(options: JsonObject): void {
  const key = isObject(options["approval-policy"])
    ? "approval-policy"
    : TOO_NEW.find((name) => options[name] !== undefined && options[name] !== null);
  if (key === undefined) return;
  const what = key === "approval-policy" ? "a granular policy is" : "is";
  throw new CodedError(
    "invalid_message",
    `${OPTIONS_AT}/${key}: ${what} not supported by codex mcp-server; leave it out or use Codex 0.154 or newer`,
  );
}

/** Everything after the program's name. Throws `unsafe_flag` or `invalid_message`. */
export function mcpArgv(options: JsonObject): string[] {
  const config = isObject(options["config"]) ? options["config"] : {};
  const { features, ...settings } = config;
  return [
    "mcp-server",
    ...Object.entries(settings).flatMap(([key, value]) => [
      "-c",
      `${checkName(key, AT)}=${formatSetting(key, value)}`,
    ]),
    ...Object.entries(isObject(features) ? features : {}).flatMap(([name, isOn]) => [
      isOn ? "--enable" : "--disable",
      checkName(name, `${AT}/features`),
    ]),
  ];
}

export interface ToolCall {
  name: "codex" | "codex-reply";
  arguments: JsonObject;
}

/** The first turn starts the thread; later ones continue it, and take only text. */
export function toolCall(options: JsonObject, threadId: string | undefined, message: UserMessage): ToolCall {
  const prompt = makePrompt(message);
  if (threadId !== undefined) return { name: "codex-reply", arguments: { prompt, threadId } };
  const set = TOOL_OPTIONS.filter((key) => options[key] !== undefined && options[key] !== null);
  return {
    name: "codex",
    arguments: { prompt, ...Object.fromEntries(set.map((key) => [key, options[key]])) },
  };
}

/** Its text blocks, concatenated: the tools of `mcp-server` accept only text. */
function makePrompt({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((block, index) => {
      const at = `/message/content/${index}`;
      if (block.type !== "text") {
        const advice = "codex mcp-server accepts only text; use Codex 0.154 or newer (app-server)";
        throw new CodedError("invalid_message", `${at}: a block of type ${block.type}: ${advice}`);
      }
      if (typeof block["text"] !== "string") {
        throw new CodedError("invalid_message", `${at}/text: expected a string`);
      }
      return block["text"];
    })
    .join("");
}

function checkName(name: string, at: string): string {
  if (name.startsWith("-")) {
    throw new CodedError("unsafe_flag", `${at}/${name}: a name that starts with "-" would be read as a flag`);
  }
  if (name === "" || name.includes("=")) {
    throw new CodedError("invalid_message", `${at}/${name}: expected a name without "="`);
  }
  return withoutNul(name, `${at}/${name}`);
}

function formatSetting(key: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return withoutNul(text, `${AT}/${key}`);
}
