// From a start order to a `codex mcp-server` that accepts messages: arguments, environment, thread.
import { asString, defined } from "../../../base/values.ts";
import type { BackendSink, Run, StartOrder } from "../../types.ts";
import { processEnvironment } from "../environment.ts";
import type { CodexProgram } from "../program.ts";
import { mcpArgv, refuseNewOptions } from "./arguments.ts";
import { McpRun } from "./run.ts";
import { newState } from "./state.ts";

export async function startMcpRun(program: CodexProgram, order: StartOrder, sink: BackendSink): Promise<Run> {
  const { options, log } = order;
  refuseNewOptions(options);
  const args = mcpArgv(options);
  const run = new McpRun({
    state: newState(options, findThread(order)),
    options,
    sink,
    log,
    maxLineBytes: program.maxLineBytes,
  });
  const cwd = asString(options["cwd"]);
  const env = { ...processEnvironment(program.env, {}), ...order.env };
  const place = defined({ cwd });
  await run.start({ command: program.command, args, env, ...place });
  return run;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The thread to continue. An unknown session may be named by its thread, as in the listing. */
function findThread({ resume, began_here, session_id, native_session_id }: StartOrder): string | undefined {
  if (!resume) return undefined;
  if (native_session_id !== undefined) return native_session_id;
  return !began_here && UUID.test(session_id) ? session_id : undefined;
}
