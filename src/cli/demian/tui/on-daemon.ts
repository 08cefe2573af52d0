// `demian --daemon`: the screen for a session in blemeesd, which continues after the screen is closed.

import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { HttpClient, HttpOptions, SpawnBody } from "../../../client/index.ts";
import { findMainAgent } from "../../../runtime/agents/from-config.ts";
import type { ProviderChoice, Runtime } from "../../../runtime/session-types.ts";
import { assertTerminal, runSessionScreen } from "../../../tui/index.ts";
import { connectIfRunning, startDaemon } from "../../blemees/start-daemon.ts";
import { type Arguments, UsageError } from "../../command.ts";
import type { DemianContext } from "../command.ts";
import { type Order, readOrder } from "../order.ts";
import { prepare } from "../prepare.ts";
import {
  explainUnknownProvider,
  findProvider,
  listProviderKeys,
  type Settings,
  toSessionChoice,
} from "../settings.ts";
import { askTrust } from "../trust-start.ts";
import { DaemonDriver } from "./daemon-driver.ts";

/** Flags that apply to daemon sessions; all others need a runtime in this process. */
const DAEMON_FLAGS: ReadonlySet<string> = new Set([
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
  context: DemianContext,
): Promise<number> {
  const { io, output } = context;
  assertDaemonFlags(given);
  const terminal = { stdin: process.stdin, stdout: process.stdout, env: io.env };
  assertTerminal(terminal);
  assertOutside(context);
  const isDemo = given.flags["demo"] === true;
  if (message === undefined && !isDemo) await askTrust(readOrder(given, io.cwd), context);
  const { driver, runtime } = await prepareDriver(given, context);
  try {
    // Before the screen starts, so that the first message need not wait.
    await connect(context, (text) => output.note(text));
    if (message !== undefined) await driver.begin(message);
    return await runSessionScreen({ io: terminal, driver });
  } finally {
    await driver.close();
    await runtime.close();
    const { session_id, isSpawning } = driver;
    if (session_id !== "")
      output.note(`· the session continues in the daemon; reopen it with: sm attach ${session_id}`);
    else if (isSpawning)
      output.note("· the daemon has not confirmed the session yet; list sessions with: sm all");
  }
}

/** The runtime only lists the choices. The caller closes both. */
export async function prepareDriver(
  given: Arguments,
  context: DemianContext,
): Promise<{ driver: DaemonDriver; runtime: Runtime }> {
  const order = readOrder(given, context.io.cwd);
  const isDemo = given.flags["demo"] === true;
  const backend = isDemo ? "demo" : "demian";
  const { runtime, settings, warnings, keep } = await prepare(order, context, isDemo);
  assertKnown(runtime, order, settings);
  const driver = new DaemonDriver({
    runtime,
    settings,
    order,
    backend,
    warnings,
    onChosen: keep,
    // Connects each time: a daemon that has ended is started again.
    spawn: async (chosen, prompt, note) => {
      // The screen adds its own mark.
      const http = await connect(context, (text) => note(text.replace(/^· /, "")));
      const body = { ...toSpawnBody(order, chosen), backend, prompt };
      const { session } = await http.spawn(body).catch((error: unknown) => {
        throw explainAuthFailure(error, findProvider(runtime, chosen.provider.value));
      });
      return { http, session_id: session.session_id };
    },
  });
  return { driver, runtime };
}

export function assertDaemonFlags({ flags, many }: Arguments): void {
  const odd = Object.entries(flags).find(
    ([name, value]) => value !== undefined && !DAEMON_FLAGS.has(name),
  )?.[0];
  const refused = odd ?? Object.entries(many).find(([, values]) => values.length > 0)?.[0];
  if (refused === undefined) return;
  throw new UsageError(`--${refused} does not work with --daemon; leave one of them out`);
}

/** Passes all choices explicitly, so that the session gets what the screen shows. */
export function toSpawnBody({ cwd, flags }: Order, settings: Settings): SpawnBody {
  const { agent, provider, model } = toSessionChoice(settings);
  const { agentMode } = flags;
  return {
    cwd,
    model: model === undefined ? provider : `${provider}/${model}`,
    options: { mode: agent, ...defined({ agent_mode: agentMode }) },
  };
}

/** The daemon's message would name a variable that is set in this shell. */
function explainAuthFailure(error: unknown, choice: ProviderChoice | undefined): unknown {
  const { code, message, data } = error instanceof CodedError ? error : {};
  if (code === undefined || data?.["reason"] !== "auth" || choice?.isReady !== true) return error;
  const why =
    "it is ready in this shell, but blemeesd has a different environment; stop blemeesd and start it from this shell";
  return new CodedError(code, `${message}; ${why}`, { cause: error, data });
}

/** Checked before the screen starts: the daemon would take an unknown provider for a model name. */
function assertKnown(runtime: Runtime, { provider }: Order, { agent }: Settings): void {
  findMainAgent(runtime.agents, agent.value);
  if (provider === undefined || findProvider(runtime, provider) !== undefined) return;
  throw new CodedError("unknown_provider", explainUnknownProvider(listProviderKeys(runtime), provider));
}

function assertOutside({ io: { env } }: DemianContext): void {
  const self = env["BLEMEES_SESSION_ID"];
  if (self === undefined || self === "") return;
  throw new CodedError(
    "inside_an_agent",
    "--daemon does not work inside an agent of blemeesd; use `sm spawn demian`",
  );
}

async function connect(
  { io, daemonProgram }: DemianContext,
  note: (text: string) => void,
): Promise<HttpClient> {
  const { env } = io;
  const socket = env["BLEMEESD_SOCKET"] || undefined;
  const options: HttpOptions = defined({ socket });
  const http = await connectIfRunning(options);
  return http ?? startDaemon({ program: daemonProgram, socket, env, note }, options);
}
