// The ledger's inputs, one command each: the change to the model, and the same change in the real world.
import assert from "node:assert/strict";
import fc from "fast-check";
import { allRequests } from "../sessions/fakes.ts";
import { askFor, REPLIES, type Reply, replyTo } from "./asks.ts";
import * as m from "./model.ts";
import { verify } from "./verify.ts";
import type { World } from "./world.ts";

type Command = fc.AsyncCommand<m.Model, World>;

interface Action {
  name: string;
  check?(model: m.Model): boolean;
  run(model: m.Model, world: World): Promise<void>;
}

function command({ name, check = () => true, run }: Action): Command {
  return {
    check: (model) => check(model),
    run: async (model, world) => {
      await run(model, world);
      await world.quiet();
      m.letGo(model);
      await verify(model, world);
    },
    toString: () => name,
  };
}

/** Advances both clocks. An answer that the agent does not take is given up after a delay, and only then settled. */
async function pass(model: m.Model, world: World, ms: number): Promise<void> {
  const isStuck = m.passed(model, ms);
  await world.pass(ms);
  m.letGo(model);
  if (isStuck) await pass(model, world, m.LIMIT_MS);
}

async function restart(model: m.Model, world: World): Promise<void> {
  m.restarted(model);
  await world.restart();
}

function agentOf(model: m.Model, session: number): number | undefined {
  return model.sessions[session]?.agent;
}

function sendRefusal(model: m.Model, at: number): string | undefined {
  const found = model.sessions[at];
  if (found?.isOwned !== true) return "session_unknown";
  if (found.hasTurn) return "session_busy";
  if (m.pendingOf(model, at).length > 0) return "pending_structured_request";
  return m.isWaiting(model, at) ? "session_busy" : undefined;
}

async function begin(model: m.Model, world: World, at: number): Promise<void> {
  const expected = sendRefusal(model, at);
  const outcome = await world.send(at).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  assert.equal(outcome, expected, "what a message gets");
  const found = model.sessions[at];
  if (expected !== undefined || found === undefined) return;
  Object.assign(found, { hasTurn: true, agent: found.agent ?? model.agents++ });
}

/** One of them; the first is more likely. */
function often<T>(times: number, first: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.constantFrom(...Array<T>(times).fill(first), ...others);
}

const session = fc.nat(1);
const kinds = fc.array(fc.constantFrom(...m.KINDS), { minLength: 1, maxLength: 3 });
/** When the daemon is killed mid-write, or how slow the disk is. */
const whenAsked = often(6, "at once", "slow", "slow", "cut unstored", "cut stored");

const ask = fc.tuple(session, kinds, whenAsked, fc.boolean()).map(([at, which, when, inTurn]) =>
  command({
    name: `ask(${at}, ${which.join("+")}, ${when}${inTurn ? ", in a turn" : ""})`,
    check: (model) =>
      agentOf(model, at) !== undefined &&
      !(model.isFailing && (when !== "at once" || model.sessions[at]?.isDeaf === true)),
    async run(model, world) {
      if (inTurn && sendRefusal(model, at) === undefined) await begin(model, world, at);
      const agent = agentOf(model, at) ?? 0;
      const before = new Set(model.requests.map(({ request_id }) => request_id));
      const used = model.requests.filter((request) => request.agent === agent).length;
      const refused = model.heard.filter((text) => text.startsWith(`${agent} `)).length;
      const asks = which.map((kind, n) => ({ kind, ask: askFor(kind, `n${used + refused + n}`) }));
      if (when === "slow" || when === "cut unstored") world.disk.halt("unstored");
      if (when === "cut stored") world.disk.halt("stored");
      for (const one of asks) world.ask(agent, one.ask);
      await world.quiet();
      if (when === "slow") await verify(model, world);
      if (when === "cut unstored") return restart(model, world);
      if (when !== "cut stored") world.disk.release();
      await world.quiet();
      if (model.isFailing) {
        for (const { kind, ask } of asks)
          model.heard.push(`${agent} ${ask.native_id} ${JSON.stringify(m.policyOf(kind))}`);
        return;
      }
      const rows = await world.disk.store.requests({ session_id: world.session_ids[at] ?? "" });
      const added = rows.filter(({ request_id }) => !before.has(request_id));
      for (const { kind, ask } of asks) {
        const row = added.find(({ payload }) => payload.title === ask.payload.title);
        assert.deepEqual(row?.payload, ask.payload, "each of them is a new row with what was asked");
        m.asked(model, { request_id: row?.request_id ?? "", session: at, ask, kind });
      }
      if (when === "cut stored") await restart(model, world);
    },
  }),
);

/** Where the daemon is killed: the request and the rule's answer are two writes, and its delivery is a third. */
const RULE_CUTS = [
  "cut unstored",
  "cut undecided",
  "cut unanswered",
  "cut answered",
  "cut undispatched",
  "cut unrecorded",
] as const;

const askRuled = fc
  .tuple(session, fc.constantFrom(...m.RULED), often(6, "at once", ...RULE_CUTS))
  .map(([at, kind, when]) =>
    command({
      name: `askRuled(${at}, ${kind}, ${when})`,
      check: (model) =>
        agentOf(model, at) !== undefined && !(model.isFailing || model.sessions[at]?.isDeaf === true),
      async run(model, world) {
        const agent = agentOf(model, at) ?? 0;
        const answer = m.ruledAnswer(kind);
        const used = model.requests.filter((request) => request.agent === agent).length;
        const refused = model.heard.filter((text) => text.startsWith(`${agent} `)).length;
        const asked = askFor(kind, `n${used + refused}`);
        if (when === "cut unstored") world.disk.halt("unstored");
        if (when === "cut undecided") world.disk.halt("stored");
        if (when === "cut unanswered") world.disk.halt("unstored", 1);
        if (when === "cut answered") world.disk.halt("stored", 1);
        if (when === "cut undispatched") world.deafen(agent);
        if (when === "cut unrecorded") world.disk.halt("unstored", 2);
        const before = new Set(model.requests.map(({ request_id }) => request_id));
        world.ask(agent, asked);
        await world.quiet();
        if (when === "cut unstored") return restart(model, world);
        const rows = await world.disk.store.requests({ session_id: world.session_ids[at] ?? "" });
        const row = rows.find(({ request_id }) => !before.has(request_id));
        assert.deepEqual(row?.payload, asked.payload, "a new row with what was asked");
        if (when === "cut unanswered") {
          const listed = await allRequests(world.hub, { settled: true, orphaned: true });
          assert(
            !listed.some(({ request_id }) => request_id === row?.request_id),
            "listed before it is shown",
          );
        }
        const request = m.asked(model, { request_id: row?.request_id ?? "", session: at, ask: asked, kind });
        const isDecided = answer !== undefined && when !== "cut undecided" && when !== "cut unanswered";
        if (!isDecided) return when === "at once" ? undefined : restart(model, world);
        if (when === "at once") return m.resolved(model, request, answer, "policy");
        const state = {
          status: "resolved",
          answer,
          resolution_source: "policy",
          isDispatched: false,
        } as const;
        Object.assign(request, { live: state, stored: state });
        request.told.push("request_resolved");
        model.uses += 1;
        if (when === "cut unrecorded") request.heard.push(answer);
        return restart(model, world);
      },
    }),
  );

/** Prefers answering pending requests. */
function pick(model: m.Model, n: number): m.Request | undefined {
  const pending = model.requests.filter(({ live }) => live.status === "pending");
  const from = n % 3 < 2 && pending.length > 0 ? pending : model.requests;
  return from[Math.floor(n / 3) % Math.max(1, from.length)];
}

/** The error for the answer, from the state alone; undefined if it is accepted. */
function refusal(model: m.Model, request: m.Request, who: string, reply: Reply): string | undefined {
  const found = model.sessions[request.session];
  if (found?.isLive && found.answers === "owner" && (who !== "owner" || !found.isOwned))
    return "answer_not_allowed";
  const { status } = request.live;
  if (status === "resolved") return "repeated";
  if (status !== "pending") return `request_${status}`;
  return replyTo(request.kind, reply).refusedAs ?? (model.isFailing ? "store_failed" : undefined);
}

const CUTS = ["cut unstored", "cut stored", "cut undispatched", "cut unrecorded"] as const;
const whenAnswered = often(8, "at once", "stuck", "stuck", "stuck", ...CUTS);
const replies = often(6, ...REPLIES);

const respond = fc
  .tuple(fc.nat(30), fc.constantFrom("owner", "owner", "watcher"), replies, whenAnswered)
  .map(([n, who, reply, when]) =>
    command({
      name: `respond(${n}, ${who}, ${reply}, ${when})`,
      check: (model) => model.requests.length > 0,
      async run(model, world) {
        const request = pick(model, n);
        if (request === undefined) return;
        const { answer } = replyTo(request.kind, reply);
        const refusedAs = refusal(model, request, who, reply);
        const found = model.sessions[request.session];
        const isStuck = refusedAs === undefined && when === "stuck" && !found?.isDeaf;
        if (isStuck) Object.assign(found ?? {}, { isDeaf: true });
        if (isStuck) world.deafen(request.agent);
        const isCut = refusedAs === undefined && when.startsWith("cut") && !found?.isDeaf;
        if (isCut && when === "cut unstored") world.disk.halt("unstored");
        if (isCut && when === "cut stored") world.disk.halt("stored");
        if (isCut && when === "cut undispatched") world.deafen(request.agent);
        if (isCut && when === "cut unrecorded") world.disk.halt("unstored", 1);
        const hash = reply === "wrong hash" ? { shown_hash: "0".repeat(64) } : {};
        const order = { request_id: request.request_id, answer, ...hash };
        const outcome = outcomeOf(world.respond(request.session, who, order));
        await world.quiet();
        if (isCut) {
          if (when === "cut unrecorded" && !request.isTampered) request.heard.push(answer);
          if (when === "cut unrecorded" && request.isTampered) request.heard.push(m.policyOf(request.kind));
          if (when !== "cut unstored") {
            const state = {
              status: "resolved",
              answer,
              resolution_source: "api",
              isDispatched: false,
            } as const;
            Object.assign(request, { live: state, stored: state });
            request.told.push("request_resolved");
          }
          return restart(model, world);
        }
        if (refusedAs === undefined) m.resolved(model, request, answer);
        if (request.handed !== undefined && refusedAs === undefined) await pass(model, world, m.LIMIT_MS);
        assert.equal(
          await atOnce(world, outcome),
          expectedOutcome(request, refusedAs),
          "what the answer gets",
        );
      },
    }),
  );

function expectedOutcome(request: m.Request, refusedAs: string | undefined): string {
  const { status } = request.live;
  if (refusedAs !== undefined && refusedAs !== "repeated") return refusedAs;
  if (status !== "resolved") return `request_${status}`;
  const answer = JSON.stringify(m.masked(request.live.answer, request.kind));
  return `${refusedAs === "repeated" ? "repeated" : "taken"} ${answer}`;
}

async function outcomeOf(responding: ReturnType<World["respond"]>): Promise<string> {
  try {
    const { request, repeated } = await responding;
    return `${repeated ? "repeated" : "taken"} ${JSON.stringify(request.answer)}`;
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
}

/** Every answer has a reply once everything is idle. */
function atOnce(world: World, outcome: Promise<string>): Promise<string> {
  return Promise.race([outcome, world.quiet().then(() => "nothing")]);
}

const respondUnknown = fc.tuple(session, fc.boolean()).map(([at, isElsewhere]) =>
  command({
    name: `respondUnknown(${at}, ${isElsewhere})`,
    async run(model, world) {
      // Known, but in the other session.
      const other = model.requests.find((request) => request.session !== at);
      const request_id = isElsewhere ? (other?.request_id ?? "req_x") : "req_x";
      const found = model.sessions[at];
      const isAllowed = !found?.isLive || found.answers === "any" || found.isOwned;
      const order = { request_id, answer: { decision: "accept" as const } };
      const outcome = await atOnce(world, outcomeOf(world.respond(at, "owner", order)));
      assert.equal(outcome, isAllowed ? "request_unknown" : "answer_not_allowed");
    },
  }),
);

const withdraw = fc.nat(30).map((n) =>
  command({
    name: `withdraw(${n})`,
    check: (model) => pick(model, n)?.isAwaited === true,
    async run(model, world) {
      const request = pick(model, n);
      if (request === undefined) return;
      world.withdraw(request.agent, request.ask.native_id);
      request.isAwaited = false;
      if (request.live.status === "pending") m.end(model, request, "withdrawn", "request_withdrawn");
    },
  }),
);

const tamper = fc.nat(30).map((n) =>
  command({
    name: `tamper(${n})`,
    check: (model) => pick(model, n)?.live.status === "pending",
    async run(model, world) {
      const request = pick(model, n);
      if (request === undefined) return;
      request.isTampered = true;
      world.disk.tampered.add(request.request_id);
    },
  }),
);

/** Commands that need an agent in the session. */
function onAgent(
  name: string,
  run: (model: m.Model, world: World, at: number, agent: number) => Promise<void>,
  check: (found: m.Session) => boolean = () => true,
): fc.Arbitrary<Command> {
  return session.map((at) =>
    command({
      name: `${name}(${at})`,
      check: (model) => {
        const found = model.sessions[at];
        return found?.agent !== undefined && check(found);
      },
      run: (model, world) => run(model, world, at, agentOf(model, at) ?? 0),
    }),
  );
}

const crash = onAgent("crash", async (model, world, at, agent) => {
  world.crash(agent);
  m.agentEnded(model, at);
});

const interrupt = onAgent(
  "interrupt",
  async (model, world, at, agent) => {
    await world.interrupt(at, agent);
    m.interrupted(model, at);
    Object.assign(model.sessions[at] ?? {}, { hasTurn: false });
  },
  ({ isOwned, hasTurn }) => isOwned && hasTurn,
);

const endTurn = onAgent(
  "endTurn",
  async (model, world, at, agent) => {
    world.endTurn(agent);
    Object.assign(model.sessions[at] ?? {}, { hasTurn: false });
  },
  ({ hasTurn }) => hasTurn,
);

const deafen = onAgent(
  "deafen",
  async (model, world, at, agent) => {
    world.deafen(agent);
    Object.assign(model.sessions[at] ?? {}, { isDeaf: true });
  },
  ({ isDeaf }) => !isDeaf,
);

const hear = onAgent(
  "hear",
  async (model, world, at, agent) => {
    world.hear(agent);
    Object.assign(model.sessions[at] ?? {}, { isDeaf: false });
    for (const request of model.requests) if (request.agent === agent) m.taken(model, request);
  },
  ({ isDeaf }) => isDeaf,
);

const send = session.map((at) =>
  command({
    name: `send(${at})`,
    check: (model) => model.sessions[at]?.isOwned === true,
    run: (model, world) => begin(model, world, at),
  }),
);

const detach = session.map((at) =>
  command({
    name: `detach(${at})`,
    check: (model) => model.sessions[at]?.isOwned === true,
    async run(model, world) {
      world.detach(at);
      Object.assign(model.sessions[at] ?? {}, { isOwned: false });
    },
  }),
);

const open = session.map((at) =>
  command({
    name: `open(${at})`,
    check: (model) => model.sessions[at]?.isOwned !== true,
    async run(model, world) {
      await world.open(at);
      m.opened(model, at);
    },
  }),
);

const close = fc.tuple(session, often(2, false, true)).map(([at, isDeleted]) =>
  command({
    name: `close(${at}${isDeleted ? ", delete" : ""})`,
    check: (model) => model.sessions[at]?.isOwned === true,
    async run(model, world) {
      await world.close(at, isDeleted);
      m.closed(model, at);
      if (isDeleted) m.deleted(model, at);
    },
  }),
);

const wait = fc
  .constantFrom(m.LIMIT_MS, 52_000, 104_000)
  .map((ms) => command({ name: `wait(${ms})`, run: (model, world) => pass(model, world, ms) }));

const fail = fc.constant(
  command({
    name: "fail",
    check: ({ isFailing }) => !isFailing,
    async run(model, world) {
      model.isFailing = true;
      world.disk.failing = true;
    },
  }),
);

/** The disk works again; pending writes are retried after a delay. */
const heal = fc.constant(
  command({
    name: "heal",
    check: ({ isFailing }) => isFailing,
    async run(model, world) {
      model.isFailing = false;
      world.disk.failing = false;
      await pass(model, world, m.LIMIT_MS);
    },
  }),
);

const kill = fc.constant(command({ name: "restart", run: restart }));

/** Listed twice: twice as likely. */
export const COMMANDS: fc.Arbitrary<Command>[] = [
  ...[askRuled, askRuled, askRuled],
  ...[ask, ask, ask, ask, ask, ask, respond, respond, respond, respond, respond, respond, respond, respond],
  ...[respondUnknown, withdraw, withdraw, tamper, crash, interrupt, endTurn, deafen, hear, hear],
  ...[send, send, detach, open, open, open, open, close, wait, wait, fail, heal, heal, heal, kill],
];
