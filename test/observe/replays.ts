// Recorded traffic through the real translators and the reducer: the rows that the database would get.

import type { Ask } from "../../src/backends/types.ts";
import { observe } from "../../src/observe/reduce.ts";
import { observeRequest } from "../../src/observe/requests.ts";
import type { Row } from "../../src/observe/rows.ts";
import { createState, type SessionState } from "../../src/observe/state.ts";
import type { ToolEvent, TurnEvent } from "../../src/observe/types.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import { createTurn, makeStartedNotice, stampResult } from "../../src/sessions/core/turn.ts";
import { createPendingRow, resolve } from "../../src/sessions/requests/states.ts";
import * as claude from "../backends/claude/traces.ts";
import * as codex from "../backends/codex/translate-traces.ts";
import { rowOf } from "../sessions/fakes.ts";

/** Every step takes ten milliseconds. */
const STEP_MS = 10;

export class Bench {
  readonly session: SessionRow;
  readonly state: SessionState;
  readonly rows: Row[] = [];
  nowMs = 1_000_000;
  #turns = 0;
  readonly #requests: RequestRow[] = [];

  constructor(backend: string, session_id = "s") {
    this.session = { ...rowOf(session_id), backend, cwd: "/home/user/project" };
    this.state = createState(this.session, backend === "codex" ? "codex-app" : backend);
  }

  get tools(): ToolEvent[] {
    return this.rows.flatMap((row) => (row.kind === "tool" ? [row.row] : []));
  }

  get turns(): TurnEvent[] {
    return this.rows.flatMap((row) => (row.kind === "turn" ? [row.row] : []));
  }

  /** As in the core: the row names the turn, and so does a notice. */
  begin(): void {
    this.#turns += 1;
    const turn = createTurn(`turn${this.#turns}`, this.nowMs, "user");
    this.session.turn = { turn_id: turn.turn_id, started_at_ms: turn.started_at_ms };
    this.frame(makeStartedNotice(turn, this.session.backend));
  }

  event(event: AgentEvent): void {
    if (event.type !== "agent.result") {
      if (
        this.session.turn === undefined &&
        event.type !== "agent.notice" &&
        event.type !== "agent.system_init"
      )
        this.begin();
      this.frame(event);
      return;
    }
    if (this.session.turn === undefined) this.begin();
    const turn = createTurn(this.session.turn?.turn_id ?? "", this.nowMs, "user");
    delete this.session.turn;
    this.frame(stampResult(turn, event));
  }

  frame(frame: object): void {
    this.nowMs += STEP_MS;
    this.rows.push(...observe(this.state, this.session, frame, this.nowMs));
  }

  ask(ask: Ask): RequestRow {
    this.nowMs += STEP_MS;
    const { session_id, backend } = this.session;
    const ids = { request_id: `req_${this.#requests.length + 1}`, session_id, backend, generation: "g" };
    const row = createPendingRow(ask, { ...ids, nowMs: this.nowMs });
    this.#requests.push(row);
    this.request(row);
    return row;
  }

  request(row: RequestRow): void {
    this.nowMs += STEP_MS;
    this.rows.push(...observeRequest(this.state, row, this.nowMs));
  }

  answer(row: RequestRow, answer: Parameters<typeof resolve>[1]): void {
    this.request(resolve(row, answer, { source: "api" }, this.nowMs + STEP_MS));
  }
}

export function replayClaude(name: string): Bench {
  const trace = claude.readTraces().find((one) => one.name === name);
  if (trace === undefined) throw new Error(`no trace ${name}`);
  const bench = new Bench("claude");
  for (const report of claude.replay(trace, claude.stateFor(trace))) {
    if (report.kind === "event") bench.event(report.event);
  }
  return bench;
}

/** The answers of the trace, in our vocabulary. */
export function replayCodex(name: string, root = 0): Bench {
  const trace = codex.readTraces().find((one) => one.name === name);
  if (trace === undefined) throw new Error(`no trace ${name}`);
  const bench = new Bench("codex");
  const open = new Map<string, RequestRow>();
  for (const happened of codex.replay(trace)) {
    if (happened.root !== root) continue;
    if ("report" in happened && happened.report.kind === "event") bench.event(happened.report.event);
    if ("ask" in happened && "native_id" in happened.ask) {
      const ask = happened.ask as Ask;
      open.set(ask.native_id, bench.ask(ask));
    }
    if ("answered" in happened) {
      const row = open.get(happened.answered.native_id);
      const { decision, answers } = (happened.result ?? {}) as Record<string, unknown>;
      if (row !== undefined && typeof decision === "string") {
        bench.answer(row, { decision: decision as "accept" });
      } else if (row !== undefined && answers !== undefined) {
        bench.answer(row, { answers: { picked: JSON.stringify(answers) } });
      }
    }
  }
  return bench;
}
