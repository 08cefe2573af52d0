// A driver that plays a session without a daemon: it answers keywords with events, and records its calls.
import type { WireFrame } from "../../../src/client/frames.ts";
import type { Answer, RequestRow, ViewInput } from "../../../src/client/view/types.ts";
import type { QueuedMessage } from "../../../src/protocol/queue.ts";
import type { SessionDriver } from "../../../src/tui/index.ts";

export interface Told {
  sent: string[];
  answers: { request_id: string; answer: Answer }[];
  interrupts: number;
}

/** `stream N`, `ask`, `ask input`, `tool`, `queue`, `fail`, `lost`, `live`, `long`; anything else is said back. */
export class ScriptedDriver implements SessionDriver {
  readonly session_id = "3f2b8c1e-0000-4000-8000-000000000001";
  readonly title = "scripted";
  readonly told: Told = { sent: [], answers: [], interrupts: 0 };
  readonly requestFocus: "asked" | "modal";
  readonly commands = [
    {
      name: "/compact",
      summary: "make the conversation shorter",
      run: async (): Promise<void> => this.#local("compacted"),
    },
    { name: "/stop", summary: "stop the task", isAlways: true, run: (): Promise<void> => this.interrupt() },
  ];
  readonly pickers = [
    {
      key: "m",
      title: "model",
      takesText: true,
      load: async () => [
        { value: "small", label: "small", detail: "fast" },
        { value: "large", label: "large", isCurrent: true },
        { value: "broken", label: "broken", problem: "no key" },
      ],
      choose: async (value: string): Promise<void> => this.#local(`model is ${value}`),
    },
  ];
  #listener: (inputs: readonly ViewInput[]) => void = () => undefined;
  #requests: RequestRow[] = [];
  #queue: QueuedMessage[] = [];
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(requestFocus: "asked" | "modal" = "asked") {
    this.requestFocus = requestFocus;
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#listener = listener;
    this.#tell({ kind: "link", state: "live" });
    this.#frame({ type: "agent.system_init", model: "scripted-1", cwd: "/home/me/project" });
    this.#frame({ type: "agent.notice", level: "info", category: "ready", text: "the script is ready" });
  }

  async send(text: string): Promise<undefined> {
    this.told.sent.push(text);
    if (text === "fail") throw new Error("the daemon said no");
    if (text === "lost") return void this.#tell({ kind: "link", state: "lost" });
    if (text === "live") return void this.#tell({ kind: "link", state: "live" });
    if (text.startsWith("queue ")) return void this.#enqueue(text);
    this.#frame({ type: "agent.user_echo", message: { role: "user", content: text } });
    this.#frame({
      type: "agent.notice",
      level: "info",
      category: "task_started",
      data: { started_at_ms: Date.now() },
    });
    this.#play(text);
    return undefined;
  }

  async interrupt(): Promise<void> {
    this.told.interrupts += 1;
    clearInterval(this.#timer);
    this.#frame({ type: "agent.result", subtype: "interrupted" });
  }

  async respond({ request_id }: RequestRow, answer: Answer): Promise<void> {
    this.told.answers.push({ request_id, answer });
    this.#requests = this.#requests.filter((row) => row.request_id !== request_id);
    this.#tell({ kind: "requests", requests: this.#requests });
    this.#say(`answered ${JSON.stringify(answer)}`);
    if (this.#requests.length === 0) this.#frame({ type: "agent.result", subtype: "success" });
  }

  async wholeRequest(row: RequestRow): Promise<RequestRow> {
    return row;
  }

  async cancelQueued(message_id: string): Promise<void> {
    this.#queue = this.#queue.filter((one) => one.message_id !== message_id);
    this.#tell({ kind: "queue", queue: this.#queue });
  }

  async loadEarlier(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  #play(text: string): void {
    const [word = "", rest = ""] = text.split(/ (.*)/s);
    if (word === "stream") {
      this.#stream(Number(rest));
      return;
    }
    if (word === "ask") {
      this.#ask(rest);
      return;
    }
    if (word === "tool") this.#tool();
    else if (word === "long")
      this.#say(Array.from({ length: 60 }, (_, at) => `line ${at + 1} of a long text`).join("\n\n"));
    else this.#say(`you said **${text}**`);
    this.#frame({ type: "agent.result", subtype: "success", duration_ms: 1200, cost_usd: 0.01 });
  }

  /** Endless text until interrupted, `rate` events per second. */
  #stream(rate: number): void {
    let at = 0;
    this.#timer = setInterval(() => {
      for (let count = 0; count < Math.max(1, rate / 50); count++) {
        at += 1;
        this.#frame({ type: "agent.delta", kind: "text", text: `word${at} ${at % 12 === 0 ? "\n\n" : ""}` });
      }
    }, 20);
  }

  #ask(what: string): void {
    const row = what.startsWith("input")
      ? inputRequest(this.session_id)
      : commandRequest(this.session_id, what || "npm test");
    this.#requests = [
      ...this.#requests,
      { ...row, request_id: `req_${this.#requests.length + 1}${this.#seq}` },
    ];
    this.#tell({ kind: "requests", requests: this.#requests });
  }

  #tool(): void {
    const tool_use_id = `tool_${this.#seq}`;
    this.#frame({ type: "agent.tool_use", tool_use_id, name: "Bash", input: { command: "ls -la" } });
    this.#frame({ type: "agent.tool_result", tool_use_id, output: "total 8\nHIDDEN-OUTPUT\nREADME.md" });
  }

  #enqueue(text: string): void {
    this.#queue = [
      ...this.#queue,
      {
        message_id: `m${this.#queue.length}`,
        kind: "user",
        message: { role: "user", content: text },
        queued_at_ms: Date.now(),
      },
    ];
    this.#tell({ kind: "queue", queue: this.#queue });
  }

  #say(text: string): void {
    this.#frame({ type: "agent.message", role: "assistant", content: [{ type: "text", text }] });
  }

  async #local(text: string): Promise<void> {
    this.#tell({ kind: "local", level: "info", text });
  }

  #frame(frame: Record<string, unknown>): void {
    this.#seq += 1;
    const whole = { backend: "scripted", session_id: this.session_id, seq: this.#seq, ...frame };
    this.#tell({ kind: "frame", seq: this.#seq, frame: whole as unknown as WireFrame, at_ms: Date.now() });
  }

  #tell(...inputs: ViewInput[]): void {
    this.#listener(inputs);
  }
}

export function commandRequest(session_id: string, command: string): RequestRow {
  return {
    request_id: "req_1",
    session_id,
    backend: "scripted",
    request_type: "command",
    status: "pending",
    payload: {
      title: `Bash: ${command}`,
      command,
      cwd: "/home/me/project",
      choices: [
        { decision: "accept" },
        { decision: "acceptForSession" },
        { decision: "decline", takes: ["message"] },
        { decision: "cancel" },
      ],
    },
    shown_hash: `hash of ${command}`,
    requested_at_ms: 1,
    generation: "g1",
  };
}

export function inputRequest(session_id: string): RequestRow {
  return {
    ...commandRequest(session_id, "x"),
    request_type: "user_input",
    shown_hash: "hash of questions",
    payload: {
      title: "Three questions",
      questions: [
        {
          id: "q1",
          question: "Which color?",
          options: [{ label: "Red" }, { label: "Blue" }],
          allows_other: true,
        },
        {
          id: "q2",
          question: "Which parts?",
          header: "Parts",
          multi_select: true,
          options: [{ label: "Roof", description: "the upper end" }, { label: "Wall" }, { label: "Door" }],
        },
        { id: "q3", question: "The password?", is_secret: true },
      ],
      choices: [{ decision: "accept" }, { decision: "decline" }],
    },
  };
}
