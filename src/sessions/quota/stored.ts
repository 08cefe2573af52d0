// The file that keeps the limits over a restart. They are reported again sooner or later, so a file that cannot be used is
// not a failure.
import * as z from "zod";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { readPrivate, writePrivate } from "../../base/private-file.ts";
import { QuotaWindow } from "../../protocol/quota.ts";
import { listWindows, toWindows, type Windows } from "./windows.ts";

const Stored = z.strictObject({ version: z.literal(1), windows: z.array(QuotaWindow) });

export async function readWindows(path: string, log: Log): Promise<Windows> {
  try {
    const text = await readPrivate(path);
    return text === undefined ? new Map() : toWindows(Stored.parse(JSON.parse(text)).windows, Date.now());
  } catch (error) {
    log.warn("quota.file_unusable", { path, message: toMessage(error) });
    return new Map();
  }
}

export async function writeWindows(path: string, windows: Windows, log: Log): Promise<void> {
  const stored: z.infer<typeof Stored> = { version: 1, windows: listWindows(windows, Date.now()) };
  try {
    await writePrivate(path, `${JSON.stringify(stored)}\n`);
  } catch (error) {
    log.warn("quota.file_unusable", { path, message: toMessage(error) });
  }
}
