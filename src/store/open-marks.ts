// Opens the file of seq marks that belongs to a store. A daemon that cannot have it runs without.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../base/coded-error.ts";
import { nodeFileSystem } from "./disk/file-system.ts";
import { SeqMarks } from "./seq-marks.ts";
import type { Recovery, StoreConfig } from "./types.ts";

export function tryOpenMarks(
  { marks: path }: StoreConfig,
  onRecovery: (recovery: Recovery) => void = () => undefined,
): SeqMarks | undefined {
  if (path === undefined) return undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new SeqMarks(nodeFileSystem, path);
  } catch (error) {
    const message = `${path} cannot be used, so seqs may be reused if the store is damaged: ${messageOf(error)}`;
    onRecovery({ kept_seq: 0, cut_bytes: 0, message });
    return undefined;
  }
}
