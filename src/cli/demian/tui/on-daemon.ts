// `demian --daemon`: the screen on a session of blemeesd, which lives on when the screen is left.
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient, HttpOptions, SpawnBody } from "../../../client/index.ts";
import { mainAgent } from "../../../runtime/agents/from-config.ts";
import type { ProviderChoice, Runtime } from "../../../runtime/session-types.ts";
import { assertTerminal, runSessionScreen } from "../../../tui/index.ts";
import { type Arguments, UsageError } from "../../command.ts";
import { reach, startDaemon } from "../../sm/start-daemon.ts";
import type { Context } from "../command.ts";
import { type Order, orderOf } from "../order.ts";
import { prepare } from "../prepare.ts";
import { chosenOf, findProvider, providerKeys, type Settings, unknownProvider } from "../settings.ts";
import { askTrust } from "../trust-start.ts";
import { DeferredDriver } from "./deferred.ts";

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
  const { io, output } = context;
  assertTaken(given);
  const terminal = { stdin: process.stdin, stdout: process.stdout, env: io.env };
  assertTerminal(terminal);
  assertOutside(context);
  const isDemo = given.flags["demo"] === true;
  if (message === undefined && !isDemo) await askTrust(orderOf(given, io.cwd), context);
  const { driver, runtime } = await prepareDriver(given, context);
  try {
    // Before the screen, so that the first message does not wait for it.
    await connect(context, (text) => output.note(text));
    if (message !== undefined) await driver.begin(message);
    return await runSessionScreen({ io: terminal, driver });
  } finally {
    await driver.close();
    await runtime.close();
    const { session_id, isSpawning } = driver;
    if (session_id !== "") output.note(`· it goes on without the screen: sm attach ${session_id}`);
    else if (isSpawning) output.note("· the daemon did not say yet what became of the session: sm all");
  }
}

/** The runtime is only for what can be chosen; whoever prepares them closes both. */
export async function prepareDriver(
  given: Arguments,
  context: Context,
): Promise<{ driver: DeferredDriver; runtime: Runtime }> {
  const order = orderOf(given, context.io.cwd);
  const isDemo = given.flags["demo"] === true;
  const backend = isDemo ? "demo" : "demian";
  const { runtime, settings, warnings, keep } = await prepare(order, context, isDemo);
  assertKnown(runtime, order, settings);
  const driver = new DeferredDriver({
    runtime,
    settings,
    order,
    backend,
    warnings,
    onChosen: keep,
    // Looked for each time: one that has ended meanwhile is started again.
    spawn: async (chosen, prompt, note) => {
      // The screen has a mark of its own for it.
      const http = await connect(context, (text) => note(text.replace(/^· /, "")));
      const body = { ...spawnBody(order, chosen), backend, prompt };
      const { session } = await http.spawn(body).catch((error: unknown) => {
        throw explained(error, findProvider(runtime, chosen.provider.value));
      });
      return { http, session_id: session.session_id };
    },
  });
  return { driver, runtime };
}

/** What only a runtime in this process can do is refused. */
export function assertTaken({ flags, many }: Arguments): void {
  const odd = Object.entries(flags).find(([name, value]) => value !== undefined && !TAKEN.has(name))?.[0];
  const refused = odd ?? Object.entries(many).find(([, values]) => values.length > 0)?.[0];
  if (refused === undefined) return;
  throw new UsageError(
    `--daemon cannot take --${refused}: only a runtime in this process can; leave one of both out`,
  );
}

/** All that is chosen is said: what the screen shows is what the session gets. */
export function spawnBody({ cwd, flags }: Order, settings: Settings): SpawnBody {
  const { agent, provider, model } = chosenOf(settings);
  const { agentMode } = flags;
  return {
    cwd,
    model: model === undefined ? provider : `${provider}/${model}`,
    options: { mode: agent, ...(agentMode === undefined ? {} : { agent_mode: agentMode }) },
  };
}

/** Its own words would send somebody to a variable that they have set. */
function explained(error: unknown, choice: ProviderChoice | undefined): unknown {
  const { code, message, data } = error instanceof CodedError ? error : {};
  if (code === undefined || data?.["reason"] !== "auth" || choice?.isReady !== true) return error;
  const why =
    "it is ready here, but blemeesd has another environment: end it, and start it again from this shell";
  return new CodedError(code, `${message}; ${why}`, { cause: error, data });
}

/** Before anything is drawn: the daemon would take a provider that is not there for a model of the usual one. */
function assertKnown(runtime: Runtime, { provider }: Order, { agent }: Settings): void {
  mainAgent(runtime.agents, agent.value);
  if (provider === undefined || findProvider(runtime, provider) !== undefined) return;
  throw new CodedError("unknown_provider", unknownProvider(providerKeys(runtime), provider));
}

function assertOutside({ io: { env } }: Context): void {
  const self = env["BLEMEES_SESSION_ID"];
  if (self === undefined || self === "") return;
  throw new CodedError("inside_an_agent", "an agent of blemeesd has no terminal; use `sm spawn demian` here");
}

async function connect({ io, daemonProgram }: Context, note: (text: string) => void): Promise<HttpClient> {
  const { env } = io;
  const socket = env["BLEMEESD_SOCKET"] || undefined;
  const options: HttpOptions = socket === undefined ? {} : { socket };
  const http = await reach(options);
  return http ?? startDaemon({ program: daemonProgram, socket, env, note }, options);
}
