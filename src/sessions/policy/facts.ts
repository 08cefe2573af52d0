// Collects what a decision needs to know about a request: the words of its command, the program, and where its files
// really are. Anything unexpected in a request is a reason not to allow it.
import { resolve } from "node:path";
import { type ExecutableContext, findExecutable, SHARED_DIRS } from "../../base/commands/executables.ts";
import { Lookups } from "../../base/commands/lookups.ts";
import { parsePlain } from "../../base/commands/plain.ts";
import { BUILTINS } from "../../base/commands/programs.ts";
import { type ResolvedPath, resolveDirectory, resolvePath } from "../../base/commands/resolve-path.ts";
import { asObject, asStrings, asText, defined } from "../../base/values.ts";
import type { RequestPayload, RequestRow } from "../../protocol/requests.ts";
import type { RequestFacts } from "./types.ts";

export interface FactsContext {
  /** The PATH that agents get. */
  path: string | undefined;
  /** Where the session started. */
  cwd: string | undefined;
  /** Shared by requests that are judged at the same time. */
  lookups?: Lookups;
  /** Whether the places of a command's words matter; default: yes. */
  wantsWords?(argv: readonly string[]): boolean;
}

/** Fields of a tool's input that name a file or directory. */
const PATH_FIELDS = ["file_path", "filePath", "path", "notebook_path", "directory", "dir"];
/** Fields of a tool's input that are text, whatever it looks like. */
const CONTENT_FIELD =
  /^(content|contents|text|body|old_?string|new_?string|old_?text|new_?text|description)$/i;
/** Fields with a pattern of names or of text: a path only if it leads out of the directory. */
const PATTERN_FIELD = /^(pattern|glob|include|exclude|query|regex)$/i;
/** Fields that name a place even without a slash. */
const PLACE_FIELD =
  /(^|_)(dest(ination)?|target|to|from|src|source|out(put)?|files?|file_?names?|paths?|dirs?|folders?|root|link)$/i;
/** Fields next to a command that do not change what it does. */
const COMMAND_FIELDS: ReadonlySet<string> = new Set(
  "command description timeout timeoutMs timeout_ms cwd workdir run_in_background".split(" "),
);
/** Fields of a file change that only describe it. Others may grant more. */
const GRANT_FIELD = /grant|permission|sandbox/i;
/** A tool with such a field runs code, whatever it is called. */
const CODE_FIELD = /^(command|commands|cmd|argv|code|script|shell|expression|eval|program)$/i;
/** A longer command fits no template. */
const MAX_WORDS = 100;
/** A login shell with the command as one argument, as some agents run every command. */
const SHELL_PATH = /^\/(usr\/|usr\/local\/|opt\/homebrew\/)?bin\/(bash|sh|zsh|dash)$/;

/** A request, stored or not. */
export type JudgedRequest = Pick<RequestRow, "backend" | "request_type" | "payload" | "path">;

export async function collectFacts(row: JudgedRequest, context: FactsContext): Promise<RequestFacts> {
  const { backend, request_type, payload } = row;
  const argv = request_type === "command" ? findArgv(payload) : undefined;
  // A shell that keeps its directory may have moved since.
  const sure = payload.cwd_may_differ === true ? undefined : payload.cwd;
  const { lookups = new Lookups(), wantsWords } = context;
  const find = createResolver(lookups);
  const program = argv?.[0];
  const isWanted = argv !== undefined && wantsWords?.(argv) !== false;
  const [cwd, executable, paths, words] = await Promise.all([
    sure === undefined ? toUncertain(payload.cwd) : findDirectory(lookups, sure),
    program === undefined ? undefined : findProgram(program, sure, { ...context, lookups }),
    Promise.all(listPaths(row).map((path) => find(path, undefined))),
    isWanted ? resolveWords(argv, sure, find) : new Map<string, ResolvedPath>(),
  ]);
  return {
    backend,
    request_type,
    ...defined({ tool: payload.tool_name, input: payload.input, argv, executable, cwd }),
    ...defined({ fault: findFault(row) }),
    paths,
    words,
  };
}

/** Enough to deny, not to allow. */
function toUncertain(cwd: string | undefined): ResolvedPath | undefined {
  return cwd === undefined ? undefined : { lexical: resolve(cwd) };
}

type Resolve = typeof resolvePath;

function createResolver(lookups: Lookups): Resolve {
  return (path, cwd) => lookups.share(`path ${JSON.stringify([path, cwd])}`, () => resolvePath(path, cwd));
}

/** Absolute. */
export function findDirectory(lookups: Lookups, path: string): Promise<ResolvedPath> {
  return lookups.share(`directory ${path}`, () => resolveDirectory(path, undefined));
}

/** The words of the command, without the shell that an agent runs every command in. */
function findArgv({ command, input }: RequestPayload): string[] | undefined {
  if (command === undefined) return undefined;
  const words = parsePlain(command);
  const given = asObject(input)["command"];
  // Shown as text, but run as a list: only certain if both say the same.
  if (Array.isArray(given)) {
    const list = asStrings(given);
    const isSame = words?.length === given.length && words.every((word, at) => word === list[at]);
    if (!isSame) return undefined;
  }
  const [shell = "", flag, inner, ...more] = words ?? [];
  if (!SHELL_PATH.test(shell) || (flag !== "-c" && flag !== "-lc") || inner === undefined || more.length > 0)
    return words;
  return parsePlain(inner);
}

async function findProgram(
  name: string,
  cwd: string | undefined,
  { lookups, ...context }: FactsContext & { lookups: Lookups },
): Promise<string | undefined> {
  if (!name.includes("/") && BUILTINS.has(name)) return undefined;
  const writable = [...SHARED_DIRS, ...[context.cwd, cwd].filter((dir) => dir !== undefined)];
  const real = await Promise.all(writable.map((dir) => findDirectory(lookups, dir)));
  const where: ExecutableContext = {
    cwd,
    writable: [...writable, ...real.flatMap((path) => path.real ?? [])],
    ...{ path: context.path, lookups },
  };
  return findExecutable(name, where);
}

/** Words that are no options. Most are no paths either; whether one should be is the rule's choice. */
async function resolveWords(
  [, ...words]: readonly string[],
  cwd: string | undefined,
  find: Resolve,
): Promise<Map<string, ResolvedPath>> {
  const names = [...new Set(words.filter((word) => !word.startsWith("-")))].slice(0, MAX_WORDS);
  return new Map(
    await Promise.all(
      names.map(async (word): Promise<[string, ResolvedPath]> => [word, await find(word, cwd)]),
    ),
  );
}

function listPaths({ request_type, payload }: JudgedRequest): string[] {
  if (request_type === "file_change") {
    return (payload.changes ?? []).flatMap(({ path, move_path }) => [
      path,
      ...(move_path ? [move_path] : []),
    ]);
  }
  if (request_type !== "tool") return [];
  const input = asObject(payload.input);
  const locations = asStrings(asObject(payload.details)["locations"]);
  const others = Object.entries(input)
    .filter(([name]) => !PATH_FIELDS.includes(name))
    .flatMap(([name, value]) => listStrings(value).filter((text) => maybePath(name, text)));
  return [...PATH_FIELDS.flatMap((name) => asText(input[name]) ?? []), ...others, ...locations];
}

function listStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listStrings) : [];
}

/** A tool may use more fields as paths than we know. */
function maybePath(name: string, text: string): boolean {
  if (CONTENT_FIELD.test(name)) return false;
  if (/(^|[\\/])\.\.([\\/]|$)|(^|[{,(|])[/~\\]/.test(text)) return true;
  return !PATTERN_FIELD.test(name) && (PLACE_FIELD.test(name) || /[\\/]/.test(text));
}

/** Why no rule can allow the request. */
function findFault(row: JudgedRequest): string | undefined {
  const { request_type, payload } = row;
  const { input, tool_name, command, changes = [], choices } = payload;
  // Only the choice without an option covers exactly what was asked.
  const accept = choices.find(({ decision, option }) => decision === "accept" && option === undefined);
  if (accept === undefined) return "the request offers no plain accept";
  if (accept.remembers !== undefined || accept.writes !== undefined)
    return "accepting it would also remember or write something";
  const fields = Object.keys(asObject(input));
  if (request_type === "command") {
    if (command === undefined || tool_name === undefined) return "the request is not only about a command";
    const other = fields.find((name) => !COMMAND_FIELDS.has(name));
    if (other !== undefined) return `rules do not know the field ${other} of the command's input`;
    return hasOtherSubject(row) ? "the agent's title names something besides the command" : undefined;
  }
  if (request_type === "file_change") {
    if (changes.length === 0) return "the files are not known";
    const grant = fields.find((name) => GRANT_FIELD.test(name));
    return grant === undefined ? undefined : `it asks for more than these changes (${grant})`;
  }
  const code = fields.find((name) => CODE_FIELD.test(name));
  return code === undefined ? undefined : `its input has ${code}, which a rule for a tool cannot judge`;
}

/** Some agents ask for something else, such as network access, under a command's name; only the title says so. */
function hasOtherSubject({ path = [], payload }: JudgedRequest): boolean {
  const { details, command = "", tool_name = "", input } = payload;
  const title = asText(asObject(details)["title"]);
  if (title === undefined || title === asObject(input)["description"]) return false;
  const asker = path.map((name) => `${name} › `).join("");
  const said = title.startsWith(asker) ? title.slice(asker.length) : title;
  const rest = said.replace(command, "").trim();
  return !["", "``", "$", tool_name, `${tool_name}:`].includes(rest);
}
