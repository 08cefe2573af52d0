// Bugs for the model to find: each is a small change of the true source, as somebody could make it by accident.

export interface Bug {
  name: string;
  edits: Edit[];
}

export interface Edit {
  /** In src/sessions. */
  file: string;
  /** Stands there exactly once. */
  from: string;
  to: string;
}

const inRequests = (from: string, to: string): Edit[] => [{ file: "requests.ts", from, to }];

export const BUGS: Bug[] = [
  {
    name: "a request is listed before it is stored",
    edits: inRequests("isShown: false,", "isShown: true,"),
  },
  {
    name: "a notice goes out before the row is stored",
    edits: inRequests(
      "const failure = await this.#options.publisher.publishRequest(stream, next, noticeOf(next));",
      `this.#options.publisher.publish(stream, noticeOf(next));
       await stream.settled();
       const failure = await this.#options.publisher.publishRequest(stream, next, undefined);`,
    ),
  },
  {
    name: "the notice of a request that the disk refused is shown all the same",
    edits: [
      {
        file: "stream.ts",
        from: "tails.filter((tail) => !taken.requests.some((request) => request.tail === tail))",
        to: "tails",
      },
    ],
  },
  {
    name: "a restart leaves pending requests alone",
    edits: [
      {
        file: "recover.ts",
        from: "  for (const request of requests) {\n    const next",
        to: "  for (const request of []) {\n    const next",
      },
    ],
  },
  {
    name: "a restart says nothing of an answer that was not dispatched",
    edits: [
      {
        file: "recover.ts",
        from: "  for (const request of requests) {\n    const next",
        to: '  for (const request of requests.filter((row) => row.status !== "resolved")) {\n    const next',
      },
    ],
  },
  {
    name: "a second answer overwrites the first",
    edits: [
      ...inRequests(
        'if (row.status !== "pending") return answered(row, order.answer);',
        'if (row.status !== "pending" && row.status !== "resolved") return answered(row, order.answer);',
      ),
      {
        file: "request-states.ts",
        from: 'return step(row, ["pending"], {\n    status: "resolved",',
        to: 'return step(row, ["pending", "resolved"], {\n    status: "resolved",',
      },
    ],
  },
  {
    name: "an answer is dispatched twice",
    edits: inRequests(
      "if (isSettled(open.row)) return; // its agent ended while it did not take the answer",
      "await open.asker.answer(open.native_id, answer);",
    ),
  },
  {
    name: "a repeated answer is an error",
    edits: [
      {
        file: "request-words.ts",
        from: 'if (row.status === "resolved") return',
        to: "if (row.dispatched_at_ms === 0) return",
      },
    ],
  },
  {
    name: "the agent's taking back is ignored",
    edits: inRequests(
      "if (open.native_id === native_id) this.#withdraw(open, reason);",
      "if (open.native_id === reason) this.#withdraw(open, reason);",
    ),
  },
  {
    name: "an interrupted turn leaves its requests pending",
    edits: [{ file: "conversation.ts", from: "this.#context.ledger.interrupted(this.#asker);", to: "" }],
  },
  {
    name: "an agent that died leaves its requests pending",
    edits: inRequests("if (!isSettled(open.row)) await", 'if (open.row.status === "expired") await'),
  },
  {
    name: "an orphan is not told",
    edits: inRequests(
      "await this.#finish(open, next, true);",
      'await this.#finish(open, next, next.status !== "orphaned");',
    ),
  },
  {
    name: "an expired request is not answered by policy",
    edits: inRequests(
      'this.#log.info("request.expired", idsOf(open.row));\n    await within(DISPATCH_LIMIT_MS, this.#dispatch(open));',
      'this.#log.info("request.expired", idsOf(open.row));',
    ),
  },
  {
    name: "an answer of the wrong type is taken",
    edits: inRequests("checkAnswer(row, order.answer);", "order.answer;"),
  },
  {
    name: "an answer to another version of the request is taken",
    edits: inRequests("order.shown_hash !== row.shown_hash", "order.shown_hash === row.shown_hash"),
  },
  {
    name: "what was stored is not compared with what was shown",
    edits: inRequests("hashOf(stored.payload) === open.row.shown_hash", "open.row.shown_hash !== undefined"),
  },
  {
    name: "an answer that the disk refused is dispatched",
    edits: inRequests(
      "    if (failure === undefined) return;\n    throw",
      "    if (failure !== undefined) open.row = next;\n    return;\n    throw",
    ),
  },
  {
    name: "what the disk refused is not tried again",
    edits: inRequests("() => this.#step(open, () => this.#finish(open, next, isNews))", "() => undefined"),
  },
  {
    name: "a watcher may answer for the owner",
    edits: [
      {
        file: "session.ts",
        from: 'if (this.owner !== client && this.row.answers !== "any") throw',
        to: 'if (this.owner === undefined && this.row.answers !== "any") throw',
      },
    ],
  },
  {
    name: "a request of one session is answered through another",
    edits: inRequests(" || open.row.session_id !== order.session_id", ""),
  },
  {
    name: "a secret stays in the store once the agent has it",
    edits: [
      {
        file: "request-states.ts",
        from: 'return withoutSecrets(step(row, ["resolved", "expired"], { ...byPolicy, dispatched_at_ms: nowMs }));',
        to: 'return step(row, ["resolved", "expired"], { ...byPolicy, dispatched_at_ms: nowMs });',
      },
    ],
  },
];
