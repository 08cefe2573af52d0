// Collects what a decision needs to know about a request: the words of its command, the program, and where its files
// really are. Anything unexpected in a request is a reason not to allow it.
import { type ExecutableContext, findExecutable, SHARED_DIRS } from "../../base/commands/executables.ts";
import { parsePlain } from "../../base/commands/plain.ts";
import { BUILTINS } from "../../base/commands/programs.ts";
import { type ResolvedPath, resolvePath } from "../../base/commands/resolve-path.ts";
import { asObject, asStrings, asText, defined } from "../../base/values.ts";
import type { RequestPayload, RequestRow } from "../../protocol/requests.ts";
import type { RequestFacts } from "./types.ts";

export interface FactsContext {
  /** The PATH that agents get. */
  path: string | undefined;
  /** Where the session started. */
  cwd: string | undefined;
}

/** Fields of a tool's input that name a file or directory. */
const PATH_FIELDS = ["file_path", "filePath", "path", "notebook_path", "directory", "dir"];
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
  const sure = payload.cwd_may_differ === true ? undefined : (payload.cwd ?? undefined);
  const [cwd, executable, paths, words] = await Promise.all([
    payload.cwd === undefined ? undefined : resolvePath(payload.cwd, undefined),
    argv === undefined ? undefined : findProgram(argv, sure, context),
    Promise.all(listPaths(row).map((path) => resolvePath(path, undefined))),
    resolveWords(argv ?? [], sure),
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
  [name = ""]: readonly string[],
  cwd: string | undefined,
  context: FactsContext,
): Promise<string | undefined> {
  if (!name.includes("/") && BUILTINS.has(name)) return undefined;
  const writable = [...SHARED_DIRS, ...[context.cwd, cwd].filter((dir) => dir !== undefined)];
  const real = await Promise.all(writable.map((dir) => resolvePath(dir, undefined)));
  const where: ExecutableContext = {
    cwd,
    writable: [...writable, ...real.flatMap((path) => path.real ?? [])],
    path: context.path,
  };
  return findExecutable(name, where);
}

/** Words that are no options. Most are no paths either; whether one should be is the rule's choice. */
async function resolveWords(
  [, ...words]: readonly string[],
  cwd: string | undefined,
): Promise<Map<string, ResolvedPath>> {
  const names = [...new Set(words.filter((word) => !word.startsWith("-")))].slice(0, MAX_WORDS);
  return new Map(
    await Promise.all(
      names.map(async (word): Promise<[string, ResolvedPath]> => [word, await resolvePath(word, cwd)]),
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
  return [...PATH_FIELDS.flatMap((name) => asText(input[name]) ?? []), ...locations];
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
