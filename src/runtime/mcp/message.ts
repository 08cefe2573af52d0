// What a message of the user takes from servers: `/server:prompt` is replaced by the prompt, and the content of
// `@server:uri` is added after the text, as data.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { cutExcerpt } from "../../base/excerpt.ts";
import type { TurnInput } from "../session-types.ts";
import type { McpHub } from "./hub.ts";
import type { McpPrompt } from "./types.ts";

const MAX_PROMPT_CHARS = 100_000;
const MAX_RESOURCE_CHARS = 32_768;
const MAX_MENTIONS = 10;
const COMMAND = /^\/([A-Za-z][\w-]*):([\w.-]+)(?:\s+([\s\S]*))?$/;
const MENTION = /(?<=^|[\s(])@([A-Za-z][\w-]*):([A-Za-z][\w+.-]*:[!-~]+)/g;
const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** The same object if it uses no server. Throws `mcp_prompt` and `mcp_resource`, with the reason. */
export async function expandMessage(input: TurnInput, hub: McpHub, signal: AbortSignal): Promise<TurnInput> {
  const [, server = "", name = "", rest = ""] = COMMAND.exec(input.text.trim()) ?? [];
  const prompt = hub.find(server)?.offer?.prompts.find((one) => one.name === name);
  if (prompt !== undefined) {
    const text = await readPrompt(hub, { server, prompt, words: splitWords(rest) }, signal);
    return { ...input, text };
  }
  const resources = await readMentions(input.text, hub, signal);
  if (resources.length === 0) return input;
  return { ...input, parts: [...(input.parts ?? []), { type: "text", text: resources.join("\n\n") }] };
}

async function readPrompt(
  hub: McpHub,
  { server, prompt, words }: { server: string; prompt: McpPrompt; words: string[] },
  signal: AbortSignal,
): Promise<string> {
  const given: Record<string, string> = {};
  for (const [at, { name, required }] of prompt.arguments.entries()) {
    // The last one takes the rest.
    const word = at === prompt.arguments.length - 1 ? words.slice(at).join(" ") : words[at];
    if (word !== undefined && word !== "") given[name] = word;
    else if (required)
      throw new CodedError("mcp_prompt", `/${server}:${prompt.name} needs ${name}; nothing was sent`);
  }
  try {
    const text = await hub
      .find(server)
      ?.use({ signal }, (client, limits) => client.getPrompt(prompt.name, given, limits));
    return cutExcerpt(text ?? "", MAX_PROMPT_CHARS);
  } catch (cause) {
    const message = `/${server}:${prompt.name} could not be read: ${toMessage(cause)}; nothing was sent`;
    throw new CodedError("mcp_prompt", message, { cause });
  }
}

async function readMentions(text: string, hub: McpHub, signal: AbortSignal): Promise<string[]> {
  const found = [...text.matchAll(MENTION)].flatMap(([, server = "", written = ""]) => {
    const resources = hub.find(server)?.offer?.resources;
    if (resources === undefined) return [];
    // A full stop after it may end the sentence.
    const plain = written.replace(/[.,;:!?)\]]+$/, "");
    const uri = resources.some((one) => one.uri === written) ? written : plain;
    return [{ server, uri }];
  });
  const chosen = found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at);
  return Promise.all(chosen.slice(0, MAX_MENTIONS).map((one) => readResource(one, hub, signal)));
}

async function readResource(
  { server, uri }: { server: string; uri: string },
  hub: McpHub,
  signal: AbortSignal,
): Promise<string> {
  try {
    const text = await hub
      .find(server)
      ?.use({ signal }, (client, limits) => client.readResource(uri, limits));
    const safe = cutExcerpt(text ?? "", MAX_RESOURCE_CHARS).replaceAll(/<(?=\/?mcp_resource)/gi, "‹");
    return `<mcp_resource server="${server}" uri=${JSON.stringify(uri)}>\n${safe}\n</mcp_resource>`;
  } catch (cause) {
    const message = `@${server}:${uri} could not be read: ${toMessage(cause)}; nothing was sent`;
    throw new CodedError("mcp_resource", message, { cause });
  }
}

function isSame(a: { server: string; uri: string }, b: { server: string; uri: string }): boolean {
  return a.server === b.server && a.uri === b.uri;
}

function splitWords(text: string): string[] {
  return [...text.matchAll(WORD)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}
