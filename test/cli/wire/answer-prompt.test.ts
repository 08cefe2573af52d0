// The user answers in the terminal while a turn streams.
import { expect, test } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import type { Output } from "../../../src/cli/output.ts";
import { BLEMEESCTL_WORDS } from "../../../src/cli/request-text.ts";
import { AnswerPrompt } from "../../../src/cli/wire/answer-prompt.ts";
import type { ShellContext } from "../../../src/cli/wire/context.ts";
import type { RequestRow, Responded, SessionFrame } from "../../../src/client/index.ts";
import { noticeOf, PAYLOAD, pending, resolved } from "../../client/request-rows.ts";
import { memoryOutput } from "../memory-sink.ts";

class Person {
  readonly said: unknown[][] = [];
  readonly stderr;
  readonly asking: AnswerPrompt;
  isAsked = false;
  prompt = "";
  /** The text typed so far; dropped when the prompt changes to another request. */
  typed = "";
  /** The daemon's reply for a request that was shortened. */
  whole: RequestRow[] = [];
  /** The screen's output, in order. */
  readonly screen: string[] = [];
  refusal: CodedError | undefined;
  readonly #output: Output;
  #type: (line: string) => Promise<void> = async () => undefined;

  constructor(isTTY = false) {
    const { output, stderr } = memoryOutput({ isTTY });
    this.stderr = stderr;
    this.#output = output;
    const context = {
      output,
      isJson: false,
      words: BLEMEESCTL_WORDS,
      daemon: { client: "t" },
      signal: new AbortController().signal,
      readInput: async () => undefined,
      readLines: (prompt: string, onLine: (line: string) => Promise<void>) => {
        this.isAsked = true;
        this.prompt = prompt;
        this.#type = onLine;
        this.screen.push("prompt");
        return {
          hide: () => void this.screen.push("hide"),
          show: (text: string, isAnother: boolean) => {
            this.prompt = text;
            if (isAnother) this.typed = "";
            this.screen.push("prompt");
          },
          close: () => {
            this.isAsked = false;
          },
        };
      },
    } satisfies ShellContext;
    const respond = async (...said: unknown[]): Promise<Responded> => {
      this.said.push(said);
      if (this.refusal !== undefined) throw this.refusal;
      return {} as Responded;
    };
    this.asking = new AnswerPrompt({ respond, requests: async () => this.whole }, context);
  }

  see(row: RequestRow): Promise<void> {
    return this.#frame(noticeOf(row, 1), row.status);
  }

  /** Any other frame; printed if it has text. */
  hear(text = ""): Promise<void> {
    return this.#frame({ type: "agent.delta" }, "delta", text);
  }

  #frame(frame: object, name: string, text = name): Promise<void> {
    return this.asking.around(frame as unknown as SessionFrame, async () => {
      this.screen.push(name);
      if (text !== "") await this.#output.text(text);
    });
  }

  async type(line: string): Promise<void> {
    await this.#type(line);
  }
}

test("lines are read only while a request is pending", async () => {
  const person = new Person();
  await person.hear();
  expect(person.isAsked).toBe(false);
  await person.see(pending());
  await person.see(pending({ request_id: "req_b" }));
  expect(person.isAsked).toBe(true);
  await person.see(resolved(pending()));
  expect(person.isAsked).toBe(true);
  await person.see({ ...pending(), request_id: "req_b", status: "withdrawn" });
  expect(person.isAsked).toBe(false);
});

test("the prompt makes room for output, and appears below it again", async () => {
  const person = new Person();
  await person.see(pending());
  await person.hear();
  await person.see(resolved(pending()));
  await person.hear();
  expect(person.screen).toEqual([
    "pending",
    "prompt",
    "hide",
    "delta",
    "prompt",
    "hide",
    "resolved",
    "delta",
  ]);
});

test("the answer is sent as the user's, for what was shown", async () => {
  const person = new Person();
  await person.see(pending());
  await person.type("decline not now");
  expect(person.said).toEqual([
    ["req_a1", { decision: "decline", message: "not now" }, { shown_hash: "hash-a1", source: "blemeesctl" }],
  ]);
});

test.each(["yes", "y", "ok do it", "1", "please accept", "send s1 hello", "quit"])(
  "%s answers nothing",
  async (line) => {
    const person = new Person();
    await person.see(pending());
    await person.type(line);
    expect(person.said).toEqual([]);
    expect(person.stderr.text).toBe("✗ not an answer; use accept, accept-session, always, decline, cancel\n");
  },
);

test("an empty line is no answer and no mistake", async () => {
  const person = new Person();
  await person.see(pending());
  await person.type("  ");
  expect([person.said, person.stderr.text]).toEqual([[], ""]);
});

test("the prompt names the request, in the rest of the row", async () => {
  const person = new Person();
  await person.see(pending({ request_id: "req_5a01f0d8e1" }));
  expect(person.prompt).toBe("answer req_5a01f0d8 Bash: mkdir -p build> ");
  const narrow = new Person(true);
  const payload = { ...PAYLOAD, title: `Bash: \x1b[2J\u00a0\n${"x".repeat(90)}> accept` };
  await narrow.see(pending({ request_id: "req_5a01f0d8e1", payload }));
  expect(narrow.prompt).toBe("answer req_5a01f0d8 Bash…> ");
});

test("a bare accept below other text is refused, and the request is shown again right above the prompt", async () => {
  const person = new Person();
  await person.see(pending());
  await person.hear("? demo asks to run a command:\n  │ git status\n");
  await person.type("accept");
  await person.type("decline not that");
  expect(person.said).toMatchObject([["req_a1", { decision: "decline" }, {}]]);
  expect(person.stderr.text).toMatch(/^\? demo asks .*mkdir -p build.*Shown again.*Type your choice now\n$/s);
});

test.each(["always", "accept-session", "accept req_"])(
  "so is %s, until nothing came in between",
  async (line) => {
    const person = new Person();
    await person.see(pending());
    await person.hear("text");
    await person.type(line);
    expect(person.said).toEqual([]);
    await person.hear();
    await person.type("always");
    expect(person.said).toMatchObject([["req_a1", { decision: "acceptAlways" }, { shown_hash: "hash-a1" }]]);
  },
);

test("an answer that names the request needs no repeated display", async () => {
  const person = new Person();
  await person.see(pending());
  await person.hear("text");
  await person.type("accept req_a1");
  expect(person.said).toMatchObject([["req_a1", { decision: "accept" }, {}]]);
});

test("our own error message hides nothing", async () => {
  const person = new Person();
  await person.see(pending());
  await person.type("yes");
  await person.type("accept");
  expect(person.said).toHaveLength(1);
});

test("with a second pending request, a bare accept goes to the request in the prompt, once it is visible", async () => {
  const person = new Person();
  await person.see(pending());
  await person.see(pending({ request_id: "req_b" }));
  expect(person.prompt).toMatch(/^answer req_a1 /);
  await person.type("accept");
  expect(person.said).toEqual([]);
  expect(person.stderr.text).toMatch(/Details: blemeesctl requests req_a1\n/);
  await person.type("accept");
  await person.type("accept req_b");
  expect(person.said.map(([id]) => id)).toEqual(["req_a1", "req_b"]);
});

test("the next one is shown again when its turn comes, and text typed for the first is dropped", async () => {
  const person = new Person();
  await person.see(pending());
  await person.see(pending({ request_id: "req_b" }));
  person.typed = "accep";
  await person.see(resolved(pending()));
  expect([person.prompt.slice(0, 13), person.typed]).toEqual(["answer req_b ", ""]);
  expect(person.stderr.text).toMatch(
    /^\? demo asks .*Details: blemeesctl requests req_b\n.*Also pending. Type your choice\n$/s,
  );
  await person.type("accept");
  expect(person.said.map(([id]) => id)).toEqual(["req_b"]);
});

test("a shortened one is fetched and shown completely before it can be approved", async () => {
  const person = new Person();
  person.whole = [pending()];
  const { title, choices } = PAYLOAD;
  await person.see({ ...pending({ payload: { title, choices } }), is_cut: true });
  expect(person.stderr.text).toMatch(/ {2}│ mkdir -p build\n/);
  await person.type("accept");
  expect(person.said).toHaveLength(1);
});

test("one that cannot be fetched completely can only be refused", async () => {
  const person = new Person();
  await person.see({ ...pending(), is_cut: true });
  await person.type("accept req_a1");
  await person.type("accept");
  expect(person.said).toEqual([]);
  await person.type("cancel");
  expect(person.said).toMatchObject([["req_a1", { decision: "cancel" }, {}]]);
});

test("a refusal by the daemon is reported, and can be retried", async () => {
  const person = new Person();
  await person.see(pending());
  person.refusal = new CodedError("invalid_answer", "not offered");
  await person.type("always");
  expect(person.stderr.text).toBe("✗ not offered\n");
  expect(person.isAsked).toBe(true);
});
