// A person answers in the terminal while a turn streams.
import { expect, test } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Asking } from "../../../src/cli/blemeesctl/asking.ts";
import type { ShellContext } from "../../../src/cli/blemeesctl/context.ts";
import type { RequestRow, Responded, SessionFrame } from "../../../src/client/index.ts";
import { noticeOf, pending, resolved } from "../../client/request-rows.ts";
import { memoryOutput } from "../memory-sink.ts";

class Person {
  readonly said: unknown[][] = [];
  readonly stderr;
  readonly asking: Asking;
  isAsked = false;
  /** What the screen showed, in order. */
  readonly screen: string[] = [];
  refusal: CodedError | undefined;
  #type: (line: string) => Promise<void> = async () => undefined;

  constructor() {
    const { output, stderr } = memoryOutput();
    this.stderr = stderr;
    const context = {
      output,
      isJson: false,
      daemon: { client: "t" },
      signal: new AbortController().signal,
      readInput: async () => undefined,
      readLines: (_prompt: string, onLine: (line: string) => Promise<void>) => {
        this.isAsked = true;
        this.#type = onLine;
        this.screen.push("prompt");
        return {
          hide: () => void this.screen.push("hide"),
          show: () => void this.screen.push("prompt"),
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
    this.asking = new Asking({ respond }, context);
  }

  see(row: RequestRow): Promise<void> {
    return this.#frame(noticeOf(row, 1), row.status);
  }

  /** Any other frame. */
  hear(): Promise<void> {
    return this.#frame({ type: "agent.delta" }, "delta");
  }

  #frame(frame: object, name: string): Promise<void> {
    return this.asking.around(frame as unknown as SessionFrame, async () => void this.screen.push(name));
  }

  async type(line: string): Promise<void> {
    await this.#type(line);
  }
}

test("lines are read only while something waits for an answer", async () => {
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

test("the prompt makes room for what is printed, and stands below it again", async () => {
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

test("the answer goes out as a person's, for what was shown", async () => {
  const person = new Person();
  await person.see(pending());
  await person.type("decline not now");
  expect(person.said).toEqual([
    ["req_a1", { decision: "decline", message: "not now" }, { shown_hash: "hash-a1", source: "tui" }],
  ]);
});

test.each(["yes", "y", "ok do it", "1", "please accept", "send s1 hello", "quit"])(
  "%s answers nothing",
  async (line) => {
    const person = new Person();
    await person.see(pending());
    await person.type(line);
    expect(person.said).toEqual([]);
    expect(person.stderr.text).toBe(
      "✗ that answers nothing: accept, accept-session, always, decline, cancel\n",
    );
  },
);

test("an empty line is no answer and no mistake", async () => {
  const person = new Person();
  await person.see(pending());
  await person.type("  ");
  expect([person.said, person.stderr.text]).toEqual([[], ""]);
});

test("two that wait have to be told apart", async () => {
  const person = new Person();
  await person.see(pending());
  await person.see(pending({ request_id: "req_b" }));
  await person.type("accept");
  expect(person.said).toEqual([]);
  expect(person.stderr.text).toMatch(/which one\?.*req_a1.*req_b/s);
  await person.type("accept req_b");
  expect(person.said[0]?.[0]).toBe("req_b");
});

test("what the daemon refuses is told, and can be tried again", async () => {
  const person = new Person();
  await person.see(pending());
  person.refusal = new CodedError("invalid_answer", "not offered");
  await person.type("always");
  expect(person.stderr.text).toBe("✗ not offered\n");
  expect(person.isAsked).toBe(true);
});
