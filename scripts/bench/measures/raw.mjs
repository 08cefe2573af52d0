// First text and end of a turn of the real claude and codex through the daemon, next to the same programs driven
// directly. The model is the scripted one of the tests, on loopback.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startMockAnthropic } from "../../../test/tools/mock-anthropic.mjs";
import { startMockResponses } from "../../../test/tools/mock-responses.mjs";
import { startRawClaude, startRawCodex } from "../raw-agents.mjs";
import { findAgent, furnishCodex, sayHowToInstall } from "../real-agents.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { connectTo } from "../sessions.mjs";
import { startDaemon } from "../targets.mjs";

const TEXT = "#mock:text hello from the scripted model";
const POINTS = /** @type {const} */ ([
  ["delta", "first delta", "deltaMs"],
  ["total", "turn total", "totalMs"],
]);

const AGENTS = {
  claude: {
    startModel: () => startMockAnthropic(),
    startRaw: startRawClaude,
    options: { permission_mode: "bypassPermissions", include_partial_messages: true },
    /** No account, and no traffic to any other host. */
    furnish: (/** @type {string} */ home, /** @type {string} */ url) => ({
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-mock",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_GROWTHBOOK: "1",
      IS_SANDBOX: "1",
    }),
  },
  codex: {
    startModel: () => startMockResponses(),
    startRaw: startRawCodex,
    options: { sandbox: "read-only", "approval-policy": "never" },
    furnish: furnishCodex,
  },
};

/** @param {import("../plan.mjs").Context} context */
export async function raw(context) {
  const rows = [];
  for (const name of /** @type {const} */ (["claude", "codex"])) {
    const program = findAgent(name);
    if (program === undefined) context.progress(`skipped: ${sayHowToInstall(name)}`);
    else rows.push(...(await compare(context, name, program)));
  }
  return rows;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {"claude" | "codex"} name
 * @param {string} program
 */
async function compare(context, name, program) {
  const { bench, plan, progress } = context;
  progress(`${name}, ${plan.rawTurns} turns`);
  const { startModel, startRaw, options, furnish } = AGENTS[name];
  const model = await startModel();
  const directory = bench.makeDirectory();
  const cwd = join(directory, "project");
  mkdirSync(cwd);
  const variables = furnish(directory, model.url);
  const env = { ...variables, [`BLEMEESD_${name.toUpperCase()}`]: program };
  const daemon = await startDaemon(context, "durable", { directory, env });
  const client = await connectTo(daemon.socketPath);
  const id = randomUUID();
  await client.open(id, name, { ...options, cwd });
  const direct = await startRaw(bench, {
    program,
    cwd,
    env: { ...process.env, ...variables, HOME: directory },
  });
  const lanes = [
    { name: /** @type {const} */ ("raw"), time: direct.time },
    {
      name: /** @type {const} */ ("ours"),
      time: (/** @type {string} */ text) => client.turn(id, text),
    },
  ];
  await rounds(lanes, 3, ({ time }) => time(TEXT));
  const all = await rounds(lanes, plan.rawTurns, ({ time }) => time(TEXT));
  client.close();
  await direct.stop();
  await daemon.stop();
  await model.close();
  return POINTS.map(([id, what, key]) =>
    toRow(
      {
        id: `raw.${name}.${id}`,
        measure: `${name}, ${what}`,
        store: "durable",
        unit: "ms",
        reference_name: "raw CLI",
      },
      all.ours.map((times) => times[key]),
      all.raw.map((times) => times[key]),
    ),
  );
}
