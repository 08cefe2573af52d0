// apply_patch: adds, changes, moves and deletes several files in one step: all of it, or nothing.
import { createHash } from "node:crypto";
import * as z from "zod";
import { toMessage } from "../../base/coded-error.ts";
import { countChangedLines } from "../../base/diff.ts";
import type { FileChange, FileContent, Located, Workspace } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { checkWritable, formatPath, isProtected, toPathTarget } from "./guard.ts";
import { applyChunks } from "./patch/apply.ts";
import { type PatchFile, parsePatch, patchError } from "./patch/parse.ts";
import { checkSurrogates, decodeText, isBinary } from "./text.ts";
import { ToolError } from "./types.ts";
import { MAX_WRITE_BYTES } from "./write-file.ts";

const MAX_PATCH_CHARACTERS = 1024 * 1024;
const MAX_TITLE_PATHS = 3;

const Input = z.strictObject({
  patch: z
    .string()
    .min(1)
    .max(MAX_PATCH_CHARACTERS)
    .describe(
      '"*** Begin Patch", then per file "*** Add File: PATH" with "+" lines, "*** Delete File: PATH", or ' +
        '"*** Update File: PATH" (then optionally "*** Move to: PATH") with changes: "@@" and optionally a line above, ' +
        'then lines that start with " " (unchanged), "-" or "+". Last "*** End Patch".',
    ),
});

/** One file to write or remove. */
interface FileStep {
  located: Located;
  /** Absent: it is new. */
  old?: FileContent;
  /** Absent: it is removed. */
  newText?: string;
  /** Of a new file. */
  mode?: number;
}

export const applyPatchTool = defineTool({
  name: "apply_patch",
  description:
    "Changes several files at once: adds, edits, moves and deletes them. Either everything is applied, or nothing. " +
    "Give about three unchanged lines around each change. For one small change use edit_file.",
  input: Input,
  metadata: { sideEffect: "workspace", defaultDecision: "ask" },
  async plan({ patch }, { workspace }) {
    checkSurrogates(patch);
    const files = parsePatch(patch);
    const places = await locateAll(files, workspace);
    const plan = {
      title: formatPatchTitle(files),
      targets: places.map((located) => toPathTarget("write", located)),
    };
    // The write will be refused; until then, do not show the content.
    if (places.some(isProtected)) return plan;
    const planned = [];
    for (const file of files) planned.push(await planFile(file, workspace));
    const memo: FileStep[] = planned.flatMap(({ steps }) => steps);
    return { ...plan, changes: planned.map(({ change }) => change), memo };
  },
  async execute(_, plan, { workspace }) {
    const changes = plan.changes ?? [];
    for (const target of plan.targets) {
      if (target.kind === "path") checkWritable(await workspace.locate(target.lexical));
    }
    await applySteps(plan.memo as FileStep[], workspace);
    return { ok: true, content: changes.map(describeChange).join("\n"), metadata: { changes } };
  },
});

function formatPatchTitle(files: readonly PatchFile[]): string {
  const paths = files.map(({ path }) => formatPath(path));
  const more = paths.length > MAX_TITLE_PATHS ? `, … (${paths.length} files)` : "";
  return `apply_patch: ${paths.slice(0, MAX_TITLE_PATHS).join(", ")}${more}`;
}

/** Every file that is written or removed, each once. */
async function locateAll(files: readonly PatchFile[], workspace: Workspace): Promise<Located[]> {
  const places: Located[] = [];
  for (const file of files) {
    const paths =
      file.kind === "update" && file.moveTo !== undefined ? [file.path, file.moveTo] : [file.path];
    for (const path of paths) {
      const located = await workspace.locate(path);
      if (places.some(({ real }) => real === located.real))
        throw patchError(file.line, `${path} is named twice; put all changes of a file together`);
      places.push(located);
    }
  }
  return places;
}

async function planFile(
  file: PatchFile,
  workspace: Workspace,
): Promise<{ change: FileChange; steps: FileStep[] }> {
  const located = await workspace.locate(file.path);
  if (file.kind === "add") {
    checkMissing(file, file.path, located);
    return {
      change: { path: located.lexical, newText: file.content },
      steps: [{ located, newText: file.content }],
    };
  }
  const old = await workspace.read(file.path, { maxBytes: MAX_WRITE_BYTES });
  if (file.kind === "delete") {
    checkNoLink(file, located);
    const oldText = isBinary(old.bytes)
      ? `[binary, ${old.bytes.length} bytes]\n`
      : old.bytes.toString("utf8");
    return {
      change: { path: located.lexical, oldText, newText: "", isDeleted: true },
      steps: [{ located, old }],
    };
  }
  const oldText = decodeText(file.path, old.bytes);
  const newText = applyChunks(file.path, oldText, file.chunks);
  if (Buffer.byteLength(newText) > MAX_WRITE_BYTES)
    throw new ToolError("too_large", `${file.path} would be larger than ${MAX_WRITE_BYTES} bytes`);
  const change = { path: located.lexical, oldText, newText };
  if (file.moveTo === undefined) {
    if (newText === oldText) throw patchError(file.line, `${file.path} would not change`);
    return { change, steps: [{ located, old, newText }] };
  }
  const target = await workspace.locate(file.moveTo);
  checkNoLink(file, located);
  checkMissing(file, file.moveTo, target);
  return {
    change: { ...change, movedTo: target.lexical },
    steps: [
      { located: target, newText, mode: old.mode },
      { located, old },
    ],
  };
}

function checkMissing({ line }: PatchFile, path: string, located: Located): void {
  if (located.exists) throw patchError(line, `${path} already exists; use "*** Update File: ${path}"`);
}

/** Removing what a link leads to would leave the link. */
function checkNoLink({ line, path }: PatchFile, { lexical, real }: Located): void {
  if (lexical !== real) throw patchError(line, `${path} is a link to ${real}; name that file`);
}

async function applySteps(steps: readonly FileStep[], workspace: Workspace): Promise<void> {
  for (const { located, old } of steps) {
    // Most conflicts are found before anything is written.
    if (old !== undefined) await workspace.check(located.lexical, old.hash, located.real);
  }
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const step of steps) undo.push(await applyStep(step, workspace));
  } catch (error) {
    const left = await undoAll(undo);
    const rest =
      left.length === 0 ? "nothing was changed" : `not everything could be restored: ${left.join("; ")}`;
    const code = error instanceof ToolError ? error.code : "failed";
    throw new ToolError(code, `${toMessage(error)}; ${rest}`);
  }
}

/** Returns what takes it back. Empty directories stay. */
async function applyStep(
  { located: { lexical, real }, old, newText, mode }: FileStep,
  workspace: Workspace,
): Promise<() => Promise<void>> {
  if (newText === undefined) {
    const { hash = "", bytes = "", mode: before } = old ?? {};
    await workspace.remove(lexical, hash, real);
    return () => workspace.write(lexical, bytes, null, real, before);
  }
  await workspace.write(lexical, newText, old?.hash ?? null, real, mode);
  const hash = createHash("sha256").update(newText).digest("hex");
  if (old === undefined) return () => workspace.remove(lexical, hash, real);
  return () => workspace.write(lexical, old.bytes, hash, real);
}

/** Newest first. Returns the failures. */
async function undoAll(undo: readonly (() => Promise<void>)[]): Promise<string[]> {
  const left: string[] = [];
  for (const takeBack of undo.toReversed()) {
    await takeBack().catch((error: unknown) => left.push(toMessage(error)));
  }
  return left;
}

function describeChange({ path, oldText, newText, isDeleted, movedTo }: FileChange): string {
  const shown = formatPath(path);
  if (isDeleted) return `deleted ${shown}`;
  const { added, removed } = countChangedLines(oldText ?? "", newText);
  if (oldText === undefined) return `added ${shown} (+${added})`;
  const target = movedTo === undefined ? "" : ` to ${formatPath(movedTo)}`;
  return `${movedTo === undefined ? "changed" : "moved"} ${shown}${target} (+${added} −${removed})`;
}
