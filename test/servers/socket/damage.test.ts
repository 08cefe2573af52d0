// Part of the store is lost or damaged between two runs of the daemon: no seq is used twice, and every reader is
// informed of the gap. Damaged JSONL files are rewritten from the database.
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { ask, isOf, newId, openDemo, range, say, seen, seqsOf, streamOf } from "./talk.ts";

interface Place {
  state: string;
  /** The state directory as it was before the last run. */
  before: string;
  log: string;
  session_id: string;
}

const DAMAGE: Record<string, (place: Place) => void> = {
  "the database is removed": ({ state }) => remove(state, /^blemees\.db/),
  "the database is overwritten": ({ state }) => {
    writeFileSync(join(state, "blemees.db"), "no database ".repeat(999));
  },
  "the database is cut": ({ state }) => truncateSync(join(state, "blemees.db"), 5000),
  "database and journal are removed": ({ state }) => remove(state, /^blemees\.(db|journal)/),
  "the journal is removed": (place) => [undoFolds(place), remove(place.state, /journal-/)],
  "the journal is cut": (place) => [undoFolds(place), cut(place.state, /journal-/, 0.5)],
  "the journal is emptied": (place) => [undoFolds(place), cut(place.state, /journal-/, 0)],
};

const FILE_DAMAGE: Record<string, (place: Place) => void> = {
  "the log is cut in a line": ({ log }) => cut(log, /\.jsonl$/, 0.5),
  "the log is cut between lines": ({ log, session_id }) => keepLines(log, session_id, 4),
  "the log ends in half a line": ({ log }) => {
    for (const path of files(log, /\.jsonl$/)) appendFileSync(path, '{"half of a');
  },
  "the log is removed": ({ log }) => remove(log, /\.jsonl$/),
  "log and row are removed": ({ log, session_id }) => remove(log, new RegExp(session_id)),
  "the database is removed": ({ state }) => remove(state, /^blemees\.(db|journal)/),
};

/** A home after two runs, and what a client saw in them. */
interface Lived {
  home: string;
  session_id: string;
  shown: Frame[];
}

let home: string;
let daemon: TestDaemon | undefined;
const lived: Record<string, Lived> = {};

const openHome = () => {
  home = mkdtempSync(join(tmpdir(), "blemees-damage-"));
};

beforeAll(async () => {
  for (const driver of ["sqlite", "jsonl"]) {
    openHome();
    const session_id = newId();
    lived[driver] = { home, session_id, shown: await live(driver, session_id) };
    // The kill came in the middle of a turn: what the files lack of it is written by the next start.
    if (driver === "jsonl") await stop("SIGTERM", await start(driver));
    daemon = undefined; // it has ended
  }
});
afterAll(async () => {
  await daemon?.close();
  for (const { home: old } of Object.values(lived)) rmSync(old, { recursive: true, force: true });
});
beforeEach(openHome);
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
  rmSync(home, { recursive: true, force: true });
});

async function start(driver: string): Promise<RawClient> {
  // On pipes: agents that outlive their daemon have directories that cannot be copied.
  const jsonl = driver === "jsonl" ? { BLEMEESD_EVENT_LOG_DIR: join(home, "log") } : {};
  const env = { BLEMEESD_AGENT_STDIO: "pipes", ...jsonl };
  daemon = await startDaemon({ home, env });
  return daemon.connect();
}

async function stop(signal: NodeJS.Signals, client: RawClient): Promise<void> {
  await daemon?.kill(signal);
  await client.closed;
  checkOutbound(client.frames);
}

/** Two runs: the first ends gracefully, the second is killed in the middle of a turn. Returns what a client saw. */
async function live(driver: string, session_id: string): Promise<Frame[]> {
  const first = await start(driver);
  await first.open(session_id);
  await first.turn(session_id, "#say one");
  await stop("SIGTERM", first);
  cpSync(join(home, "state/blemees"), join(home, "before"), { recursive: true });
  const second = await start(driver);
  await second.open(session_id, {}, { resume: true, last_seen_seq: 0 });
  say(second, session_id, "#say two #hang");
  await second.next((frame) => JSON.stringify(frame).includes("two"));
  await stop("SIGKILL", second);
  return streamOf(second, session_id);
}

/** Fills the home of a test with a copy of the two runs, which are the same in every test. */
function copyLives(driver: string): Lived {
  const before = lived[driver];
  if (before === undefined) throw new Error(`nothing has lived with ${driver}`);
  // Not the socket that the kill left.
  cpSync(before.home, home, { recursive: true, filter: (path) => path !== join(before.home, "run") });
  return before;
}

/** A turn of its own; gives the seq of its result. */
async function turn(client: RawClient, session_id: string, word: string): Promise<number> {
  say(client, session_id, `#say ${word}`);
  const message = await client.next(
    (frame) => isOf("agent.message", session_id)(frame) && JSON.stringify(frame).includes(word),
  );
  const isEnd = (frame: Frame) =>
    isOf("agent.result", session_id)(frame) && Number(frame["seq"]) > Number(message["seq"]);
  return Number((await seen(client, isEnd))["seq"]);
}

describe("no seq is used twice, and every reader learns of the gap, when", () => {
  test.each(Object.entries(DAMAGE))("%s", async (_what, damage) => {
    const { session_id, shown } = copyLives("sqlite");
    const last = Number(shown.at(-1)?.["seq"]);
    damage(placeOf(session_id));

    const client = await start("sqlite");
    await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    const end = await turn(client, session_id, "three");
    const replayed = streamOf(client, session_id).filter((frame) => Number(frame["seq"]) <= last);
    const kept = replayed.map((frame) => Number(frame["seq"]));
    expect(replayed).toEqual(shown.filter((frame) => kept.includes(Number(frame["seq"]))));
    expect(seqsOf(client, session_id)).toEqual([...kept, ...range(last + 1, end)]);
    // Either the end was lost, which the log itself then says, or the front, which the journal does not have.
    const isEndLost = kept.at(-1) !== last;
    const since_seq = isEndLost ? kept.length : 0;
    const first_available_seq = isEndLost ? last + 1 : Number(kept[0]);
    expect(first_available_seq - since_seq).toBeGreaterThan(1);
    const gap = { session_id, since_seq, first_available_seq };
    expect(client.frames.find(isOf("blemeesd.replay_gap", session_id))).toMatchObject(gap);
    const notice = { category: "event_persist_recovered", data: { after_seq: since_seq } };
    if (isEndLost) expect(streamOf(client, session_id)[kept.length]).toMatchObject(notice);
    expect(await pageOf(session_id, 0)).toMatchObject({ history_gap: true, latest_seq: end });
    expect(await sseOf(session_id, `event: gap\ndata: ${JSON.stringify(gap)}`)).toContain("event: gap");

    await stop("SIGKILL", client);
  });
});

describe("the JSONL files are whole again, and nothing is missing, when", () => {
  test.each(Object.entries(FILE_DAMAGE))("%s", async (_what, damage) => {
    const { session_id, shown } = copyLives("jsonl");
    const place = placeOf(session_id);
    damage(place);
    const client = await start("jsonl");
    await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    const end = await turn(client, session_id, "three");
    expect(seqsOf(client, session_id)).toEqual(range(1, end));
    expect(streamOf(client, session_id).slice(0, shown.length)).toEqual(shown);
    expect(JSON.stringify(client.frames)).not.toMatch(/replay_gap|event_persist_recovered/);
    await stop("SIGTERM", client);
    const lines = readFileSync(join(place.log, `${session_id}.jsonl`), "utf8")
      .trimEnd()
      .split("\n");
    const frames = lines.map((line) => JSON.parse(line));
    expect(frames.slice(0, end)).toEqual(streamOf(client, session_id).slice(0, end));
    expect(files(place.log, /\.usage\.json$/)).toHaveLength(1);
  });
});

test("there is no gap after a kill in the middle of a write", async () => {
  const { session_id, shown } = copyLives("sqlite");
  // What such a kill leaves: bytes that no client saw.
  for (const path of files(placeOf(session_id).state, /journal-\d+$/)) appendFileSync(path, '{"half of a');
  const client = await start("sqlite");
  await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
  const end = await turn(client, session_id, "three");
  expect(seqsOf(client, session_id)).toEqual(range(1, end));
  expect(streamOf(client, session_id).slice(0, shown.length)).toEqual(shown);
  expect(JSON.stringify(client.frames)).not.toMatch(/replay_gap|event_persist_recovered/);
});

test.each(["sqlite", "jsonl"])("a session deleted from a %s store begins at 1 again", async (driver) => {
  const session_id = newId();
  for (const _life of ["first", "second"]) {
    const client = await start(driver);
    await openDemo(client, session_id);
    await client.turn(session_id, "hello");
    expect(seqsOf(client, session_id)[0]).toBe(1);
    await ask(client, "close", { session_id, delete: true });
    await stop("SIGTERM", client);
  }
});

test("a daemon that cannot have the file of marks says so and serves", async () => {
  writeFileSync(join(home, "blocked"), "");
  daemon = await startDaemon({ home, env: { BLEMEESD_AGENT_STDIO: "pipes" } });
  await stop("SIGTERM", await daemon.connect());
  const marks = join(home, "state/blemees/blemees.seqs");
  rmSync(marks);
  cpSync(join(home, "run"), marks, { recursive: true });
  const client = await start("sqlite");
  const session_id = newId();
  await openDemo(client, session_id);
  await client.turn(session_id, "hello");
  expect(daemon?.log()).toContain("blemees.seqs cannot be used");
});

function placeOf(session_id: string): Place {
  return {
    state: join(home, "state/blemees"),
    before: join(home, "before"),
    log: join(home, "log"),
    session_id,
  };
}

function files(dir: string, name: RegExp): string[] {
  return readdirSync(dir)
    .filter((file) => name.test(file))
    .map((file) => join(dir, file));
}

function remove(dir: string, name: RegExp): void {
  for (const path of files(dir, name)) rmSync(path);
}

function cut(dir: string, name: RegExp, share: number): void {
  for (const path of files(dir, name)) truncateSync(path, Math.floor(readFileSync(path).length * share));
}

/** Whole lines only: nothing in the file itself shows that there were more. */
function keepLines(dir: string, session_id: string, count: number): void {
  const path = join(dir, `${session_id}.jsonl`);
  writeFileSync(path, `${readFileSync(path, "utf8").split("\n").slice(0, count).join("\n")}\n`);
}

/** The database as if nothing of the last run had been moved into it: then only the journal has it. */
function undoFolds({ state, before }: Place): void {
  remove(state, /^blemees\.db/);
  for (const path of files(before, /^blemees\.db/)) cpSync(path, path.replace(before, state));
}

async function pageOf(session_id: string, since_seq: number): Promise<unknown> {
  return JSON.parse(await read(`/sessions/${session_id}/events?since_seq=${since_seq}`, "application/json"));
}

function sseOf(session_id: string, end: string): Promise<string> {
  return read(`/sessions/${session_id}/events?since_seq=0`, "text/event-stream", end);
}

/** The body, up to `end`. */
function read(path: string, accept: string, end?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { accept, host: "localhost" };
    const outgoing = get({ socketPath: daemon?.socket, path, agent: false, headers }, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (end === undefined || !text.includes(end)) return;
        resolve(text);
        outgoing.destroy();
      });
      reply.on("end", () => resolve(text));
      reply.on("error", () => resolve(text));
    });
    outgoing.on("error", reject);
  });
}
