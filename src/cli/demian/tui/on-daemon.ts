// `demian --daemon`: the screen on a session of blemeesd, which lives on when the screen is left.
import { realpath } from "node:fs/promises";
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient, HttpOptions, SpawnBody } from "../../../client/index.ts";
import { loadConfig } from "../../../runtime/config/load.ts";
import { createSessionDriver } from "../../../tui/daemon/session-driver.ts";
import { assertTerminal, runSessionScreen } from "../../../tui/index.ts";
import { type Arguments, UsageError } from "../../command.ts";
import { reach, startDaemon } from "../../sm/start-daemon.ts";
import type { Context } from "../command.ts";
import { type Order, orderOf } from "../order.ts";
import { unknownProvider } from "../settings.ts";

/** What a session of the daemon is opened with; everything else is of a runtime in this process. */
const TAKEN: ReadonlySet<string> = new Set([
  "daemon",
  "prompt",
  "agent",
  "provider",
  "model",
  "cwd",
  "mode",
  "single-agent",
  "multi-agent",
  "demo",
]);

export async function runOnDaemon(
  given: Arguments,
  message: string | undefined,
  context: Context,
): Promise<number> {
  const { io } = context;
  const order = orderOf(given, io.cwd);
  const body = spawnBody(given, message, order);
  await assertProvider(order, context);
  const terminal = { stdin: process.stdin, stdout: process.stdout, env: io.env };
  assertTerminal(terminal);
  const http = await connect(context);
  const { session } = await http.spawn(body);
  const { session_id } = session;
  const driver = createSessionDriver({ http, session_id, title: `${body.backend} · ${body.cwd}` });
  try {
    return await runSessionScreen({ io: terminal, driver });
  } finally {
    await driver.close();
    context.output.note(`· it goes on without the screen: sm attach ${session_id}`);
  }
}

export function spawnBody(given: Arguments, message: string | undefined, order: Order): SpawnBody {
  const odd = Object.entries(given.flags).find(
    ([name, value]) => value !== undefined && !TAKEN.has(name),
  )?.[0];
  const many = Object.entries(given.many).find(([, values]) => values.length > 0)?.[0];
  const refused = odd ?? many;
  if (refused !== undefined) {
    throw new UsageError(
      `--daemon cannot take --${refused}: only a runtime in this process can; leave one of both out`,
    );
  }
  const { cwd, agent, provider, model, flags } = order;
  const { agentMode } = flags;
  const wanted = provider === undefined ? model : model === undefined ? provider : `${provider}/${model}`;
  const options = {
    ...(agent === undefined ? {} : { mode: agent }),
    ...(agentMode === undefined ? {} : { agent_mode: agentMode }),
  };
  return {
    backend: given.flags["demo"] === true ? "demo" : "demian",
    cwd,
    ...(wanted === undefined ? {} : { model: wanted }),
    ...(message === undefined ? {} : { prompt: message }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** The daemon would take a provider that is not there for a model of the usual one. */
async function assertProvider({ cwd, provider }: Order, { io }: Context): Promise<void> {
  if (provider === undefined) return;
  const known = await providersOf(cwd, io.env);
  if (known === undefined || known.includes(provider)) return;
  throw new CodedError("unknown_provider", unknownProvider(known, provider));
}

/** Undefined: they cannot be found out here, and the daemon will say why. */
async function providersOf(cwd: string, env: Context["io"]["env"]): Promise<string[] | undefined> {
  try {
    const { config } = await loadConfig({ cwd: await realpath(cwd), env });
    return Object.keys(config.providers);
  } catch {
    return undefined; // a config with a fault, a directory that is not there
  }
}

async function connect({ io, output, daemonProgram }: Context): Promise<HttpClient> {
  const { env } = io;
  const self = env["BLEMEES_SESSION_ID"];
  if (self !== undefined && self !== "") {
    throw new CodedError(
      "inside_an_agent",
      "an agent of blemeesd has no terminal; use `sm spawn demian` here",
    );
  }
  const socket = env["BLEMEESD_SOCKET"] || undefined;
  const options: HttpOptions = socket === undefined ? {} : { socket };
  const http = await reach(options);
  if (http !== undefined) return http;
  return startDaemon({ program: daemonProgram, socket, env, note: (text) => output.note(text) }, options);
}
