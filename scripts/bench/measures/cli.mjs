// Programs from start to exit next to a bare `node -e 0`, as agents and shells call them.
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { rounds, toRow } from "../rounds.mjs";
import { connectTo } from "../sessions.mjs";
import { startDaemon, timeProgram } from "../targets.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function cli(context) {
  const { bench, plan, progress, daemon } = context;
  progress(`${plan.starts} times each`);
  const directory = bench.makeDirectory();
  const target = await startDaemon(context, "durable", { directory });
  const sessions = await connectTo(target.socketPath);
  const id = randomUUID();
  await sessions.open(id, "claude", {});
  const env = { ...process.env, HOME: directory, BLEMEES_SOCKET: target.socketPath };
  const program = (/** @type {string} */ file, /** @type {string[]} */ ...args) => ({
    name: [file, args[0]].join(" "),
    command: [join(dirname(daemon), `${file}.js`), ...args],
  });
  const candidates = [
    { name: "node", command: [process.execPath, "-e", "0"] },
    program("sm", "--version"),
    program("sm", "all"),
    program("sm", "send", id, "say"),
    program("demian", "--version"),
    program("blemeesd", "--version"),
  ];
  const time = async (/** @type {{ command: string[] }} */ { command }) =>
    (await timeProgram(context, { command, env })).wallMs;
  await rounds(candidates, 1, time);
  const all = await rounds(candidates, plan.starts, time);
  sessions.close();
  await target.stop();
  return candidates
    .slice(1)
    .map(({ name }) =>
      toRow(
        { id: `cli.${name}`, measure: name, store: "", unit: "ms", reference_name: "node -e 0" },
        all[name] ?? [],
        all["node"],
      ),
    );
}
