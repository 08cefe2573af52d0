// Fixture logins: unsigned tokens in a Codex home of their own, and a provider that uses them against the model server.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach } from "vitest";
import { Codex } from "../../../../src/runtime/config/login-providers.ts";
import type { ResolveOptions } from "../../../../src/runtime/providers/resolve.ts";
import type { Provider } from "../../../../src/runtime/providers/types.ts";
import { type ModelServer, type Reply, startModelServer, status } from "../../../support/model-server.ts";
import { resolve } from "../ask.ts";

export const INSTALLATION = "6f530f53-d7c3-4f30-b727-a47e12e9c07f";
const HOUR_S = 3600;

/** Seconds from now. */
export function jwt(endsInS: number = 24 * HOUR_S, auth: object = {}, mark = ""): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    exp: Math.floor(Date.now() / 1000) + endsInS,
    jti: mark,
    "https://api.openai.com/auth": { chatgpt_account_id: "account-of-claims", ...auth },
  };
  return `${part({ alg: "none" })}.${part(claims)}.c2ln`;
}

export interface LoginFile {
  auth_mode?: string;
  OPENAI_API_KEY?: string | null;
  tokens?: Record<string, unknown>;
  last_refresh?: string;
  [other: string]: unknown;
}

/** As Codex 0.166.0 writes it. */
export function loginFile(change: Record<string, unknown> = {}, more: object = {}): LoginFile {
  return {
    auth_mode: "chatgpt",
    OPENAI_API_KEY: null,
    tokens: {
      id_token: jwt(),
      access_token: jwt(24 * HOUR_S, {}, "first"),
      refresh_token: "refresh-token-first",
      account_id: "account-1",
      ...change,
    },
    last_refresh: "2026-11-01T00:00:00.000000000Z",
    ...more,
  };
}

export interface Ground {
  server: ModelServer;
  /** The home of Codex. */
  home: string;
  env: Record<string, string>;
  write(file: unknown): void;
  read(): LoginFile;
  provider(change?: Record<string, unknown>, options?: Partial<ResolveOptions>): Provider;
  /** The bodies of what was asked of the model. */
  bodies(): Record<string, unknown>[];
}

/** Every test of the file has its own directory, with a login in it. */
export function eachOnGround(take: (ground: Ground) => void): void {
  beforeEach(async () => {
    const server = await startModelServer();
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "demian-codex-")));
    const home = join(directory, ".codex");
    mkdirSync(home);
    writeFileSync(join(home, "installation_id"), INSTALLATION);
    const env = { HOME: directory, XDG_STATE_HOME: join(directory, "state") };
    const file = join(home, "auth.json");
    const write = (value: unknown) =>
      writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value), { mode: 0o600 });
    write(loginFile());
    take({
      server,
      home,
      env,
      write,
      read: () => JSON.parse(readFileSync(file, "utf8")) as LoginFile,
      provider: (change = {}, options = {}) => resolve(configOf(server, change), { env, ...options }),
      bodies: () =>
        server.requests
          .filter(({ path }) => path.endsWith("/responses"))
          .map(({ body }) => body as Record<string, unknown>),
    });
    return async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    };
  });
}

export function configOf(server: ModelServer, change: Record<string, unknown> = {}) {
  return Codex.parse({
    type: "codex",
    baseURL: `${server.url}/backend-api/codex`,
    apiKeyBaseURL: `${server.url}/v1`,
    refresh: { url: `${server.url}/oauth/token` },
    ...change,
  });
}

/** The vendor's answer to a renewal. */
export function renewed(mark: string, endsInS = 240 * HOUR_S): Reply {
  return status(200, {
    access_token: jwt(endsInS, {}, mark),
    refresh_token: `refresh-token-${mark}`,
    id_token: jwt(endsInS),
  });
}
