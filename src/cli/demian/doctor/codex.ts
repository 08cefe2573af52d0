// The login of the Codex CLI: its file, its end, and who can read it.
import { stat } from "node:fs/promises";
import { messageOf } from "../../../base/coded-error.ts";
import { authFile, peekAuthFile } from "../../../runtime/providers/codex/auth-store.ts";
import { codexHomeOf } from "../../../runtime/providers/codex/codex-home.ts";
import type { CodexConfig } from "../../../runtime/providers/registry-types.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "./check.ts";

export interface CodexOrder {
  /** Of the provider. */
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
  const home = codexHomeOf(provider, env);
  if (provider.authStore === "keyring") {
    return isUsed
      ? [{ name, status: "ok", text: `${key} takes the login of the keyring, which is not asked here` }]
      : [];
  }
  try {
    const stored = peekAuthFile(home);
    if (stored === undefined) {
      if (!isUsed) return [];
      const where = provider.authStore === "auto" ? " (the keyring is not asked here)" : "";
      return [{ name, status: "warn", text: `no login in ${authFile(home)}${where}`, todo: LOGIN }];
    }
    if ("apiKey" in stored) return [keyCheck(order, authFile(home)), ...(await bitsCheck(authFile(home)))];
    return [
      { name, ...lastingText(stored.login, authFile(home), order.nowMs ?? Date.now()) },
      ...(await bitsCheck(authFile(home))),
    ];
  } catch (error) {
    return [{ name, status: isUsed ? "fail" : "warn", text: messageOf(error) }];
  }
}

function keyCheck({ provider }: CodexOrder, file: string): Check {
  const text = `${file} holds an API key and no login`;
  if (provider.allowApiKeyFallback) return { name: "codex", status: "ok", text: `${text}; it is used` };
  return { name: "codex", status: "warn", text, todo: `${LOGIN}, or set allowApiKeyFallback` };
}

function lastingText(
  login: { expiresAtMs?: number; refreshToken?: string },
  file: string,
  nowMs: number,
): Omit<Check, "name"> {
  const { expiresAtMs, refreshToken } = login;
  if (expiresAtMs === undefined) return { status: "ok", text: `a login in ${file}` };
  const until = new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ");
  if (expiresAtMs > nowMs) return { status: "ok", text: `a login in ${file}, good until ${until} UTC` };
  const over = `the login in ${file} was good until ${until} UTC`;
  if (refreshToken !== undefined) return { status: "ok", text: `${over}; it is renewed when it is used` };
  return { status: "warn", text: `${over} and cannot be renewed`, todo: LOGIN };
}

/** Whoever reads it can act as you. */
async function bitsCheck(file: string): Promise<Check[]> {
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return [];
  return [
    { name: "codex", status: "warn", text: `${file} can be read by others`, todo: `run chmod 600 ${file}` },
  ];
}
