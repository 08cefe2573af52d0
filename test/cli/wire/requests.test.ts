// Requests listed and answered from the shell: the program against a scripted daemon.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { noticeOf, pending, QUESTIONS, resolved, responded } from "../../client/request-rows.ts";
import {
  type Json,
  openAnything,
  type Responder,
  result,
  ScriptedServer,
} from "../../client/scripted-server.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let server: ScriptedServer;

beforeAll(() => {
  program = new BuiltProgram();
});
afterAll(() => program.remove());
beforeEach(async () => {
  server = await ScriptedServer.start(openAnything);
});
afterEach(() => server.close());

const run = (args: string[], input = ""): Promise<Ran> => program.run(server.path, args, input);

const row = pending();

/** Only the owner may answer; `isAttached` says whether another client is the owner. */
function ledger(said: Json[], isAttached: boolean): Responder {
  let isOwner = false;
  return (frame) => {
    const { type, id, session_id } = frame;
    if (type === "blemeesd.list_requests") {
      const over = { ...resolved(pending({ request_id: "req_old" })), answer: { decision: "decline" } };
      const { request_id } = frame;
      const all = frame["include_settled"] === true ? [over, row] : [row];
      const requests = all.filter((one) => [undefined, one.request_id].includes(request_id as string));
      return [{ type: "blemeesd.requests", id, requests }];
    }
    if (type === "blemeesd.session_info") {
      const info = { session_id, backend: "demo", attached: isAttached, last_seq: 7 };
      return [{ type: "blemeesd.session_info_reply", id, ...info }];
    }
    if (type === "blemeesd.open") isOwner = true;
    if (type !== "blemeesd.respond") return openAnything(frame);
    said.push(frame);
    if (frame["request_id"] === "req_old") return [responded(frame, resolved(row), true)];
    if (isOwner) return [responded(frame, resolved(row))];
    return [{ type: "blemeesd.error", id, session_id, code: "answer_not_allowed", message: "not yours" }];
  };
}

test("requests shows pending ones completely, and with --all a table of finished ones", async () => {
  server.responder = ledger([], false);
  const { stdout } = await run(["requests"]);
  expect(stdout).toMatch(
    /^\? s1 \(demo\) asks to run a command:.*blemeesctl accept req_a1 \(or blemeesctl decline\)\n$/s,
  );
  expect((await run(["requests", "--ids"])).stdout).toBe("req_a1\n");
  expect((await run(["requests", "--all"])).stdout).toMatch(
    /^REQUEST .*\nreq_old +s1 +resolved .*\n\? s1 \(demo\) asks/,
  );
  expect(JSON.parse((await run(["requests", "--json"])).stdout)).toMatchObject({ requests: [row] });
});

test("a detached session's request is answered from the shell, with the hash of the request", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  const { code, stdout } = await run(["accept", "req_a1"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Approved; sent to the agent.\n" });
  expect(said.at(-1)).toMatchObject({
    answer: { decision: "accept" },
    shown_hash: "hash-a1",
    source: "blemeesctl",
  });
});

test("a word that is not a request id is named, and no request is shown or answered", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  const { code, stderr } = await run(["accept", "nope", "x"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^blemeesctl: "nope" is not a request id \(req_…\); `blemeesctl requests` lists them\n/,
  );
  expect(said).toEqual([]);
});

test.each([["accept"], ["always"], ["accept-session"], ["accept", "req_"], ["answer", "1=x"]])(
  "%s %s approves nothing that was not named: the request is shown, with what to type",
  async (...args) => {
    const said: Json[] = [];
    server.responder = ledger(said, false);
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout, said }).toEqual({ code: 2, stdout: "", said: [] });
    expect(stderr).toMatch(/^\? demo asks .*│ mkdir -p build\n.*Answer: blemeesctl /s);
    expect(stderr).toMatch(new RegExp(`name the request .*:\\n {2}blemeesctl ${args[0]} req_a1`));
  },
);

test("a refusal needs no name if there is only one request, and names it", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  const { code, stderr } = await run(["decline"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^\? s1 \(demo\) asks .*Your answer: decline\n$/s);
  expect(said.at(-1)).toMatchObject({ request_id: "req_a1", answer: { decision: "decline" } });
});

test("a request that was shown may be named by its hash", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  expect(await run(["accept", "--shown", "other"])).toMatchObject({ code: 2 });
  expect(said).toEqual([]);
  expect(await run(["accept", "--shown", "hash-a1"])).toMatchObject({ code: 0 });
  expect(said.at(-1)).toMatchObject({ request_id: "req_a1", shown_hash: "hash-a1" });
});

/** A ledger of many pages; the second request of each is too long for a list. */
function manyPages(asked: Json[], pages: number): Responder {
  const { title, choices } = row.payload;
  const nameOf = (page: number, name: string): string => `req_${name}${String(page).padStart(4, "0")}`;
  return (frame) => {
    if (frame["type"] === "blemeesd.respond") return [responded(frame, resolved(row))];
    if (frame["type"] !== "blemeesd.list_requests") return openAnything(frame);
    const { id, request_id, after, limit } = frame;
    asked.push(frame);
    if (request_id !== undefined) {
      const isThere = request_id === nameOf(2, "b");
      return [{ type: "blemeesd.requests", id, requests: isThere ? [pending({ request_id })] : [] }];
    }
    const page = Number(after ?? 1);
    const rows = [
      pending({ request_id: nameOf(page, "a") }),
      { ...pending({ request_id: nameOf(page, "b"), payload: { title, choices } }), is_cut: true },
    ];
    const next = page < pages ? { next: String(page + 1) } : {};
    return [{ type: "blemeesd.requests", id, requests: rows.slice(0, Number(limit ?? 2)), ...next }];
  };
}

test("requests goes through all pages, reports what is cut, and stops at a limit", async () => {
  const asked: Json[] = [];
  server.responder = manyPages(asked, 3);
  const ids = (await run(["requests", "--ids"])).stdout.trim().split("\n");
  expect(ids).toEqual(["a0001", "b0001", "a0002", "b0002", "a0003", "b0003"].map((name) => `req_${name}`));
  const { stdout } = await run(["requests"]);
  expect(stdout).toContain("(truncated: this is not the whole request)");
  asked.length = 0;
  expect((await run(["requests", "--ids", "--limit", "3"])).stdout.trim().split("\n")).toHaveLength(3);
  expect(asked.map(({ limit, after }) => [limit, after])).toEqual([
    [3, undefined],
    [1, "2"],
  ]);
  expect((await run(["requests", "--json"])).stdout.trim().split("\n")).toHaveLength(3);
});

test("one request is fetched by its id alone, and shown completely", async () => {
  const asked: Json[] = [];
  server.responder = manyPages(asked, 3);
  const { stdout } = await run(["requests", "req_b0002"]);
  expect(stdout).toMatch(
    / {2}│ mkdir -p build\n.*Answer: blemeesctl accept req_b0002 \(or blemeesctl decline\)\n$/s,
  );
  expect(await run(["accept", "req_b0002"])).toMatchObject({ code: 0 });
  expect(asked.map(({ request_id }) => request_id)).toEqual(["req_b0002", "req_b0002"]);
});

test("an id prefix is looked up on all pages", async () => {
  server.responder = manyPages([], 3);
  expect(await run(["accept", "req_a0003"])).toMatchObject({ code: 0 });
  expect(await run(["accept", "req_a000"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/several requests match.*req_a0001.*req_a0003/s),
  });
});

test("a request of a session with an owner is answered only with --take", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, true);
  expect(await run(["decline", "req_a1", "use", "git", "mv"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/add --take/),
  });
  expect(said).toHaveLength(1);
  expect(await run(["decline", "--take", "req_a1", "use", "git", "mv"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Your answer: decline use git mv\n"),
  });
  expect(said.at(-1)).toMatchObject({ answer: { decision: "decline", message: "use git mv" } });
});

test("--shown is the hash that the answer is for", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  await run(["accept", "req_a1", "--shown", "older"]);
  expect(said.at(-1)).toMatchObject({ shown_hash: "older" });
});

test("an answer that came too late because another was first fails, and names that one", async () => {
  server.responder = ledger([], false);
  expect(await run(["decline", "req_old"])).toMatchObject({
    code: 1,
    stdout: "Already answered by a program: accept\n",
  });
  expect(await run(["accept", "req_old"])).toMatchObject({ code: 0 });
});

test("another answer to the same question does not count as the same answer", async () => {
  const asks = pending({ payload: QUESTIONS, request_type: "user_input" });
  const answer = { answers: { "Which colour?": "Red", q2: "[secret]" } };
  server.responder = (frame) =>
    frame["type"] === "blemeesd.list_requests"
      ? [{ type: "blemeesd.requests", id: frame["id"], requests: [asks] }]
      : [responded(frame, resolved(asks, { answer }), true)];
  expect(await run(["answer", "req_a1", "1=Blue", "2=x"])).toMatchObject({
    code: 1,
    stdout: "Already answered by a program: answer Which colour?=Red q2=[secret]\n",
  });
  expect(await run(["answer", "req_a1", "1=Red", "2=x"])).toMatchObject({ code: 0 });
});

test("a secret answer is read from stdin, so that no process list shows it", async () => {
  const said: Json[] = [];
  const asks = pending({ payload: QUESTIONS, request_type: "user_input" });
  server.responder = (frame) => {
    const { type, id } = frame;
    if (type === "blemeesd.list_requests") return [{ type: "blemeesd.requests", id, requests: [asks] }];
    said.push(frame);
    return [responded(frame, resolved(asks))];
  };
  expect(await run(["answer", "req_a1", "1=Red", "2=-"], '"s3cret" = x\n')).toMatchObject({ code: 0 });
  expect(said).toMatchObject([{ answer: { answers: { "Which colour?": "Red", q2: '"s3cret" = x' } } }]);
});

test("an answer without a request is a usage error", async () => {
  server.responder = ({ id }) => [{ type: "blemeesd.requests", id, requests: [] }];
  expect(await run(["accept"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no pending requests/),
  });
});

test("run shows a request on stderr and continues when it was answered elsewhere", async () => {
  server.responder = (frame) =>
    frame["type"] === "agent.user"
      ? [row, resolved(row)]
          .map((state, at) => noticeOf({ ...state, session_id: String(frame["session_id"]) }, at + 1))
          .concat(result(String(frame["session_id"]), 3))
      : openAnything(frame);
  const { code, stderr } = await run(["run", "-q", "--answers", "any", "approve"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^\? demo asks .*Choices:.*Answer: blemeesctl accept req_a1 \(or blemeesctl decline\)\n$/s,
  );
  expect(await run(["run", "--answers", "all", "x"])).toMatchObject({ code: 2 });
});
