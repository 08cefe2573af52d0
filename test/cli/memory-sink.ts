// A stream for tests that keeps what is written to it.
import { Output, type OutputOptions } from "../../src/cli/output.ts";

export class MemorySink {
  text = "";
  isTTY: boolean;
  columns = 40;

  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  once(): void {
    // never full, so never drained
  }

  removeListener(): void {
    // nobody listens
  }
}

export function memoryOutput(
  options: Partial<Omit<OutputOptions, "stdout" | "stderr">> & { isTTY?: boolean } = {},
): { output: Output; stdout: MemorySink; stderr: MemorySink } {
  const { isTTY = false, ...rest } = options;
  const [stdout, stderr] = [new MemorySink(isTTY), new MemorySink(isTTY)];
  return { output: new Output({ stdout, stderr, env: {}, ...rest }), stdout, stderr };
}
