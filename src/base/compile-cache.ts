// Keeps compiled code between starts where Node can do that (22.1 and newer). Code that is loaded before the call is not
// kept, so programs call this first and import the rest afterwards.
import module from "node:module";
import { join } from "node:path";

/**
 * The directory belongs to the user. Node's default is a shared one below the system's temporary directory, where
 * another user could plant code for us to run.
 */
export function enableCompileCache(env: NodeJS.ProcessEnv): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  // Absent from Node 20, and so from the types that we compile against.
  const { enableCompileCache: enable } = module as { enableCompileCache?: (directory: string) => unknown };
  if (!base || enable === undefined) return undefined;
  const directory = join(base, "blemees", "compile-cache");
  enable(directory);
  return directory;
}
