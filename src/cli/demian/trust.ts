// `demian trust`: what of a workspace and of ~/.demian needs somebody's trust, who has it, and how it is given and taken.
// Nothing of it is run here.
import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { type Place, whyNoTrust } from "../../runtime/config/scope.ts";
import { decideTrust, forgetTrust } from "../../runtime/config/trust.ts";
import { listTrustables, type Trustable } from "../../runtime/config/trustable.ts";
import { type Arguments, UsageError } from "../command.ts";
import { table } from "../output.ts";
import type { Context } from "./command.ts";
import { orderOf } from "./order.ts";
import { askYes } from "./trust-ask.ts";
import { contentLines, dayOf, sizeOf, stateText } from "./trust-text.ts";

type Deed = "trusted" | "refused" | "revoked";

export async function runTrust(given: Arguments, context: Context): Promise<number> {
  const deed = deedOf(given);
  const place = await placeOf(given, context);
  const files = await found(given, place, context);
  if (given.flags["names"]) return listNames(files, context);
  if (deed === undefined) return list(files, context);
  const chosen =
    given.flags["all"] === true ? filesForAll(files, deed) : await pick(given.words, files, context);
  const problem = await whyNoTrust(place);
  if (problem !== undefined) throw new CodedError("state_unusable", problem);
  return deed === "trusted" ? trust(chosen, given, context) : decide(chosen, deed, context);
}

/** Undefined: only look. */
function deedOf({ flags, words }: Arguments): Deed | undefined {
  const [isRefused, isRevoked, isAll] = ["refuse", "revoke", "all"].map((name) => flags[name] === true);
  if (isRefused && isRevoked) throw new UsageError("give --refuse or --revoke, not both");
  if (isAll && words.length > 0) throw new UsageError("give files or --all, not both");
  const deed = isRefused ? "refused" : isRevoked ? "revoked" : "trusted";
  if (words.length > 0 || isAll) return deed;
  if (deed !== "trusted") throw new UsageError(`--${isRefused ? "refuse" : "revoke"} needs a file, or --all`);
  if (flags["yes"]) throw new UsageError("--yes needs a file, or --all");
  return undefined;
}

async function placeOf(given: Arguments, { io }: Context): Promise<Place> {
  const { cwd } = orderOf(given, io.cwd);
  const real = await realpath(cwd).catch((cause: unknown) => {
    throw new CodedError("bad_cwd", `the working directory ${cwd} does not exist`, { cause });
  });
  return { cwd: real, env: io.env };
}

async function found(given: Arguments, place: Place, { io, output }: Context): Promise<Trustable[]> {
  const { configPath } = orderOf(given, io.cwd);
  const userTools = await loadConfig({
    ...place,
    ...(configPath === undefined ? {} : { configPath }),
  })
    .then(({ config }) => config.trust.userTools)
    .catch((error: unknown) => {
      output.note(`! ${sanitizeLine(messageOf(error))}`);
      return false;
    });
  const { files, faults } = await listTrustables(place, { userTools });
  for (const fault of faults) output.note(`! ${sanitizeLine(fault)}`);
  return files;
}

async function list(files: readonly Trustable[], { output, isJson }: Context): Promise<number> {
  if (isJson) {
    await output.json(files.map(documentOf));
    return 0;
  }
  if (files.length === 0) {
    output.note(
      "nothing here needs trust: no .demian/config.json, agents or tools, and none in ~/.demian/tools",
    );
    return 0;
  }
  const rows = files.map((file) => [
    stateText(file),
    file.kind,
    file.sha256.slice(0, 12),
    file.decidedAtMs === undefined ? "-" : dayOf(file.decidedAtMs),
    file.path,
  ]);
  for (const line of table([["STATE", "KIND", "SHA-256", "SINCE", "FILE"], ...rows], output.columns))
    await output.line(line);
  if (files.some(({ state }) => state === "unknown" || state === "changed"))
    output.note("look at a file and trust it as it is now: demian trust FILE");
  return 0;
}

/** For completion, as one types them. Shells carry out what they find in others: such a name is not offered. */
async function listNames(files: readonly Trustable[], { output, io }: Context): Promise<number> {
  for (const { path } of files) {
    const below = relative(io.cwd, path);
    const name = below.startsWith("..") ? path : below;
    if (isPlainWord(name)) await output.line(name);
  }
  return 0;
}

/** All that waits for a decision; what was decided already stays so. */
function filesForAll(files: readonly Trustable[], deed: Deed): Trustable[] {
  return files.filter(({ state }) =>
    deed === "revoked" ? state !== "unknown" : state === "unknown" || state === "changed",
  );
}

async function pick(
  words: readonly string[],
  files: readonly Trustable[],
  { io }: Context,
): Promise<Trustable[]> {
  const found = await Promise.all(
    words.map(async (word) => {
      const path = resolve(io.cwd, word);
      const real = await realpath(path).catch(() => path);
      const file = files.find((one) => one.path === real || one.path === path);
      if (file !== undefined) return file;
      const known = files.map((one) => one.path).join(", ") || "there are none here";
      throw new CodedError("unknown_file", `${path} is no file that needs trust: ${known}`);
    }),
  );
  return [...new Set(found)];
}

async function trust(chosen: readonly Trustable[], given: Arguments, context: Context): Promise<number> {
  const { output, isJson, io } = context;
  const isSure = given.flags["yes"] === true;
  const waiting = chosen.filter(({ state }) => state !== "trusted");
  if (waiting.some(({ state }) => state === "gone"))
    throw new CodedError(
      "unknown_file",
      `${waiting.find(({ state }) => state === "gone")?.path} is not there any more`,
    );
  if (!isSure && waiting.length > 0 && (isJson || io.stdin.isTTY !== true))
    throw new UsageError("nobody can be asked here: look at the file, then add --yes");
  const agreed: Trustable[] = [];
  for (const file of waiting) {
    if (!isJson) output.ask(shownFile(file, output.talkColumns).join("\n"));
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

/** Whose content was shown is whose hash is kept: a file that changed meanwhile is not what was agreed to. */
async function decide(
  files: readonly Trustable[],
  deed: Deed,
  { output, isJson }: Context,
  before: readonly Trustable[] = [],
): Promise<number> {
  for (const { path, sha256, kind, scope } of files) {
    const isDone =
      deed === "revoked"
        ? await forgetTrust(scope.trustDirectory, path)
        : await decideTrust(scope.trustDirectory, [{ path, sha256, kind }], deed, Date.now()).then(
            () => true,
          );
    if (isDone && !isJson) await output.line(`${deed} ${sanitizeLine(path)}`);
    if (!isDone) output.note(`nothing was decided about ${sanitizeLine(path)}`);
  }
  if (isJson) {
    const states = [...files.map((file) => ({ ...file, state: deed })), ...before];
    await output.json(states.map(({ path, kind, sha256, state }) => ({ path, kind, sha256, state })));
  } else if (files.length === 0) {
    output.note(before.length > 0 ? "already trusted as it is" : "nothing to do");
  }
  return 0;
}

export function shownFile(file: Trustable, columns: number): string[] {
  const { path, kind, scope, state, sha256, bytes } = file;
  return [
    `${kind} of the ${scope.name}: ${sanitizeLine(path)}`,
    `  ${sizeOf(bytes)}, sha256 ${sha256}${state === "changed" ? ", changed since it was trusted" : ""}`,
    ...contentLines(file, columns),
  ];
}

function documentOf({
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
    ...(decidedAtMs === undefined ? {} : { decidedAtMs }),
    ...(isTrustedByConfig ? { isTrustedByConfig } : {}),
  };
}
