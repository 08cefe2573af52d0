// Finds the native program of Codex's npm wrapper. The wrapper is a Node script that only starts it: 45 ms and 41 MB
// for nothing. Any other `codex` is used as it is.
import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isExecutable } from "../../base/executable.ts";

/** The best path to start; the given one if there is nothing better. */
export async function findNativeProgram(path: string): Promise<string> {
  const script = await realpath(path).catch(() => path);
  if (basename(script) !== "codex.js") return path;
  const root = dirname(dirname(script));
  const name = `codex-${process.platform}-${process.arch}`;
  const packages = [join(root, "..", name), join(root, "node_modules", "@openai", name), root];
  for (const dir of packages) {
    const vendor = join(dir, "vendor");
    for (const target of await readdir(vendor).catch(() => [])) {
      const program = join(vendor, target, "bin", "codex");
      if (isOurs(target) && (await isExecutable(program))) return program;
    }
  }
  return path;
}

/** Older packages contain programs for all machines: "x86_64-unknown-linux-musl", "aarch64-apple-darwin". */
function isOurs(target: string): boolean {
  const arch = process.arch === "arm64" ? "aarch64" : "x86_64";
  return target.startsWith(arch) && target.includes(process.platform);
}
