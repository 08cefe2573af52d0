// The installed demian with a login of the Codex CLI: fixture logins and a vendor on loopback that behaves like the
// real one, including single-use refresh tokens.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { jwt, loginFile, renewed } from "../../runtime/providers/codex/logins.ts";
import { type Exchange, type ModelServer, startModelServer, status } from "../../support/model-server.ts";
import {
  completed,
  created,
  functionCall,
  message,
  responsesEvents,
  responsesReply,
  thought,
} from "../../support/responses.ts";
import { ROOT } from "../../support/root.ts";
import { writeRepository } from "./repository.ts";

let directory: string;
let home: string;
let work: string;
let vendor: ModelServer;

beforeEach(async () => {
  vendor = await startModelServer();
  directory = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
  home = join(directory, "home");
  work = join(directory, "work");
  writeRepository(work);
  mkdirSync(join(home, ".demian"), { recursive: true });
  mkdirSync(join(home, ".codex"));
  const codex = {
    type: "codex",
    model: "the-model",
    baseURL: `${vendor.url}/backend-api/codex`,
    authStore: "file",
    refresh: { url: `${vendor.url}/oauth/token` },
    maxRetries: 2,
  };
  const config = { defaultProvider: "codex", providers: { codex }, sandbox: { allowEnvOnly: true } };
  writeFileSync(join(home, ".demian/config.json"), JSON.stringify(config));
  logIn(loginFile());
  return async () => {
    await vendor.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
});

const authFile = () => join(home, ".codex/auth.json");
const logIn = (file: object) => writeFileSync(authFile(), JSON.stringify(file), { mode: 0o600 });
const stored = () => JSON.parse(readFileSync(authFile(), "utf8")) as { tokens: Record<string, string> };
const paths = () => vendor.requests.map(({ path }) => path);
const RENEW = "/oauth/token";
const ASK = "/backend-api/codex/responses";

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function demian(...args: string[]): Promise<Ended> {
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: directory };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(ROOT, "dist/demian.js"), ...args],
      { cwd: work, env, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

test("a turn with a tool call: reasoning is returned encrypted, and only the answer is on stdout", async () => {
  const read = functionCall(1, { id: "call_read", name: "read_file", input: { path: "sum.js" } });
  vendor.script(
    responsesEvents(created, ...thought(0), ...read, completed()),
    responsesReply("The sign is wrong."),
  );
  const { code, stdout, stderr } = await demian("-p", "what is wrong with sum.js?");
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "The sign is wrong.\n" });
  expect(paths()).toEqual([ASK, ASK]);
  const [first, second] = vendor.requests.map(({ body }) => body as Record<string, unknown>);
  expect(first).toMatchObject({ model: "the-model", store: false, stream: true, parallel_tool_calls: false });
  expect(first?.["instructions"]).toMatch(/\S/);
  expect(first?.["prompt_cache_key"]).toBe(second?.["prompt_cache_key"]);
  const input = second?.["input"] as Record<string, unknown>[];
  expect(input.slice(-3)).toMatchObject([
    { type: "reasoning", encrypted_content: "sealed-0" },
    { type: "function_call", call_id: "call_read", name: "read_file" },
    { type: "function_call_output", call_id: "call_read", output: expect.stringContaining("a - b") },
  ]);
  expect(vendor.requests[0]?.headers).toMatchObject({
    "chatgpt-account-id": "account-1",
    originator: "demian",
    "user-agent": "demian",
  });
});

test("a login that the vendor refuses is renewed once, stored for the user only, and the turn continues", async () => {
  vendor.script(
    status(401, { error: { code: "token_expired", message: "expired" } }),
    renewed("second"),
    responsesReply("Here I am."),
  );
  const { code, stdout, stderr } = await demian("-p", "are you there?");
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "Here I am.\n" });
  expect(paths()).toEqual([ASK, RENEW, ASK]);
  expect(stored().tokens["refresh_token"]).toBe("refresh-token-second");
  expect(vendor.requests[2]?.headers.authorization).toBe(`Bearer ${stored().tokens["access_token"]}`);
  expect(statSync(authFile()).mode & 0o777).toBe(0o600);
});

test("a usage limit is reported with the time at which it ends, without a retry", async () => {
  const resets_at = Math.floor(Date.now() / 1000) + 3 * 86_400;
  vendor.script(
    status(429, { error: { type: "usage_limit_reached", message: "limit", plan_type: "plus", resets_at } }),
  );
  const { code, stdout, stderr } = await demian("-p", "are you there?");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/usage limit \(plus\) is reached; it resets at 20\S+ \S+ \(in 3 days\)/);
  expect(paths()).toEqual([ASK]);
});

test("processes that start at the same moment with an expired login use its refresh token once, and all answer", async () => {
  logIn(loginFile({ access_token: jwt(-60) }));
  const used = new Set<unknown>();
  const answer = (exchange: Exchange): Promise<void> | void => {
    vendor.script(answer);
    if (exchange.request.path === ASK) return responsesReply("Here I am.")(exchange);
    const { refresh_token: token } = exchange.request.body as { refresh_token: string };
    const isUsed = used.has(token);
    used.add(token);
    return (isUsed ? status(401, { error: { code: "refresh_token_reused" } }) : renewed("second"))(exchange);
  };
  vendor.script(answer);
  const ends = await Promise.all([1, 2, 3].map(() => demian("-p", "are you there?")));
  expect(ends.map(({ code, stdout }) => [code, stdout])).toEqual(ends.map(() => [0, "Here I am.\n"]));
  expect(paths().filter((path) => path === RENEW)).toHaveLength(1);
});

test("without a login demian reports what to do, and sends no request", async () => {
  rmSync(authFile());
  const { code, stderr } = await demian("-p", "are you there?");
  expect(code).toBe(1);
  expect(stderr).toMatch(/log in with `codex login`/);
  expect(vendor.requests).toEqual([]);
});

const CODEX = process.env["E2E_CODEX"];
describe.runIf(CODEX !== undefined)("with the real Codex", () => {
  const codex = (args: string[], input: string): Promise<Ended> => {
    const env = { PATH: process.env["PATH"], HOME: home, CODEX_HOME: join(home, ".codex") };
    return new Promise((resolve) => {
      const child = execFile(
        String(CODEX),
        args,
        { cwd: work, env, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  };

  test("its login with a key is recognized as a key, and used only if that is allowed", async () => {
    rmSync(authFile());
    const made = await codex(["login", "--with-api-key"], "sk-fixture-0123456789");
    expect(made.code, made.stderr).toBe(0);
    expect((await demian("-p", "are you there?")).stderr).toMatch(
      /auth\.json contains an API key.*allowApiKeyFallback/,
    );
    const file = join(home, ".demian/config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as {
      providers: { codex: Record<string, unknown> };
    };
    Object.assign(config.providers.codex, { allowApiKeyFallback: true, apiKeyBaseURL: `${vendor.url}/v1` });
    writeFileSync(file, JSON.stringify(config));
    vendor.script(responsesEvents(created, ...message(0, "Paid."), completed()));
    expect((await demian("-p", "are you there?")).stdout).toBe("Paid.\n");
    expect(vendor.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/responses", "Bearer sk-fixture-0123456789"],
    ]);
  });

  test("Codex accepts a login that demian renewed", async () => {
    logIn(loginFile({ access_token: jwt(-60) }));
    vendor.script(renewed("second"), responsesReply("Here I am."));
    expect((await demian("-p", "are you there?")).code).toBe(0);
    const said = await codex(["login", "status"], "");
    expect(`${said.stdout}${said.stderr}`).toMatch(/Logged in using ChatGPT/);
  });
});
