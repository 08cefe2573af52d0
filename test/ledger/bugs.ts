// Bugs for the model to find: each replaces lines of the true source, as somebody could do by accident. A line that takes
// part is marked in src/sessions with `// mutation: NAME`.

export interface Bug {
  name: string;
  /** The replacement of each marked line, by the name of the mark. */
  lines: Record<string, string>;
}

export const BUGS: Bug[] = [
  {
    name: "a request is listed before it is stored",
    lines: {
      "listed-when-stored": "isShown: true,",
    },
  },
  {
    name: "a notice goes out before the row is stored",
    lines: {
      "row-with-its-notice": `this.#options.publisher.publish(stream, noticeOf(next));
await stream.settled();
const failure = await this.#options.publisher.publishRequest(stream, next, undefined);`,
    },
  },
  {
    name: "the notice of a request that the disk refused is shown all the same",
    lines: {
      "refused-notice-not-shown": "const shown = tails;",
    },
  },
  {
    name: "a request is shown before policy has decided",
    lines: {
      "undecided-is-not-shown": "const notice = toRequestNotice(next);",
    },
  },
  {
    name: "a request that policy has not decided is listed",
    lines: {
      "undecided-is-not-listed": "if (!matchesSession(row, filter)) return false;",
    },
  },
  {
    name: "a restart does not report that an undecided request was asked",
    lines: {
      "restart-settles-requests":
        "settled.push(publisher.publishRequest(stream, next, toRequestNotice(next)));",
    },
  },
  {
    name: "a restart leaves pending requests alone",
    lines: {
      "restart-settles-requests": "",
    },
  },
  {
    name: "a restart does not report an answer that was not dispatched",
    lines: {
      "restart-settles-requests":
        'if (request.status !== "resolved") settled.push(publisher.publishRequest(stream, next, noticeOf(next)));',
    },
  },
  {
    name: "a second answer overwrites the first",
    lines: {
      "first-answer-wins":
        'if (row.status !== "pending" && row.status !== "resolved") return answered(row, order.answer);',
      "only-pending-is-resolved": 'return step(row, ["pending", "resolved"], change);',
    },
  },
  {
    name: "an answer is dispatched twice",
    lines: {
      "dispatched-once": "await open.asker.answer(open.native_id, answer);",
    },
  },
  {
    name: "a repeated answer is an error",
    lines: {
      "repeated-answer-is-known": "if (row.dispatched_at_ms === 0) return responded(row, given, true);",
    },
  },
  {
    name: "an agent withdrawing its request is ignored",
    lines: {
      "agent-withdraws":
        "for (const open of this.#reader.ofAsker(asker)) if (open.native_id === reason) this.#withdraw(open, reason);",
    },
  },
  {
    name: "an interrupted turn leaves its requests pending",
    lines: {
      "interrupt-settles-requests": "",
    },
  },
  {
    name: "an agent that died leaves its requests pending",
    lines: {
      "death-settles-requests":
        'if (open.row.status === "expired") await this.#settle(open, orphan(open.row, code, message));',
    },
  },
  {
    name: "an orphan is not reported",
    lines: {
      "orphan-is-reported": 'await this.#finish(open, next, next.status !== "orphaned");',
    },
  },
  {
    name: "an expired request is not answered by policy",
    lines: {
      "policy-answers-expired": "",
    },
  },
  {
    name: "an answer of the wrong type is accepted",
    lines: {
      "answer-is-checked": "const answer = order.answer;",
    },
  },
  {
    name: "an answer to another version of the request is accepted",
    lines: {
      "answer-names-what-was-shown":
        "if (order.shown_hash !== undefined && order.shown_hash === row.shown_hash) throw changed(row);",
    },
  },
  {
    name: "what was stored is not compared with what was shown",
    lines: {
      "stored-is-what-was-shown":
        "const isIntact = stored !== undefined && open.row.shown_hash !== undefined;",
    },
  },
  {
    name: "an answer that the disk refused is dispatched",
    lines: {
      "unstored-answer-is-refused": `if (failure !== undefined) open.row = next;
return;`,
    },
  },
  {
    name: "a write that the disk refused is not retried",
    lines: {
      "refused-write-is-tried-again": "open.timer = setTimeout(() => undefined, RETRY_MS);",
    },
  },
  {
    name: "a watcher may answer for the owner",
    lines: {
      "only-the-owner-answers":
        'if (this.owner === undefined && this.row.answers !== "any") throw notAllowed(this.row.session_id);',
    },
  },
  {
    name: "a request of one session is answered through another",
    lines: {
      "request-of-this-session": "if (open?.isShown !== true) return this.#reader.respondSettled(order);",
    },
  },
  {
    name: "a secret stays in the store once the agent has it",
    lines: {
      "secret-leaves-the-store":
        'return step(row, ["resolved", "expired"], { ...byPolicy, dispatched_at_ms: nowMs });',
    },
  },
];
