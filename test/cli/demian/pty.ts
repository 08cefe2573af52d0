// A program at a real terminal: python's pty module holds the other end and passes everything on.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";

const BRIDGE = `
import fcntl, os, pty, select, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    redirect = os.environ.pop("PTY_STDOUT", "")
    if redirect:
        os.dup2(os.open(redirect, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
inputs = [fd, 0]
while True:
    ready, _, _ = select.select(inputs, [], [])
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(fd, data)
        else:
            inputs.remove(0)
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
`;

export const hasPty = spawnSync("python3", ["-c", "import pty"]).status === 0;

export interface PtyOptions {
  cwd: string;
  env: Record<string, string>;
  /** stdout goes to this file instead of the terminal. */
  stdoutFile?: string;
}

export class Pty {
  /** All output so far, including escape sequences. */
  text = "";
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  #read = 0;
  #waiting: (() => void) | undefined;

  constructor(file: string, args: readonly string[], { cwd, env, stdoutFile }: PtyOptions) {
    this.#child = spawn("python3", ["-c", BRIDGE, process.execPath, file, ...args], {
      cwd,
      env: {
        PATH: process.env["PATH"] ?? "",
        TERM: "xterm",
        ...env,
        ...(stdoutFile === undefined ? {} : { PTY_STDOUT: stdoutFile }),
      },
    });
    this.#child.stdout.setEncoding("utf8");
    this.#child.stdout.on("data", (chunk: string) => {
      this.text += chunk;
      this.#waiting?.();
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        resolve(code);
        this.#waiting?.();
      });
    });
  }

  /** The output up to and including this text, counted from the end of the last wait. */
  async until(pattern: RegExp | string): Promise<string> {
    for (;;) {
      const fresh = plain(this.text.slice(this.#read));
      const found = typeof pattern === "string" ? fresh.includes(pattern) : pattern.test(fresh);
      if (found) {
        this.#read = this.text.length;
        return fresh;
      }
      if (this.#child.exitCode !== null) {
        throw new Error(`it ended before ${String(pattern)} came:\n${plain(this.text)}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  enter(text: string): void {
    this.type(`${text}\r`);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Without escape sequences and carriage returns. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "");
}
