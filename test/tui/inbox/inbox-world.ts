// The inbox as a player uses it: like the real screen it draws after every step.
import { applyChanges, createFleet, type Fleet } from "../../../src/client/view/fleet.ts";
import type { RequestRow, SessionView } from "../../../src/client/view/types.ts";
import { drawInbox, type InboxFrame } from "../../../src/tui/inbox/draw.ts";
import {
  createInbox,
  FIRST_CONTEXT,
  type InboxEffect,
  type InboxEvent,
  type InboxUi,
  reduceInbox,
} from "../../../src/tui/inbox/state.ts";
import type { Input, Look, Size } from "../../../src/tui/screen-types.ts";
import { aView } from "../../client/session-views.ts";

export const NOW_MS = 1_000_000;
const PLAIN = { hasColor: false, isAscii: false };

export function aRequest(
  session_id: string,
  payload: Partial<RequestRow["payload"]> = {},
  row: Partial<RequestRow> = {},
): RequestRow {
  const shown = {
    title: "Bash: npm test",
    tool_name: "Bash",
    command: "npm test",
    cwd: "/home/me/shop",
    choices: [
      { decision: "accept" as const },
      { decision: "decline" as const, takes: ["message" as const] },
      { decision: "cancel" as const },
    ],
    ...payload,
  };
  return {
    request_id: `req_${session_id}`,
    session_id,
    backend: "claude",
    request_type: "command",
    status: "pending",
    payload: shown,
    shown_hash: `hash of ${session_id}`,
    requested_at_ms: NOW_MS,
    generation: "g1",
    ...row,
  };
}

/** One session per request, in one project. */
export function fleetOf(...requests: RequestRow[]): Fleet {
  const sessions = requests.map(
    ({ session_id }): SessionView =>
      aView({ session_id, name: session_id, cwd: "/home/me/shop", project: "/home/me/shop" }),
  );
  return applyChanges(createFleet(), [
    { kind: "sessions", sessions },
    { kind: "requests", requests },
    { kind: "link", state: "live" },
  ]);
}

export class InboxPlayer {
  inbox: InboxUi;
  readonly effects: InboxEffect[] = [];
  readonly #look: Look;
  #size: Size;
  #frame: InboxFrame | undefined;
  now_ms = NOW_MS;

  constructor(
    requests: readonly RequestRow[],
    {
      size = { columns: 80, rows: 24 },
      look = PLAIN,
      first,
    }: { size?: Size; look?: Look; first?: string } = {},
  ) {
    this.#size = size;
    this.#look = look;
    const { inbox, effects } = createInbox(fleetOf(...requests), size, this.now_ms, first);
    this.inbox = inbox;
    this.effects.push(...effects);
    this.draw();
  }

  /** Characters as text, longer names as chords; each key with the screen drawn before it, a second apart. */
  press(...keys: string[]): this {
    for (const key of keys) {
      this.now_ms += 1_000;
      this.blind(key).draw();
    }
    return this;
  }

  /** Without drawing, and at the same time as the key before. */
  blind(key: string): this {
    const input: Input = [...key].length === 1 ? { kind: "text", text: key } : { kind: "key", chord: key };
    return this.event({ kind: "input", input, at_ms: this.now_ms });
  }

  requests(...requests: RequestRow[]): this {
    return this.event({ kind: "fleet", fleet: fleetOf(...requests), at_ms: this.now_ms });
  }

  event(event: InboxEvent): this {
    const { inbox, effects } = reduceInbox(this.inbox, event, this.#frame ?? FIRST_CONTEXT);
    this.inbox = inbox;
    this.effects.push(...effects);
    return this;
  }

  draw(): this {
    this.#frame = this.frame();
    const { request, item } = this.#frame;
    return this.event({ kind: "drawn", request, item });
  }

  frame(): InboxFrame {
    return drawInbox(this.inbox, this.#size, { look: this.#look, nowMs: this.now_ms });
  }

  screen(): string {
    return this.frame().rows.join("\n");
  }

  /** The sessions of each item that was answered, and what with. */
  get answers(): unknown[] {
    return this.effects.flatMap((effect) =>
      effect.kind === "answer"
        ? [[effect.item.requests.map(({ session_id }) => session_id).join(" "), effect.answer]]
        : [],
    );
  }
}
