// What a session's agent can be set to, and the change of it. Agents refuse what they cannot do.
import type { Backend } from "../backends/types.ts";
import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { Setting, SettingsChange, SettingsReply } from "../protocol/settings.ts";
import { unknownSessionError } from "./core/refusals.ts";
import type { ChildRights } from "./rights/rights.ts";
import type { SessionTable } from "./table.ts";

export async function readSettings(table: SessionTable, session_id: string): Promise<SettingsReply> {
  const row = await table.find(session_id);
  if (row === undefined) throw unknownSessionError(session_id);
  const session = table.live.get(session_id);
  const backend = table.backend(row.backend);
  const known = backend.settings?.list(row.options) ?? {};
  const offered = (await session?.offers()) ?? {};
  return {
    session_id,
    running: session?.isRunning === true,
    ...defined({
      model: merge(offered.model, known.model, row.model),
      permission_mode: merge(offered.permission_mode, known.permission_mode, row.permission_mode),
      effort: merge(offered.effort, known.effort, undefined),
      commands: offered.commands,
    }),
  };
}

/** The agent knows best what it is set to, then what it last reported; the options say what it was started with. */
function merge(
  offered: Setting | undefined,
  known: Setting | undefined,
  reported: string | undefined,
): Setting | undefined {
  const values = offered?.values ?? known?.values;
  if (values === undefined) return undefined;
  return { values, ...defined({ current: offered?.current ?? reported ?? known?.current }) };
}

/** Throws `setting_refused`, `invalid_message`, `session_busy`, `store_failed`. */
export function changeSettings(
  table: SessionTable,
  session_id: string,
  change: SettingsChange,
): Promise<void> {
  return table.use(session_id, (session) => {
    const { options: before } = session.row;
    const options = changeOptions(session.backend, before, change, session.isRunning);
    return session.adjust({ change, options, before });
  });
}

/** The rights of the session after the change. */
export async function describeChange(
  table: SessionTable,
  session_id: string,
  change: SettingsChange,
): Promise<ChildRights> {
  const row = await table.find(session_id);
  if (row === undefined) throw unknownSessionError(session_id);
  const backend = table.backend(row.backend);
  const isRunning = table.live.get(session_id)?.isRunning === true;
  const options = changeOptions(backend, row.options, change, isRunning);
  return { backend: row.backend, options, may_answer: row.may_answer, manager: row.manager, mcp: row.mcp };
}

function changeOptions(
  backend: Backend,
  options: Record<string, unknown>,
  change: SettingsChange,
  isRunning: boolean,
): Record<string, unknown> {
  if (backend.settings !== undefined) return backend.settings.change(options, change, isRunning);
  throw new CodedError("setting_refused", `the settings of ${backend.name} cannot be changed in a session`);
}
