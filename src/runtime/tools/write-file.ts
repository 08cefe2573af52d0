// write_file: creates or replaces a whole file.

import * as z from "zod";
import { countLines } from "../../base/diff.ts";
import type { FileChange, FileContent, Located, Workspace } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { checkWritable, formatPath, formatTitle, isProtected, toPathTarget } from "./guard.ts";
import { checkSurrogates, isBinary } from "./text.ts";
import { ToolError } from "./types.ts";

export const MAX_WRITE_BYTES = 10 * 1024 * 1024;

const Input = z.strictObject({
  path: z.string().min(1).describe("Path relative to the working directory, or absolute within it."),
  content: z.string().describe("The complete new content of the file."),
});

/** Hash of the file to replace; null: none. */
interface Memo {
  expected: string | null;
  located: Located;
}

export const writeFileTool = defineTool({
  name: "write_file",
  description:
    "Writes a whole file: creates it, with missing directories, or replaces it. " +
    "To change part of a file, use edit_file.",
  input: Input,
  metadata: { sideEffect: "workspace", defaultDecision: "ask" },
  async plan({ path, content }, { workspace }) {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_WRITE_BYTES) {
      throw new ToolError("too_large", `content has ${bytes} bytes; the limit is ${MAX_WRITE_BYTES}`);
    }
    checkSurrogates(content);
    const located = await workspace.locate(path);
    const plan = { title: formatTitle("write_file", located), targets: [toPathTarget("write", located)] };
    // The write will be refused; until then, do not show the content.
    if (isProtected(located)) return plan;
    if (located.isDirectory) throw new ToolError("not_a_file", `${path} is a directory; name a file in it`);
    const old = await readOld(workspace, path, located);
    const memo: Memo = { expected: old?.hash ?? null, located };
    return { ...plan, changes: [describeChange(located, old, content)], memo };
  },
  async execute({ path, content }, plan, { workspace }) {
    checkWritable(await workspace.locate(path));
    const { expected, located } = plan.memo as Memo;
    await workspace.write(path, content, expected, located.real);
    const size = `${countLines(content)} lines, ${Buffer.byteLength(content)} bytes`;
    const done = `${expected === null ? "created" : "replaced"} ${formatPath(located.lexical)} (${size})`;
    return { ok: true, content: done, metadata: { changes: plan.changes ?? [] } };
  },
});

async function readOld(
  workspace: Workspace,
  path: string,
  located: Located,
): Promise<FileContent | undefined> {
  if (!located.exists) return undefined;
  return workspace.read(path, { maxBytes: MAX_WRITE_BYTES });
}

function describeChange({ lexical }: Located, old: FileContent | undefined, newText: string): FileChange {
  if (old === undefined) return { path: lexical, newText };
  const oldText = isBinary(old.bytes) ? `[binary, ${old.bytes.length} bytes]` : old.bytes.toString("utf8");
  return { path: lexical, oldText, newText };
}
