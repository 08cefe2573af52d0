// The image in the clipboard. A terminal passes on text only, so the desktop's own program is asked.
import { startChild } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { findProgram } from "../../base/find-program.ts";
import type { Env } from "../../runtime/state-dir.ts";

interface Reader {
  program: string;
  args: readonly string[];
  fits(env: Env): boolean;
}

const READERS: readonly Reader[] = [
  { program: "pngpaste", args: ["-"], fits: () => process.platform === "darwin" },
  {
    program: "wl-paste",
    args: ["--no-newline", "--type", "image/png"],
    fits: (env) => (env["WAYLAND_DISPLAY"] ?? "") !== "",
  },
  {
    program: "xclip",
    args: ["-selection", "clipboard", "-target", "image/png", "-out"],
    fits: (env) => (env["DISPLAY"] ?? "") !== "",
  },
];
const TIMEOUT_MS = 3000;

/** Throws `no_clipboard` and `bad_image`. */
export async function readClipboardImage(env: Env, maxBytes: number): Promise<Buffer> {
  const usable = READERS.filter(({ fits }) => fits(env));
  if (usable.length === 0)
    throw new CodedError(
      "no_clipboard",
      "there is no desktop clipboard here; paste the path of an image file",
    );
  for (const { program, args } of usable) {
    const path = await findProgram(program, env);
    if (path !== undefined) return readWith(path, args, env, maxBytes);
  }
  const names = usable.map(({ program }) => program).join(" or ");
  throw new CodedError(
    "no_clipboard",
    `images in the clipboard need ${names}; install it, or paste the path of an image file`,
  );
}

async function readWith(
  command: string,
  args: readonly string[],
  env: Env,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const child = await startChild(
    { command, args, env: { ...env } },
    {
      output: (chunk) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) chunks.push(Buffer.from(chunk));
        else void child.stop();
      },
      errorLine: () => undefined,
    },
  );
  const timer = setTimeout(() => void child.stop(), TIMEOUT_MS);
  const { code } = await child.done.finally(() => clearTimeout(timer));
  if (bytes > maxBytes) {
    throw new CodedError(
      "bad_image",
      `the image in the clipboard has more than ${maxBytes} bytes; save a smaller one`,
    );
  }
  if (code !== 0 || bytes === 0) throw new CodedError("bad_image", "the clipboard has no image");
  return Buffer.concat(chunks);
}
