// Which failures are about the login.
import { describe, expect, test } from "vitest";
import { endTurn, hasAuthError } from "../../../src/backends/codex/mcp-server/result.ts";
import { createState } from "../../../src/backends/codex/mcp-server/state.ts";
import { translate } from "../../../src/backends/codex/mcp-server/translate.ts";

describe("the error that ends a turn", () => {
  test.each<[object, boolean]>([
    [{ code: -32001, message: "x" }, true],
    [{ code: -32002, message: "x" }, true],
    [{ code: 403, message: "x" }, true],
    [{ code: 1, message: "x", data: { code: 401 } }, true],
    [{ code: 1, message: "x", data: { type: "Unauthorized" } }, true],
    [{ code: 1, message: "x", data: { type: "other", code: 500 } }, false],
    [{ message: "unexpected status 401" }, true],
    [{ message: "HTTP 403: forbidden" }, true],
    [{ message: "Not Authenticated" }, true],
    [{ message: "Auth required" }, true],
    [{ message: "Please run `codex login` first" }, true],
    [{ message: "please run codex login" }, true],
    [{ message: "missing API key" }, true],
    [{ message: "set OPENAI_API_KEY" }, true],
    [{ message: "unauthorized" }, true],
    [{ message: "request 4012 took 14033 ms" }, false],
    [{ message: "model is overloaded" }, false],
    [{}, false],
  ])("%j: %s", (error, isAuth) => {
    const reports = endTurn(createState({}, "t"), { kind: "error", error: { ...error } });
    expect(reports.some(({ kind }) => kind === "auth_failed")).toBe(isAuth);
  });
});

test.each<[unknown, boolean]>([
  ["unauthorized", true],
  [{ http_connection_failed: { http_status_code: 401 } }, true],
  [{ response_stream_connection_failed: { http_status_code: 403 } }, true],
  [{ http_connection_failed: { http_status_code: 500 } }, false],
  ["usage_limit_exceeded", false],
  [undefined, false],
])("codex_error_info %j: %s", (info, isAuth) => {
  const state = { ...createState({}, "t"), requestId: 3 };
  const msg = { type: "error", codex_error_info: info };
  translate(state, "codex/event", { _meta: { requestId: 3 }, msg });
  const reports = endTurn(state, { kind: "error", error: { message: "it broke" } });
  expect(reports.some(({ kind }) => kind === "auth_failed")).toBe(isAuth);
});

test("only the last lines of a codex that died count", () => {
  const quiet = Array.from({ length: 5 }, (_, n) => `line ${n}`);
  expect(hasAuthError(["got 401", ...quiet])).toBe(false);
  expect(hasAuthError([...quiet, "got 401"])).toBe(true);
  expect(hasAuthError([])).toBe(false);
});
