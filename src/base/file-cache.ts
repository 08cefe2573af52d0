// Caches what was learned about a file until the file changes.
import { stat } from "node:fs/promises";

export class FileCache<T> {
  #known: { mark: string; value: Promise<T> } | undefined;

  /** Holds one file. A failure (a slow disk, too many processes) is not cached. */
  async get(path: string, load: () => Promise<T>): Promise<T> {
    const file = await stat(path).catch(() => undefined);
    const mark = [path, file?.mtimeMs, file?.size, file?.ino].join(" ");
    if (this.#known?.mark !== mark) {
      const value = load();
      this.#known = { mark, value };
      value.catch(() => {
        if (this.#known?.value === value) this.#known = undefined;
      });
    }
    return this.#known.value;
  }
}
