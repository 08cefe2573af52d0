// From spawn to hello_ack, next to the time Node itself needs to start and exit. The state directory is kept between
// starts, as in normal use: only the first start creates the database.
import { once } from "node:events";
import { median, rounds } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function coldStart(context) {
  const { bench, plan, progress } = context;
  progress(`${plan.coldStarts} times`);
  const directory = bench.makeDirectory();
  const candidates = /** @type {const} */ ([
    { name: "durable", run: () => timeDaemon(context, directory) },
    { name: "node", run: () => timeNode(bench) },
  ]);
  await rounds(candidates, 1, ({ run }) => run());
  const all = await rounds(candidates, plan.coldStarts, ({ run }) => run());
  return [
    {
      id: "cold-start",
      measure: "cold start to hello_ack",
      store: "durable",
      unit: "ms",
      value: median(all.durable),
      reference: median(all.node),
      reference_name: "node -e 0",
      rounds: all.durable,
      reference_rounds: all.node,
    },
  ];
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {string} directory
 */
async function timeDaemon(context, directory) {
  const daemon = await startDaemon(context, "durable", { directory });
  await daemon.stop();
  return daemon.startMs;
}

/** @param {import("../workbench.mjs").Workbench} bench */
async function timeNode(bench) {
  const startedAt = performance.now();
  await once(bench.start(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - startedAt;
}
