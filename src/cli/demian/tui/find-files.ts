// Finds files of the working directory for the composer, with the daemon's own finder.
import type { FileFinder } from "../../../sessions/index.ts";
import type { SessionDriver } from "../../../tui/types.ts";

const MAX_FILES = 20;

/** Loaded with the first `@`: few messages have one. */
export function createFileSearch(cwd: string): NonNullable<SessionDriver["findFiles"]> {
  let finder: Promise<FileFinder> | undefined;
  return async (match) => {
    finder ??= import("../../../sessions/index.ts").then(
      (sessions) => new sessions.FileFinder({ env: process.env }),
    );
    return (await finder).find(cwd, { match, limit: MAX_FILES });
  };
}
