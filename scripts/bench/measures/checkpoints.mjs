// From the agent's write to the reader's read in one session, while another session's files are recorded without a pause: a
// repository of 100,000 files, a file changed in each turn. The relay beside it has the same git running on the machine.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Load } from "../load.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { connectTo } from "../sessions.mjs";
import { startDaemon, startRelay } from "../targets.mjs";

const FILES_PER_FOLDER = 500;

/** @param {import("../plan.mjs").Context} context */
export async function checkpoints(context) {
  const { bench, plan, progress } = context;
  progress(`a repository of ${plan.checkpointFiles} files`);
  const repository = makeRepository(bench.makeDirectory(), plan.checkpointFiles);
  const relay = await startRelay(context);
  // None may be skipped here.
  const env = { BLEMEESD_CHECKPOINT_TIMEOUT_MS: "600000" };
  const daemon = await startDaemon(context, "durable", { env });
  /** @type {{ name: "relay" | "durable", load: Load }[]} */
  const lanes = [
    { name: "relay", load: await Load.open(context, relay.socketPath, 1) },
    { name: "durable", load: await Load.open(context, daemon.socketPath, 1) },
  ];
  await rounds(lanes, 1, ({ load }) => load.flood(plan.warmUpEvents));
  const worker = await Worker.open(daemon.socketPath, repository);
  progress(`${plan.latencyRate} events/s, ${plan.latencyRounds} times alone and beside it`);
  /** @type {Record<"quiet" | "busy", Record<"relay" | "durable", import("../load.mjs").Figures[]>>} */
  const found = { quiet: { relay: [], durable: [] }, busy: { relay: [], durable: [] } };
  for (let round = 0; round < plan.latencyRounds; round++) {
    for (const when of /** @type {const} */ (["quiet", "busy"])) {
      if (when === "busy") worker.start();
      for (const { name, load } of lanes)
        found[when][name].push(await load.pace(plan.latencyRate, plan.latencySeconds));
      await worker.stop();
    }
  }
  worker.close();
  for (const { load } of lanes) await load.close();
  for (const target of [relay, daemon]) await target.stop();
  const times = (
    /** @type {import("../load.mjs").Figures[]} */ all,
    /** @type {"p50_ns" | "p99_ns"} */ point,
  ) => all.map((figures) => figures[point] / 1e3);
  const rows = /** @type {const} */ (["p50", "p99"]).flatMap((point) =>
    /** @type {const} */ (["quiet", "busy"]).map((when) =>
      toRow(
        {
          id: `checkpoints.${point}.${when}`,
          measure: `forward an event${when === "busy" ? `, ${plan.checkpointFiles} files recorded` : ""}, ${point}`,
          store: "durable",
          unit: "µs",
        },
        times(found[when].durable, `${point}_ns`),
        times(found[when].relay, `${point}_ns`),
      ),
    ),
  );
  const head = {
    id: "checkpoints.turn",
    measure: "a turn there, both checkpoints",
    store: "durable",
    unit: "ms",
  };
  return [...rows, toRow(head, worker.took)];
}

/** Turns without a pause, each of which changes a file. */
class Worker {
  #client;
  #repository;
  /** @type {Promise<void>} */
  #turns = Promise.resolve();
  #isStopped = true;
  #count = 0;
  /** @type {number[]} */
  took = [];

  /** @param {Awaited<ReturnType<typeof connectTo>>} client @param {string} repository */
  constructor(client, repository) {
    this.#client = client;
    this.#repository = repository;
  }

  /** @param {string} socketPath @param {string} repository */
  static async open(socketPath, repository) {
    const client = await connectTo(socketPath);
    const id = randomUUID();
    await client.open(id, "claude", { cwd: repository });
    const worker = new Worker(client, repository);
    worker.#id = id;
    // The first look at all files.
    await worker.#turn();
    return worker;
  }

  #id = "";

  start() {
    this.#isStopped = false;
    this.#turns = this.#run();
  }

  async stop() {
    this.#isStopped = true;
    await this.#turns;
  }

  close() {
    this.#client.close();
  }

  async #run() {
    while (!this.#isStopped) this.took.push(await this.#turn());
  }

  async #turn() {
    const startedAt = performance.now();
    writeFileSync(join(this.#repository, "d0/f0.txt"), `turn ${++this.#count}\n`);
    await this.#client.turn(this.#id, "say");
    return performance.now() - startedAt;
  }
}

/** @param {string} root @param {number} count */
function makeRepository(root, count) {
  for (let at = 0; at < count; at++) {
    const folder = join(root, `d${Math.floor(at / FILES_PER_FOLDER)}`);
    if (at % FILES_PER_FOLDER === 0) mkdirSync(folder);
    writeFileSync(join(folder, `f${at}.txt`), `file ${at}\n`);
  }
  const git = (/** @type {string[]} */ ...args) => execFileSync("git", args, { cwd: root, stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "x");
  return root;
}
