// A directory to work in with another one beside it that must not be reached, and both ways to look names up.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { At } from "../../../src/runtime/workspace/at.ts";
import { createKoffiAt } from "../../../src/runtime/workspace/at-koffi.ts";
import { procAt } from "../../../src/runtime/workspace/at-proc.ts";
import { openWorkspace } from "../../../src/runtime/workspace/open.ts";
import type { Workspace } from "../../../src/runtime/workspace/types.ts";

export const SECRET = "the secret outside";

export interface Ground {
  /** The workspace; `outside` lies beside it, with `secret.txt` in it. */
  root: string;
  outside: string;
  workspace: Workspace;
  /** Of anything on this ground. One, the root's, while the workspace is open. */
  openDescriptors(): number;
  close(): Promise<void>;
}

/** Linux has both; elsewhere there is one. */
export function waysToLookUp(): [string, At][] {
  const koffi = createKoffiAt();
  return process.platform === "linux"
    ? [
        ["/proc", procAt],
        ["koffi", koffi],
      ]
    : [["koffi", koffi]];
}

export async function createGround(at?: At): Promise<Ground> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "demian-files-")));
  const root = join(base, "proj");
  const outside = join(base, "proj-evil");
  for (const path of [root, outside]) mkdirSync(path);
  writeFileSync(join(outside, "secret.txt"), SECRET);
  const workspace = await (at === undefined ? openWorkspace(root) : openWorkspace(root, at));
  return {
    root,
    outside,
    workspace,
    openDescriptors: () => openDescriptors(base),
    close: async () => {
      await workspace.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Below a directory; Linux only. Other tests run in the same process. */
function openDescriptors(base: string): number {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(base);
    } catch {
      return false; // the descriptor that listed them
    }
  }).length;
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "no error";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
