// A turn that is aborted at each of its moments: real HTTP, real processes, hooks that are programs.
import { afterEach, beforeEach, test } from "vitest";
import { chatReply, type ModelServer, type Reply, startModelServer } from "../support/model-server.ts";
import { abortAtEveryEvent, PAUSES } from "./every-moment.ts";
import { Place } from "./place.ts";

/** No other process sleeps this long. */
const SLEEP = `0.0${process.pid}01`;
const EVENTS = ["PreToolUse", "AfterModelResponse"];

let place: Place;
let model: ModelServer;

beforeEach(async () => {
  place = new Place();
  place.write("a.txt", "a\n");
  model = await startModelServer(...Array.from({ length: 400 }, () => reply));
  place.configure({
    defaultProvider: "local",
    providers: { local: { type: "openai-compatible", model: "m", baseURL: model.url, maxRetries: 0 } },
    sandbox: { mode: "off" },
    hooks: EVENTS.map((event) => ({ name: event, event, command: "cat >/dev/null" })),
  });
});

afterEach(async () => {
  await place.close();
  await model.close();
});

/** To "work" two calls, to their results an answer, and to anything else too. */
const reply: Reply = (exchange) => {
  const { messages } = exchange.request.body as { messages: { role: string; content: unknown }[] };
  const calls = [
    { name: "bash", input: { command: `sleep ${SLEEP}; echo one` } },
    { name: "read_file", input: { path: "a.txt" } },
  ];
  return chatReply("Here.", messages.at(-1)?.content === "work" ? calls : [])(exchange);
};

test.each(PAUSES)(
  "a turn that is aborted %s after any of its events ends once, leaves a whole history and no process, and the next one works",
  { timeout: 60_000 },
  async (_name, pause) => {
    await abortAtEveryEvent({ open: (order) => place.open(order), pause, argument: SLEEP, maxEvents: 60 });
  },
);
