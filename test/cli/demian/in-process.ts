// demian in this process, with the real runtime: at a simulated terminal, or in pipes.
import { toMessage } from "../../../src/base/coded-error.ts";
import { UsageError } from "../../../src/cli/command.ts";
import { type MainOptions, main } from "../../../src/cli/demian/main.ts";
import { type MemoryIo, memoryIo } from "./memory-io.ts";
import { plain } from "./pty.ts";
import type { World } from "./world.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export async function run(
  world: World,
  args: readonly string[],
  input = "",
  env: Record<string, string> = {},
): Promise<Ran> {
  const io = memoryIo({ hasInput: input !== "", env: { ...world.env, ...env }, cwd: world.workspace });
  io.stdin.end(input);
  const code = await exitCode(args, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

/** The same interface as `Pty`. */
export class Screenplay {
  readonly ended: Promise<number>;
  readonly #io: MemoryIo;
  #read = 0;
  #isOver = false;

  constructor(
    world: World,
    args: readonly string[],
    env: Record<string, string> = {},
    more: Partial<MainOptions> = {},
  ) {
    this.#io = memoryIo({ isTTY: true, env: { ...world.env, ...env }, cwd: world.workspace });
    const exited = new Promise<number>((resolve) => this.#io.changes.once("exit", resolve));
    this.ended = Promise.race([exited, exitCode(args, this.#io, more)]).finally(() => {
      this.#isOver = true;
      this.#io.changes.emit("write");
    });
  }

  get text(): string {
    return this.#io.stderr.text;
  }

  async until(pattern: RegExp | string): Promise<string> {
    for (;;) {
      const fresh = plain(this.text.slice(this.#read));
      if (typeof pattern === "string" ? fresh.includes(pattern) : pattern.test(fresh)) {
        this.#read = this.text.length;
        return fresh;
      }
      if (this.#isOver) throw new Error(`it ended before ${String(pattern)} came:\n${plain(this.text)}`);
      await new Promise((resolve) => this.#io.changes.once("write", resolve));
    }
  }

  type(text: string): void {
    this.#io.stdin.write(text);
  }

  enter(text: string): void {
    this.type(`${text}\r`);
  }

  /** End of input. */
  kill(): void {
    this.#io.stdin.end();
  }
}

/** Like runMain, except for the process. */
async function exitCode(
  args: readonly string[],
  io: MemoryIo,
  more: Partial<MainOptions> = {},
): Promise<number> {
  try {
    return await main(args, { program: "demian-plain", version: "1.2.3", io, ...more });
  } catch (error) {
    io.stderr.write(`demian-plain: ${toMessage(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
