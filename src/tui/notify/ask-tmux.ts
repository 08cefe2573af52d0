// Queries tmux about itself and the outer terminal.
import { execFile } from "node:child_process";
import { TMUX_QUESTION } from "./terminal.ts";

const PATIENCE_MS = 2_000;

export function askTmux(): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      "tmux",
      ["display-message", "-p", TMUX_QUESTION],
      { timeout: PATIENCE_MS },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
    child.unref();
  });
}
