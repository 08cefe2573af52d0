// Agents from files: `agents/NAME.md` of the user and of the project. The front matter has the fields of
// `config.agents`, the text below it is the system prompt. A faulty file is skipped and reported with its line; the
// others work.
import { toMessage } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { decodeFile } from "../config/bounded-file.ts";
import { explainIssue } from "../config/check.ts";
import { limitWarnings } from "../config/fewer.ts";
import { restrictAgent } from "../config/project-agents.ts";
import { AgentConfig, Anthropic, type DemianConfig, OpenAICompatible } from "../config/schema.ts";
import type { ScopeFile } from "../config/scope.ts";
import { explainHowToTrust } from "../config/trust.ts";
import { type FrontMatter, parseFrontMatter } from "./front-matter.ts";
import { LineFault } from "./line-fault.ts";
import type { RegistrySource } from "./types.ts";

export interface FileAgent {
  name: string;
  config: AgentConfig;
  source: RegistrySource & { path: string };
  /** Locates a field in the file. */
  lineOf(path: readonly PropertyKey[]): number;
}

export interface AgentFilesOrder {
  config: DemianConfig;
  isTrusted: boolean;
  /** All tool names, and the trusted ones of this project. */
  toolNames: readonly string[];
  projectTools: readonly string[];
}

const MAX_FAULTS = 5;
const ELSEWHERE =
  "URLs, keys and models belong in `providers` of the configuration; refer to one with `provider: { profile: … }`";
/** Fields that would redirect an agent's requests; an agent may not set them. */
const PROVIDER_FIELDS = new Set(
  [
    ...Object.keys(OpenAICompatible.shape),
    ...Object.keys(Anthropic.shape),
    "endpoint",
    "url",
    "credentials",
  ].filter((key) => key !== "type"),
);

/** Undefined: skipped; `warnings` says why. */
export async function readAgentFile(
  file: ScopeFile,
  order: AgentFilesOrder,
  warnings: string[],
): Promise<FileAgent | undefined> {
  const { path, stem, scope } = file;
  try {
    const matter = await parseFrontMatter(decodeFile(file));
    const checked = checkAgent(matter, stem);
    const config =
      scope.name === "user" ? checked : restrictToProject(checked, file, matter, order, warnings);
    const source = { scope: scope.name, path, trusted: scope.name === "user" || order.isTrusted };
    return { name: stem, config, source, lineOf: matter.lineOf };
  } catch (error) {
    const place = error instanceof LineFault ? `${path}:${error.line}: ` : "";
    warnings.push(`${place}${toMessage(error)}; the agent is ignored`);
    return undefined;
  }
}

function checkAgent({ value, body, bodyLine, lineOf }: FrontMatter, stem: string): AgentConfig {
  checkProvider(value, lineOf);
  const { prompt = {}, ...rest } = value;
  if (!isObject(prompt)) throw new LineFault(lineOf(["prompt"]), PROMPT_BELOW);
  if ("system" in prompt) throw new LineFault(lineOf(["prompt", "system"]), PROMPT_BELOW);
  if (body.trim() === "")
    throw new LineFault(bodyLine, "there is no text below the front matter; it is the system prompt");
  const given: JsonObject = { ...rest, prompt: { ...prompt, system: body.trim() } };
  const checked = AgentConfig.safeParse(given);
  if (!checked.success) throw toFault(checked.error.issues, given, lineOf);
  const { name = stem } = checked.data;
  if (name !== stem)
    throw new LineFault(
      lineOf(["name"]),
      `its "name" is "${name}", but the file is ${stem}.md; make them the same`,
    );
  const isName = AgentConfig.shape.name.safeParse(stem);
  if (!isName.success) throw new LineFault(1, `"${stem}" is not a valid name: use letters, digits, _ and -`);
  return checked.data;
}

const PROMPT_BELOW =
  "the system prompt is the text below the front matter; only `prompt: { append: … }` is allowed here";

function checkProvider(value: JsonObject, lineOf: FrontMatter["lineOf"]): void {
  const field = Object.keys(value).find((key) => PROVIDER_FIELDS.has(key));
  if (field !== undefined)
    throw new LineFault(lineOf([field]), `"${field}" cannot be set by an agent: ${ELSEWHERE}`);
  const { provider } = value;
  if (typeof provider === "string")
    throw new LineFault(lineOf(["provider"]), `write \`provider: { profile: ${provider} }\``);
  const inline = isObject(provider)
    ? Object.keys(provider).find((key) => key !== "profile" && key !== "inheritRoot")
    : undefined;
  if (inline !== undefined)
    throw new LineFault(
      lineOf(["provider", inline]),
      `"provider.${inline}" cannot be set by an agent: ${ELSEWHERE}`,
    );
}

type Issues = readonly Parameters<typeof explainIssue>[0][];

/** All issues in one message, with the line of the first. */
function toFault(issues: Issues, given: JsonObject, lineOf: FrontMatter["lineOf"]): LineFault {
  const faults = issues.slice(0, MAX_FAULTS).flatMap((issue) => {
    const prefix = ["agents", "agent"];
    const texts = explainIssue({ ...issue, path: [...prefix, ...issue.path] }, { agents: { agent: given } });
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
    return texts.map((text, at) => ({
      line: lineOf(keys[at] === undefined ? issue.path : [...issue.path, keys[at]]),
      text: text.replace("/agents/agent", ""),
    }));
  });
  const sorted = faults.sort((a, b) => a.line - b.line);
  const [first, ...more] = sorted;
  const rest = more.slice(0, MAX_FAULTS - 1).map(({ line, text }) => `line ${line}: ${text}`);
  const left = Math.max(0, faults.length - MAX_FAULTS) + Math.max(0, issues.length - MAX_FAULTS);
  if (left > 0) rest.push(`and ${left} more`);
  return new LineFault(first?.line ?? 1, [first?.text ?? "not a valid agent", ...rest].join("; "));
}

/** It comes with a repository: its prompt is used, but it cannot grant itself rights (config/project-agents.ts). */
function restrictToProject(
  config: AgentConfig,
  { path }: ScopeFile,
  { lineOf }: FrontMatter,
  order: AgentFilesOrder,
  warnings: string[],
): AgentConfig {
  // An unknown tool name is a mistake that is reported later; a tool the project may not use is refused here.
  const mistaken = config.tools.visible.filter((name) => !order.toolNames.includes(name));
  const moreTools = [...order.projectTools, ...mistaken];
  const refused: string[] = [];
  const kept = restrictAgent(
    config,
    { base: order.config, isTrusted: order.isTrusted, howToTrust: explainHowToTrust(path), moreTools },
    (key, why, instead = "move the agent to ~/.demian/agents") => {
      const line = lineOf(key.split(/[./]/));
      refused.push(`${path}:${line}: "${key}" is ignored: ${why}. If you want it, ${instead}`);
    },
  );
  warnings.push(...limitWarnings(refused, path));
  return AgentConfig.parse(kept);
}
