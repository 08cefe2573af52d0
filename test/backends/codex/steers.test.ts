import { expect, test } from "vitest";
import type { Incoming } from "../../../src/backends/codex/app-server/router.ts";
import { CodexSteers } from "../../../src/backends/codex/app-server/steers.ts";
import { CodexTurn } from "../../../src/backends/codex/app-server/turn.ts";
import type { RpcAnswer } from "../../../src/base/jsonrpc.ts";

const MESSAGE = { role: "user", content: "stop that" } as const;

function setUp() {
  const sent: object[] = [];
  const outcomes: string[] = [];
  let answered: (answer: RpcAnswer, size: number) => void = () => undefined;
  const steers = new CodexSteers({
    lane: {
      call(method, params, take) {
        sent.push({ method, ...params });
        answered = take;
        return sent.length;
      },
    },
    threadId: "th",
    steered: (message_id, how) => outcomes.push(`${message_id} ${how}`),
  });
  const item = { type: "userMessage", clientId: "m1" };
  const see = () =>
    steers.see({ kind: "notification", method: "item/started", params: { item }, size: 1 } as Incoming);
  return { steers, sent, outcomes, see, answer: (answer: RpcAnswer) => answered(answer, 1) };
}

test("it is sent when the turn has an id, and is part of it when Codex begins its item", () => {
  const { steers, sent, outcomes, see } = setUp();
  const turn = new CodexTurn();
  steers.add(turn, MESSAGE, "m1");
  expect(sent).toEqual([]);
  turn.id = "t1";
  steers.send(turn);
  const input = [{ type: "text", text: "stop that" }];
  const params = { threadId: "th", expectedTurnId: "t1", input, clientUserMessageId: "m1" };
  expect(sent).toEqual([{ method: "turn/steer", ...params }]);
  expect(outcomes).toEqual([]);
  see();
  steers.endTurn();
  expect(outcomes).toEqual(["m1 taken"]);
});

test("it comes back when Codex refuses it, when the turn ends first, or without a turn", () => {
  const refused = setUp();
  refused.steers.add(new CodexTurn("t1"), MESSAGE, "m1");
  refused.answer({ error: new Error("no active turn to steer") });
  expect(refused.outcomes).toEqual(["m1 returned"]);

  const late = setUp();
  late.steers.add(new CodexTurn("t1"), MESSAGE, "m1");
  late.steers.endTurn();
  late.see();
  expect(late.outcomes).toEqual(["m1 returned"]);

  const without = setUp();
  without.steers.add(undefined, MESSAGE, "m1");
  expect(without.outcomes).toEqual(["m1 returned"]);
});
