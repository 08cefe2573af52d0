// Parses the "*** Begin Patch" format that some models write into file changes.
import { defined } from "../../base/values.ts";
import type { FileChange } from "../../protocol/requests.ts";

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const KINDS = { Add: "add", Update: "update", Delete: "delete" } as const;

interface Part {
  path: string;
  kind: FileChange["kind"];
  move_path?: string;
  lines: string[];
}

export function parsePatch(patch: string): FileChange[] {
  const parts: Part[] = [];
  for (const line of patch.split("\n")) {
    const [, verb, path] = FILE.exec(line) ?? [];
    const part = parts.at(-1);
    if (verb !== undefined && path !== undefined)
      parts.push({ path: path.trim(), kind: KINDS[verb as keyof typeof KINDS], lines: [] });
    else if (part === undefined || line.startsWith("*** End")) continue;
    else if (MOVE.test(line)) part.move_path = MOVE.exec(line)?.[1]?.trim() ?? "";
    else part.lines.push(line);
  }
  return parts.map(({ path, kind, move_path, lines }) => ({
    path,
    kind,
    ...(lines.length === 0 ? {} : { diff: (kind === "add" ? ["@@", ...lines] : lines).join("\n").trimEnd() }),
    ...defined({ move_path }),
  }));
}
