// What is repeated when a process is adopted: the calls of its sessions, and the lines that those wrote. Lines that the
// earlier daemon wrote are not written again.

export class Repetition {
  /** Lines that the earlier daemon wrote. */
  #lines: string[] = [];
  /** The last entry of the record that was repeated, by session. */
  readonly #repeated = new Map<string, number>();

  /** Entries up to `n` need not be repeated, or were. */
  note(session_id: string, n: number): void {
    this.#repeated.set(session_id, n);
  }

  lastOf(session_id: string): number {
    return this.#repeated.get(session_id) ?? 0;
  }

  /** Drops this line when it is next written. */
  expect(line: string): void {
    this.#lines.push(line);
  }

  isExpected(line: string): boolean {
    return this.#lines.includes(line);
  }

  /** Whether the line was expected; it no longer is. */
  take(line: string): boolean {
    const at = this.#lines.indexOf(line);
    if (at !== -1) this.#lines.splice(at, 1);
    return at !== -1;
  }

  end(): void {
    this.#lines = [];
  }
}
