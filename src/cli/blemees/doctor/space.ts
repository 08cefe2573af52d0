// Checks how much space the daemon's files take, and whether that is within the limit.
import { measureEntries } from "../../../base/disk-use.ts";
import { asNumber, defined } from "../../../base/values.ts";
import { HttpClient } from "../../../client/index.ts";
import type { Check } from "../../checks.ts";
import { findStateDirectory } from "../state-directory.ts";
import type { CheckContext } from "./check.ts";

const MAX_NAMED = 4;
const MEBIBYTE = 1024 * 1024;

export async function checkSpace({ env, socket }: CheckContext): Promise<Check> {
  const status = await readStatus(socket);
  const entries = await measureEntries(status.state_dir ?? (await findStateDirectory(env)));
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const { limit } = status;
  const of = limit === undefined ? "" : limit === 0 ? ", no limit" : ` of ${formatMebibytes(limit)}`;
  const parts = entries.slice(0, MAX_NAMED).map((entry) => `${entry.name} ${formatMebibytes(entry.bytes)}`);
  const kept = describeKept(status);
  const text = `${formatMebibytes(bytes)}${of}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}${kept}`;
  if (limit === undefined || limit === 0 || bytes <= limit) return { name: "space", status: "ok", text };
  const todo = "the database keeps its free pages; for the rest see Retention in docs/operations.md";
  return { name: "space", status: "warn", text, todo };
}

/** How long it is kept, by age. */
function describeKept({ historyDays, summaryDays }: Status): string {
  if (historyDays === undefined || summaryDays === undefined) return "";
  const days = (count: number): string => (count === 0 ? "without limit" : `${count} days`);
  return `; history is kept ${days(historyDays)}, usage ${days(summaryDays)}`;
}

interface Status {
  state_dir?: string;
  limit?: number;
  historyDays?: number;
  summaryDays?: number;
}

/** Nothing is known without a daemon. */
async function readStatus(socket: string | undefined): Promise<Status> {
  try {
    const { state_dir, config } = await new HttpClient({ ...defined({ socket }), retry: false }).status();
    return {
      state_dir,
      ...defined({
        limit: asNumber(config["retention_total_bytes"]),
        historyDays: asNumber(config["session_retention_days"]),
        summaryDays: asNumber(config["summary_retention_days"]),
      }),
    };
  } catch {
    return {}; // checkDaemon reports it
  }
}

function formatMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MEBIBYTE)} MiB`;
}
