// A disk of a few megabytes that can be filled, freed and made read-only. Requires permission to mount (root on Linux);
// `whyNoSmallDisk` returns the reason if there is none.
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIZE = "2m";
const CHUNK = Buffer.alloc(4096, 1);

export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), "blemees-disk-"));
  readonly dir = join(this.path, "data");
  readonly #ballast = join(this.path, "ballast");

  constructor() {
    mount(["-t", "tmpfs", "-o", `size=${SIZE},mode=700`, "tmpfs", this.path]);
    mkdirSync(this.dir, { mode: 0o700 });
  }

  /** No space is left. */
  fill(): void {
    const fd = openSync(this.#ballast, "a");
    try {
      for (;;) if (writeSync(fd, CHUNK) === 0) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(fd);
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Fails while a file on it is open for writing. */
  setReadOnly(isReadOnly: boolean): void {
    mount(["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.path]);
  }

  close(): void {
    execFileSync("umount", ["-l", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Undefined if small disks can be made here. */
export function whyNoSmallDisk(): string | undefined {
  if (process.platform !== "linux") return "tmpfs is a thing of Linux";
  try {
    new SmallDisk().close();
    return undefined;
  } catch (error) {
    return `no right to mount: ${String((error as Error).message).split("\n")[0]}`;
  }
}

function mount(args: string[]): void {
  execFileSync("mount", args, { stdio: ["ignore", "ignore", "pipe"] });
}
