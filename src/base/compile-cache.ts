// Caches compiled code between starts if Node supports it (22.1 and newer). Code loaded before the call is not cached, so
// programs call this first and import the rest afterwards.
import module from "node:module";
import { join } from "node:path";

/**
 * The directory belongs to the user. Node's default is shared, below the system's temporary directory, where another user
 * could plant code for us to run.
 */
export function enableCompileCache(env: NodeJS.ProcessEnv): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  // Missing in Node 20, and so in the types that we compile against.
  const { enableCompileCache: enable } = module as { enableCompileCache?: (directory: string) => unknown };
  if (!base || enable === undefined) return undefined;
  const directory = join(base, "blemees", "compile-cache");
  enable(directory);
  return directory;
}
