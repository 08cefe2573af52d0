// Messages for the running turn, with the real agents, over a kill -9 of the daemon: the third call of a turn is another one,
// and on the wire the message is there once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import {
  bash,
  chatReply,
  type ModelServer,
  type Reply,
  startModelServer,
} from "../../support/model-server.ts";
import { PATIENCE_MS, PATIENT } from "../../support/patience.ts";
import { configure } from "../demian/repository.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
let model: ModelServer | undefined;
afterEach(async () => {
  await machine.close();
  await model?.close();
  model = undefined;
});

const WAIT = "until [ -e go ]; do sleep 1; done; echo two";

interface Agent {
  name: string;
  args: string[];
  text: string;
  steer: string;
  /** All that the model was sent, oldest first. */
  requests(): readonly unknown[];
}

/** Sends the message while the second call runs, then lets it end, under the next daemon. */
async function steer({ name, args, text, steer: message, requests }: Agent): Promise<void> {
  const id = await machine.spawn(name, "worker", ...args, text);
  const readEvents = async () => (await machine.http.events(id, { since_seq: 0, limit: 1_000 })).events;
  /** By the agent: some report the input of a call with a notice. */
  const readDone = async () =>
    JSON.stringify((await readEvents()).filter(({ frame }) => frame["category"] !== "input_delivered"));
  await vi.waitFor(async () => expect(await readDone()).toContain("until [ -e go ]"), PATIENT);
  const { turn } = await machine.http.session(id);
  const sent = await machine.json<{ input: { message_id: string; for_turn?: string } }>(
    "send",
    "worker",
    "--steer",
    message,
  );
  expect(sent.input.for_turn).toBe(turn?.turn_id);
  await machine.killDaemon("SIGKILL", true);
  expect(await machine.sm("ls")).toMatchObject({ code: 0 });
  writeFileSync(join(machine.cwd, "go"), "");
  const { message_id } = sent.input;
  const { input } = await machine.http.wait(id, { message_id, timeoutMs: PATIENCE_MS });
  expect(input).toMatchObject({ state: "done", outcome: "success", turn_id: turn?.turn_id });
  const done = await readDone();
  expect(done).toContain("echo changed");
  expect(done).not.toContain("echo three");
  const events = await readEvents();
  const delivered = events.filter(({ frame }) => frame["category"] === "input_delivered");
  expect(delivered.map(({ frame }) => frame["data"])).toEqual([
    expect.not.objectContaining({ steered: true }),
    expect.objectContaining({ steered: true, message_id, turn_id: turn?.turn_id }),
  ]);
  expect(events.filter(({ type }) => type === "agent.result")).toHaveLength(1);
  const counts = requests().map((body) => JSON.stringify(body).split("instead of three").length - 1);
  expect(counts.slice(0, 2)).toEqual([0, 0]);
  expect(counts.slice(2)).toEqual(counts.slice(2).map(() => 1));
}

test("claude takes it in when the running tool ends", async () => {
  machine = await Machine.create();
  const steps = [
    ["Bash", { command: "echo one" }],
    ["Bash", { command: WAIT }],
    ["Bash", { command: "echo three" }],
  ];
  await steer({
    name: "claude",
    args: ["-o", "permission_mode=bypassPermissions"],
    text: `#mock:steps ${JSON.stringify(steps)}`,
    steer: "instead of three #mock:bash echo changed",
    requests: () => machine.anthropic.requests,
  });
});

test("codex takes it in with turn/steer", async () => {
  machine = await Machine.create();
  await steer({
    name: "codex",
    args: ["-o", "sandbox=danger-full-access", "-o", "approval-policy=never"],
    text: `#mock:seq exec echo one ;; exec ${WAIT} ;; exec echo three`,
    steer: "instead of three #mock:exec echo changed",
    requests: () => machine.responses.requests,
  });
});

test("demian takes it in with the next model request", async () => {
  model = await startModelServer();
  machine = await Machine.create();
  await configure(machine.home, model.url);
  const third: Reply = (exchange) => {
    const isSteered = JSON.stringify(exchange.request.body).includes("instead of three");
    return bash(isSteered ? "echo changed" : "echo three")(exchange);
  };
  model.script(bash("echo one"), bash(WAIT), third, chatReply("Done."));
  const { requests } = model;
  await steer({
    name: "demian",
    args: ["--no-approvals"],
    text: "three calls",
    steer: "instead of three",
    requests: () => requests.map(({ body }) => body),
  });
});
