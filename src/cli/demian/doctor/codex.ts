// Checks the login of the Codex CLI: its file, its expiry, and its permissions.
import { stat } from "node:fs/promises";
import { toMessage } from "../../../base/coded-error.ts";
import { getAuthFile, peekAuthFile } from "../../../runtime/providers/codex/auth-store.ts";
import { resolveCodexHome } from "../../../runtime/providers/codex/codex-home.ts";
import type { CodexConfig } from "../../../runtime/providers/registry-types.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "../../checks.ts";

export interface CodexOrder {
  /** The provider's key. */
  key: string;
  provider: Pick<CodexConfig, "codexHome" | "authStore" | "allowApiKeyFallback">;
  env: Env;
  isUsed: boolean;
  nowMs?: number;
}

const LOGIN = "run `codex login`";

export async function checkCodex(order: CodexOrder): Promise<Check[]> {
  const { key, provider, env, isUsed } = order;
  const name = "codex";
  const home = resolveCodexHome(provider, env);
  if (provider.authStore === "keyring") {
    return isUsed
      ? [{ name, status: "ok", text: `${key} uses the login in the keyring, which doctor does not read` }]
      : [];
  }
  try {
    const stored = peekAuthFile(home);
    if (stored === undefined) {
      if (!isUsed) return [];
      const where = provider.authStore === "auto" ? " (doctor does not read the keyring)" : "";
      return [{ name, status: "warn", text: `no login in ${getAuthFile(home)}${where}`, todo: LOGIN }];
    }
    if ("apiKey" in stored)
      return [keyCheck(order, getAuthFile(home)), ...(await bitsCheck(getAuthFile(home)))];
    return [
      { name, ...lastingText(stored.login, getAuthFile(home), order.nowMs ?? Date.now()) },
      ...(await bitsCheck(getAuthFile(home))),
    ];
  } catch (error) {
    return [{ name, status: isUsed ? "fail" : "warn", text: toMessage(error) }];
  }
}

function keyCheck({ provider }: CodexOrder, file: string): Check {
  const text = `${file} has an API key but no login`;
  if (provider.allowApiKeyFallback) return { name: "codex", status: "ok", text: `${text}; it is used` };
  return { name: "codex", status: "warn", text, todo: `${LOGIN}, or set allowApiKeyFallback` };
}

function lastingText(
  login: { expiresAtMs?: number; refreshToken?: string },
  file: string,
  nowMs: number,
): Omit<Check, "name"> {
  const { expiresAtMs, refreshToken } = login;
  if (expiresAtMs === undefined) return { status: "ok", text: `login in ${file}` };
  const until = new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ");
  if (expiresAtMs > nowMs) return { status: "ok", text: `login in ${file}, valid until ${until} UTC` };
  const over = `the login in ${file} expired at ${until} UTC`;
  if (refreshToken !== undefined) return { status: "ok", text: `${over}; it is renewed on next use` };
  return { status: "warn", text: `${over} and cannot be renewed`, todo: LOGIN };
}

/** Anyone who can read the file can act as you. */
async function bitsCheck(file: string): Promise<Check[]> {
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return [];
  return [
    {
      name: "codex",
      status: "warn",
      text: `${file} is readable by other users`,
      todo: `run chmod 600 ${file}`,
    },
  ];
}
