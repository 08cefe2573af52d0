// Whether we may execute a file.
import { access, constants } from "node:fs/promises";

/** Also true for directories that may be entered. */
export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
