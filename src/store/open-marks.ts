// Opens the file of seq marks. If it cannot be used, the daemon runs without.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { toMessage } from "../base/coded-error.ts";
import { nodeFileSystem } from "./disk/file-system.ts";
import { SeqMarks } from "./seq-marks.ts";
import type { Recovery } from "./types.ts";

export function tryOpenMarks(
  path: string | undefined,
  onRecovery: (recovery: Recovery) => void = () => undefined,
): SeqMarks | undefined {
  if (path === undefined) return undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new SeqMarks(nodeFileSystem, path);
  } catch (error) {
    const message = `${path} cannot be used, so seqs may be reused if the store is damaged: ${toMessage(error)}`;
    onRecovery({ kept_seq: 0, cut_bytes: 0, message });
    return undefined;
  }
}
