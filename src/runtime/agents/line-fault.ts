// An error in a file, with its line.

/** Lines count from 1. */
export class LineFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
