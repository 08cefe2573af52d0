// When the login is renewed, by which process, and what a refusal means.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CodexLogin, settleRenewals } from "../../../../src/runtime/providers/codex/refresh.ts";
import { type Exchange, type Reply, status } from "../../../support/model-server.ts";
import { responsesReply } from "../../../support/responses.ts";
import { askOf, failureOf, listen } from "../ask.ts";
import { configOf, eachOnGround, type Ground, jwt, loginFile, renewed } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const ok = () => responsesReply("ok");
const unauthorized = status(401, {
  error: { code: "token_expired", message: "Provided authentication token is expired." },
});
const refused = (code: string) => status(401, { error: { code, message: "no" } });
const ending = (change: Record<string, unknown> = {}) =>
  loginFile({ access_token: jwt(-60, {}, "ended"), ...change });
const paths = () => ground.server.requests.map(({ path }) => path);
const RENEW = "/oauth/token";
const ASK = "/backend-api/codex/responses";
const storedToken = () => ground.read().tokens?.["access_token"];

/** Another process: it shares nothing with us but files. */
const otherProcess = () => {
  const { authStore, refresh } = configOf(ground.server);
  return new CodexLogin({ codexHome: ground.home, authStore, refresh, env: ground.env });
};
const asker = () => ({
  key: "codex",
  model: "m",
  signal: new AbortController().signal,
  warn: () => undefined,
});

describe("33: before it ends", () => {
  test("a login with minutes left is renewed and stored, for the user only, with all unknown fields", async () => {
    ground.write(loginFile({ access_token: jwt(120), unknown_inner: 1 }, { unknown_outer: { a: 1 } }));
    ground.server.script(renewed("second"), ok());
    await listen(ground.provider());
    expect(paths()).toEqual([RENEW, ASK]);
    expect(ground.server.requests[0]?.body).toEqual({
      client_id: "app_EMoamEEZ73f0CkXaXp7hrann",
      grant_type: "refresh_token",
      refresh_token: "refresh-token-first",
    });
    expect(ground.server.requests[1]?.headers.authorization).toBe(`Bearer ${storedToken()}`);
    expect(ground.read()).toMatchObject({
      auth_mode: "chatgpt",
      OPENAI_API_KEY: null,
      unknown_outer: { a: 1 },
      tokens: { refresh_token: "refresh-token-second", account_id: "account-1", unknown_inner: 1 },
      last_refresh: expect.stringMatching(/^20/),
    });
    expect(statSync(join(ground.home, "auth.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(ground.home).toSorted()).toEqual(["auth.json", "installation_id"]);
  });

  test("one with more time is used unchanged, and the threshold can be set", async () => {
    ground.write(loginFile({ access_token: jwt(20 * 60) }));
    ground.server.script(ok(), renewed("second"), ok());
    await listen(ground.provider());
    const refresh = { url: `${ground.server.url}${RENEW}`, proactiveMinutes: 30 };
    await listen(ground.provider({ refresh }));
    expect(paths()).toEqual([ASK, RENEW, ASK]);
  });

  test("a token that says nothing of its end is used until it is refused", async () => {
    ground.write(loginFile({ access_token: "opaque-token" }));
    ground.server.script(ok());
    await listen(ground.provider());
    expect(ground.server.requests[0]?.headers.authorization).toBe("Bearer opaque-token");
  });

  test("where the vendor cannot be asked, what still holds is used", async () => {
    ground.write(loginFile({ access_token: jwt(120) }));
    ground.server.script(status(500, "down"), ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    ground.write(ending());
    ground.server.script(status(500, "down"));
    expect(await failureOf(listen(ground.provider({ maxRetries: 0 })))).toMatchObject({
      kind: "server",
      status: 500,
    });
  });

  test("a renewal that failed for a moment is tried again, and so is one whose connection broke", async () => {
    ground.write(ending());
    ground.server.script(({ cut }) => cut(), status(503, "busy"), renewed("second"), ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    expect(paths()).toEqual([RENEW, RENEW, RENEW, ASK]);
  });

  test("a renewal whose answer was lost on the way used up the login, and that is reported", async () => {
    ground.write(ending());
    ground.server.script(({ cut }) => cut(), refused("refresh_token_reused"));
    expect(await failureOf(listen(ground.provider()))).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/refresh_token_reused\); log in again with `codex login`$/),
    });
    expect(paths()).toEqual([RENEW, RENEW]);
  });

  test("what the answer leaves out stays", async () => {
    ground.write(ending());
    ground.server.script(status(200, { access_token: jwt(9999, {}, "only") }), ok());
    await listen(ground.provider());
    expect(ground.read().tokens).toMatchObject({
      refresh_token: "refresh-token-first",
      account_id: "account-1",
    });
  });
});

describe("33: after a 401", () => {
  test("it is renewed once and asked again", async () => {
    ground.server.script(unauthorized, renewed("second"), ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    expect(paths()).toEqual([ASK, RENEW, ASK]);
    const [first, , second] = ground.server.requests;
    expect(first?.headers.authorization).not.toBe(second?.headers.authorization);
    expect(second?.headers.authorization).toBe(`Bearer ${storedToken()}`);
  });

  test("a second one is the answer, with what to do", async () => {
    ground.server.script(unauthorized, renewed("second"), unauthorized);
    const failure = await failureOf(listen(ground.provider()));
    expect(failure).toMatchObject({
      kind: "auth",
      status: 401,
      message: expect.stringMatching(/log in again with `codex login`$/),
    });
    expect(paths()).toEqual([ASK, RENEW, ASK]);
  });

  test("a login that another process has renewed meanwhile is taken, and not renewed again", async () => {
    const fresh = jwt(9999, {}, "of another process");
    ground.server.script((exchange) => {
      ground.write(loginFile({ access_token: fresh, refresh_token: "refresh-token-other" }));
      return unauthorized(exchange);
    }, ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    expect(paths()).toEqual([ASK, ASK]);
    expect(ground.server.requests[1]?.headers.authorization).toBe(`Bearer ${fresh}`);
  });

  test("a login that is gone is named", async () => {
    ground.server.script((exchange) => {
      ground.write({ OPENAI_API_KEY: null });
      return unauthorized(exchange);
    });
    expect((await failureOf(listen(ground.provider()))).message).toMatch(
      /the Codex login is missing; log in again/,
    );
  });
});

describe("33: one at a time", () => {
  /** Uses up each refresh token, as the vendor does. */
  function vendor(): Reply {
    const used = new Set<string>();
    let count = 0;
    const answer = (exchange: Exchange): Promise<void> | void => {
      ground.server.script(answer);
      if (exchange.request.path === ASK) return ok()(exchange);
      const { refresh_token: token } = exchange.request.body as { refresh_token: string };
      if (used.has(token)) return refused("refresh_token_reused")(exchange);
      used.add(token);
      count += 1;
      return renewed(`number-${count}`)(exchange);
    };
    return answer;
  }

  test("many requests of several providers share one renewal", async () => {
    ground.write(ending());
    ground.server.script(vendor());
    const providers = [ground.provider(), ground.provider(), ground.provider()];
    const answers = await Promise.all(providers.flatMap((one) => [listen(one), listen(one)]));
    expect(answers.map(({ text }) => text)).toEqual(["ok", "ok", "ok", "ok", "ok", "ok"]);
    expect(paths().filter((path) => path === RENEW)).toHaveLength(1);
  });

  test("also where no lock can be kept", async () => {
    ground.write(ending());
    ground.server.script(vendor());
    const env = { ...ground.env, XDG_STATE_HOME: join(ground.home, "auth.json") };
    const provider = ground.provider({}, { env });
    await Promise.all([listen(provider), listen(provider), listen(ground.provider({}, { env }))]);
    expect(paths().filter((path) => path === RENEW)).toHaveLength(1);
  });

  test("and so do processes that begin in the same moment: a refresh token can be used once", async () => {
    ground.write(ending());
    ground.server.script(vendor());
    const logins = await Promise.all([1, 2, 3].map(() => otherProcess().current(asker())));
    expect(paths()).toEqual([RENEW]);
    expect(new Set(logins.map((stored) => stored && "login" in stored && stored.login.accessToken))).toEqual(
      new Set([storedToken()]),
    );
  });

  test("a caller that gives up waiting returns at once, and the renewal is kept for the others", async () => {
    ground.write(ending());
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    ground.server.script(async (exchange) => {
      await held;
      await renewed("second")(exchange);
    }, ok());
    const provider = ground.provider();
    const abort = new AbortController();
    const gone = failureOf(listen(provider, askOf({ signal: abort.signal })));
    await ground.server.request(0);
    const patient = listen(provider);
    abort.abort();
    expect(await gone).toMatchObject({ kind: "aborted" });
    answer();
    expect((await patient).text).toBe("ok");
    expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-second");
  });

  test("shutdown waits for a renewal whose caller gave up, so that it is stored, but not forever", async () => {
    ground.write(ending());
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    ground.server.script(async (exchange) => {
      await held;
      await renewed("second")(exchange);
    });
    const abort = new AbortController();
    const gone = failureOf(listen(ground.provider(), askOf({ signal: abort.signal })));
    await ground.server.request(0);
    abort.abort();
    await gone;
    await settleRenewals(1);
    expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-first");
    const settled = settleRenewals();
    answer();
    await settled;
    expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-second");
  });
});

describe("33: a refusal", () => {
  test.each([
    ["refresh_token_expired", /has expired \(refresh_token_expired\)/],
    ["refresh_token_invalidated", /was revoked \(refresh_token_invalidated\)/],
    ["refresh_token_reused", /already renewed elsewhere.*\(refresh_token_reused\)/],
    ["something_new", /could not be renewed/],
  ])("%s is reported with what to do, and the token is not tried again", async (code, text) => {
    ground.write(ending());
    ground.server.script(refused(code));
    const failure = await failureOf(listen(ground.provider()));
    expect(failure).toMatchObject({ kind: "auth", message: expect.stringMatching(text) });
    expect(failure.message).toMatch(/log in again with `codex login`$/);
    expect((await failureOf(listen(ground.provider()))).message).toBe(failure.message);
    expect(paths()).toEqual([RENEW]);
    ground.write(loginFile());
    ground.server.script(ok());
    expect((await listen(ground.provider())).text).toBe("ok");
  });

  test.each([
    [status(401, { error: "refresh_token_expired" }), /refresh_token_expired/],
    [status(401, { code: "refresh_token_invalidated" }), /refresh_token_invalidated/],
    [status(400, { error: "invalid_grant" }), /server refused it/],
    [status(401, "<html>"), /server refused it/],
  ])("is understood in every form", async (reply, text) => {
    ground.write(ending());
    ground.server.script(reply);
    expect(await failureOf(listen(ground.provider()))).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(text),
    });
  });

  test("refresh_token_reused: what another program stored meanwhile is used instead", async () => {
    ground.write(ending());
    const fresh = jwt(9999, {}, "of codex");
    ground.server.script((exchange) => {
      ground.write(loginFile({ access_token: fresh, refresh_token: "refresh-token-codex" }));
      return refused("refresh_token_reused")(exchange);
    }, ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    expect(paths()).toEqual([RENEW, ASK]);
    expect(ground.server.requests[1]?.headers.authorization).toBe(`Bearer ${fresh}`);
    expect(storedToken()).toBe(fresh);
  });

  test("refresh_token_reused twice ends there", async () => {
    ground.write(ending());
    ground.server.script((exchange) => {
      ground.write(ending({ refresh_token: "refresh-token-other" }));
      return refused("refresh_token_reused")(exchange);
    }, refused("refresh_token_reused"));
    expect((await failureOf(listen(ground.provider()))).message).toMatch(/refresh_token_reused/);
    expect(paths()).toEqual([RENEW, RENEW]);
  });

  test.each([
    ["no token", {}],
    ["a token that no header could carry", { access_token: "a\r\nx: 1", refresh_token: "refresh-token-odd" }],
    ["a token of another type", { access_token: 7 }],
    ["a web page", "<html><title>Sign in</title>"],
  ])("an answer with %s is named with what to check, and nothing is stored", async (_, body) => {
    const before = ending();
    ground.write(before);
    ground.server.script(status(200, body));
    const { kind, message } = await failureOf(listen(ground.provider({ maxRetries: 0 })));
    expect(kind).toBe("protocol");
    expect(message).toMatch(/returned no access token; check providers\.vendor\.refresh\.url$/);
    expect(ground.read()).toEqual(before);
  });

  test("no token is in the message of a renewal that failed", async () => {
    ground.write(ending());
    ground.server.script(status(500, { error: { message: "cannot use refresh-token-first" } }));
    expect((await failureOf(listen(ground.provider({ maxRetries: 0 })))).message).toContain(
      "cannot use [key]",
    );
  });
});
