// What a `claude` program says about itself.
import { execFile } from "node:child_process";

type Env = Readonly<Record<string, string | undefined>>;

/** The first version that asks before a tool runs. */
const MIN_VERSION = [2, 1] as const;
export const MIN_CLAUDE_VERSION = MIN_VERSION.join(".");

export function readVersion(text: string): string | undefined {
  return /\d+(?:\.\d+)+/.exec(text)?.[0];
}

export function isClaudeCode(text: string): boolean {
  return text.includes("Claude Code");
}

/** `text` is the output of `--version`. To any other program, every line on stdin may be a user turn. */
export function speaksControl(text: string): boolean {
  const [major = 0, minor = 0] = (readVersion(text) ?? "").split(".").map(Number);
  return (
    isClaudeCode(text) && (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]))
  );
}

/** Runs the program with one flag, outside any workspace, and returns its output. Never rejects. */
export function askProgram(
  path: string,
  flag: string,
  { env, limitMs }: { env: Env; limitMs: number },
): Promise<{ text: string } | { fault: string }> {
  return new Promise((resolve) => {
    const options = { timeout: limitMs, killSignal: "SIGKILL", env, cwd: "/" } as const;
    const child = execFile(path, [flag], options, (error, stdout, stderr) => {
      if (error === null) resolve({ text: stdout });
      else resolve({ fault: (stderr.trim().split("\n").at(-1) || error.message).slice(0, 300) });
    });
    // A program that reads its input first must not wait for us.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}
