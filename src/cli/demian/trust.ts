// `demian trust`: lists the files of a workspace and of ~/.demian that need trust, and records decisions. Runs none of
// them.
import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import { defined } from "../../base/values.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { explainNoTrust, type ScopePlace } from "../../runtime/config/scope.ts";
import { decideTrust, forgetTrust } from "../../runtime/config/trust.ts";
import { listTrustables, type Trustable } from "../../runtime/config/trustable.ts";
import { type Arguments, UsageError } from "../command.ts";
import { formatTable } from "../output.ts";
import type { DemianContext } from "./command.ts";
import { readOrder } from "./order.ts";
import { Screen } from "./screen.ts";
import { Terminal } from "./terminal.ts";
import { formatContent, formatDay, formatSize, formatState } from "./trust-text.ts";

type TrustAction = "trusted" | "refused" | "revoked";

export async function runTrust(given: Arguments, context: DemianContext): Promise<number> {
  const action = readAction(given);
  const place = await resolvePlace(given, context);
  const files = await findTrustables(given, place, context);
  if (given.flags["names"]) return listNames(files, context);
  if (action === undefined) return list(files, context);
  const chosen =
    given.flags["all"] === true ? filesForAll(files, action) : await pick(given.words, files, context);
  const problem = await explainNoTrust(place);
  if (problem !== undefined) throw new CodedError("state_unusable", problem);
  return action === "trusted" ? trust(chosen, given, context) : decide(chosen, action, context);
}

/** Undefined to list only. */
function readAction({ flags, words }: Arguments): TrustAction | undefined {
  const [isRefused, isRevoked, isAll] = ["refuse", "revoke", "all"].map((name) => flags[name] === true);
  if (isRefused && isRevoked) throw new UsageError("give --refuse or --revoke, not both");
  if (isAll && words.length > 0) throw new UsageError("give files or --all, not both");
  const action = isRefused ? "refused" : isRevoked ? "revoked" : "trusted";
  if (words.length > 0 || isAll) return action;
  if (action !== "trusted")
    throw new UsageError(`--${isRefused ? "refuse" : "revoke"} needs a file, or --all`);
  if (flags["yes"]) throw new UsageError("--yes needs a file, or --all");
  return undefined;
}

async function resolvePlace(given: Arguments, { io }: DemianContext): Promise<ScopePlace> {
  const { cwd } = readOrder(given, io.cwd);
  const real = await realpath(cwd).catch((cause: unknown) => {
    throw new CodedError("bad_cwd", `the working directory ${cwd} does not exist`, { cause });
  });
  return { cwd: real, env: io.env };
}

async function findTrustables(
  given: Arguments,
  place: ScopePlace,
  { io, output }: DemianContext,
): Promise<Trustable[]> {
  const { configPath } = readOrder(given, io.cwd);
  const settings = await loadConfig({
    ...place,
    ...defined({ configPath }),
  })
    .then(({ config: { trust, instructions } }) => {
      return { userTools: trust.userTools, instructions: instructions.enabled };
    })
    .catch((error: unknown) => {
      output.note(`! ${sanitizeLine(toMessage(error))}`);
      return { userTools: false };
    });
  const { files, faults } = await listTrustables(place, settings);
  for (const fault of faults) output.note(`! ${sanitizeLine(fault)}`);
  return files;
}

async function list(files: readonly Trustable[], { output, isJson }: DemianContext): Promise<number> {
  if (isJson) {
    await output.json(files.map(toJsonDocument));
    return 0;
  }
  if (files.length === 0) {
    output.note(
      "no files need trust: no .demian/config.json, agents, tools or AGENTS.md here, and no tools in ~/.demian/tools",
    );
    return 0;
  }
  const rows = files.map((file) => [
    formatState(file),
    file.kind,
    file.sha256.slice(0, 12),
    file.decidedAtMs === undefined ? "-" : formatDay(file.decidedAtMs),
    file.path,
  ]);
  for (const line of formatTable([["STATE", "KIND", "SHA-256", "SINCE", "FILE"], ...rows], output.columns))
    await output.line(line);
  if (files.some(({ state }) => state === "unknown" || state === "changed"))
    output.note("review and trust a file: demian trust FILE");
  return 0;
}

/** For completion. Leaves out names that a shell would expand or execute. */
async function listNames(files: readonly Trustable[], { output, io }: DemianContext): Promise<number> {
  for (const { path } of files) {
    const below = relative(io.cwd, path);
    const name = below.startsWith("..") ? path : below;
    if (isPlainWord(name)) await output.line(name);
  }
  return 0;
}

/** Files without a decision, or with --revoke those that have one. */
function filesForAll(files: readonly Trustable[], action: TrustAction): Trustable[] {
  return files.filter(({ state }) =>
    action === "revoked" ? state !== "unknown" : state === "unknown" || state === "changed",
  );
}

async function pick(
  words: readonly string[],
  files: readonly Trustable[],
  { io }: DemianContext,
): Promise<Trustable[]> {
  const findTrustables = await Promise.all(
    words.map(async (word) => {
      const path = resolve(io.cwd, word);
      const real = await realpath(path).catch(() => path);
      const file = files.find((one) => one.path === real || one.path === path);
      if (file !== undefined) return file;
      const known = files.map((one) => one.path).join(", ") || "none";
      throw new CodedError("unknown_file", `${path} does not need trust; files that do: ${known}`);
    }),
  );
  return [...new Set(findTrustables)];
}

async function trust(
  chosen: readonly Trustable[],
  given: Arguments,
  context: DemianContext,
): Promise<number> {
  const { output, isJson, io } = context;
  const isSure = given.flags["yes"] === true;
  const waiting = chosen.filter(({ state }) => state !== "trusted");
  if (waiting.some(({ state }) => state === "gone"))
    throw new CodedError(
      "unknown_file",
      `${waiting.find(({ state }) => state === "gone")?.path} no longer exists`,
    );
  if (!isSure && waiting.length > 0 && (isJson || io.stdin.isTTY !== true))
    throw new UsageError("there is no terminal to ask on; review the file, then add --yes");
  const agreed: Trustable[] = [];
  for (const file of waiting) {
    if (!isJson) output.ask(formatFile(file, output.talkColumns).join("\n"));
    if (isSure || (await askYes(`Trust exactly this ${file.kind}? [y/N] `, context))) agreed.push(file);
    else output.note(`not trusted: ${sanitizeLine(file.path)}`);
  }
  await decide(
    agreed,
    "trusted",
    context,
    chosen.filter(({ state }) => state === "trusted"),
  );
  return agreed.length === waiting.length ? 0 : 1;
}

/** Stores the hash of the content that was shown; a file that changed since is not trusted. */
async function decide(
  files: readonly Trustable[],
  action: TrustAction,
  { output, isJson }: DemianContext,
  before: readonly Trustable[] = [],
): Promise<number> {
  for (const { path, sha256, kind, scope } of files) {
    const isDone =
      action === "revoked"
        ? await forgetTrust(scope.trustDirectory, path)
        : await decideTrust(scope.trustDirectory, [{ path, sha256, kind }], action, Date.now()).then(
            () => true,
          );
    if (isDone && !isJson) await output.line(`${action} ${sanitizeLine(path)}`);
    if (!isDone) output.note(`no decision to revoke for ${sanitizeLine(path)}`);
  }
  if (isJson) {
    const states = [...files.map((file) => ({ ...file, state: action })), ...before];
    await output.json(states.map(({ path, kind, sha256, state }) => ({ path, kind, sha256, state })));
  } else if (files.length === 0) {
    output.note(before.length > 0 ? "already trusted" : "nothing to do");
  }
  return 0;
}

export function formatFile(file: Trustable, columns: number): string[] {
  const { path, kind, scope, state, sha256, bytes } = file;
  return [
    `${kind} of the ${scope.name}: ${sanitizeLine(path)}`,
    `  ${formatSize(bytes)}, sha256 ${sha256}${state === "changed" ? ", changed since it was trusted" : ""}`,
    ...formatContent(file, columns),
  ];
}

function toJsonDocument({
  path,
  kind,
  scope,
  state,
  sha256,
  bytes,
  decidedAtMs,
  isTrustedByConfig,
}: Trustable): object {
  return {
    path,
    kind,
    scope: scope.name,
    state: state === "unknown" ? "not_trusted" : state,
    sha256,
    ...(bytes === undefined ? {} : { bytes: bytes.length }),
    ...defined({ decidedAtMs }),
    ...(isTrustedByConfig ? { isTrustedByConfig } : {}),
  };
}

/** Anything but a typed yes is no. */
async function askYes(prompt: string, { io }: DemianContext): Promise<boolean> {
  const { stdin, stdout, stderr, env, isShared } = io;
  const screen = new Screen({ stdout, stderr, env, isShared });
  const terminal = new Terminal({ input: stdin, output: stderr, screen, env });
  try {
    const said = await terminal.ask({ prompt, isFresh: true });
    return said.kind === "line" && /^y(es)?$/i.test(said.text.trim());
  } finally {
    terminal.close();
  }
}
