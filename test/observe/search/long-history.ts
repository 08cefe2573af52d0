// A history that is always the same, and a program that indexes it until it is killed: `node … PATH`.
import { fileURLToPath } from "node:url";
import { SearchDatabase } from "../../../src/observe/search/database.ts";
import type { IndexOrder } from "../../../src/observe/search/types.ts";

export const SESSIONS = 12;
export const FRAMES = 200;
/** Deleted while others are indexed. */
export const DELETED = "s3";
const FRAMES_AT_ONCE = 7;
const STARTED_MS = Date.UTC(2026, 0, 1);

/** Frames of a session after a seq. */
export function readPart(session: number, after_seq: number): IndexOrder | undefined {
  const first_seq = after_seq + 1;
  if (first_seq > FRAMES) return undefined;
  const last_seq = Math.min(FRAMES, after_seq + FRAMES_AT_ONCE);
  const lines: string[] = [];
  for (let seq = first_seq; seq <= last_seq; seq += 1)
    lines.push(`${JSON.stringify(toFrame(session, seq))}\n`);
  return {
    session_id: `s${session}`,
    ...{ first_seq, last_seq, agent: "fake", project: `/p${session % 3}` },
    bytes: Buffer.from(lines.join("")),
    stamps: [{ first_seq, at_ms: STARTED_MS + first_seq * 60_000 }],
  };
}

function toFrame(session: number, seq: number): object {
  const words = [`common word${seq % 40}`, `own${session}Word${seq}`, `历史${seq % 7}`].join(" ");
  if (seq % 3 === 0)
    return { type: "agent.tool_result", backend: "fake", tool_use_id: "t", output: words.repeat(9) };
  if (seq % 3 === 1) return { type: "agent.delta", backend: "fake", kind: "text", text: words };
  return { type: "agent.user_echo", backend: "fake", message: { role: "user", content: words } };
}

/** Continues from wherever the index is. Calls `stepped` after every step. */
export async function indexAll(search: SearchDatabase, stepped: () => void = () => undefined): Promise<void> {
  const positions = new Map(
    search.positions().map(({ session_id, indexed_seq }) => [session_id, indexed_seq]),
  );
  for (let isMore = true; isMore; ) {
    isMore = false;
    for (let session = 0; session < SESSIONS; session += 1) {
      const session_id = `s${session}`;
      if (session_id === DELETED && (positions.get("s2") ?? 0) >= FRAMES / 2) {
        if (positions.delete(session_id)) search.remove({ session_id });
        search.tidy();
        stepped();
        continue;
      }
      const part = readPart(session, positions.get(session_id) ?? 0);
      if (part === undefined) continue;
      isMore = true;
      positions.set(session_id, search.index(part).indexed_seq);
      stepped();
    }
  }
  while (search.tidy()) stepped();
}

async function main(path: string): Promise<void> {
  const search = await SearchDatabase.open({ path, now: Date.now });
  let steps = 0;
  await indexAll(search, () => {
    steps += 1;
    process.stdout.write(`${steps}\n`);
  });
  search.close();
}

const [, program, path] = process.argv;
if (program === fileURLToPath(import.meta.url) && path !== undefined) await main(path);
