// Fills a state directory with sessions of the past: copies of one real session, with their own ids, names, directories,
// times, frames and observed rows. Written with SQL, because 100,000 sessions through a daemon would take hours.
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";

const DAY_MS = 86_400_000;
const DAYS = 90;
/** Every tenth session is a child of the one before. */
const CHILD_EVERY = 10;
const DIRECTORIES = 40;
const SLOT_BYTES = 256;
const ID_AT = 13;

/** The ids of the copies, in order; id 0 is the oldest. */
const IDS = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count),
  ids AS (SELECT i, ${toId("i")} AS id,
    :until - CAST((:count - i) * 1.0 * :span / :count AS INTEGER) AS at FROM n)`;

const CWD = `'/home/user/work/project-' || (i % ${DIRECTORIES})`;
const PARENT = `iif(i % ${CHILD_EVERY} = 1, ${toId("(i - 1)")}, NULL)`;

/** @param {string} n */
function toId(n) {
  return `printf('%08x-0000-4000-8000-%012x', (${n} * 2654435761) & 4294967295, ${n})`;
}

/**
 * Needs a daemon that has stopped and has left one session with a finished turn, which is the model of the others.
 * @param {string} stateDir
 * @param {number} count
 */
export function fillStore(stateDir, count) {
  const until = Date.now() - 60_000;
  const order = { count, until, span: DAYS * DAY_MS };
  const ids = fillSessions(join(stateDir, "blemees.db"), order);
  fillObserved(join(stateDir, "observability.db"), order);
  fillMarks(join(stateDir, "blemees.seqs"), ids);
}

/**
 * @param {string} path
 * @param {{ count: number, until: number, span: number }} order
 * @returns {{ session_id: string, last_seq: number }[]}
 */
function fillSessions(path, order) {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous=OFF; BEGIN");
  const model = /** @type {{ session_id: string, row: string, last_seq: number }} */ (
    db.prepare("SELECT session_id, row, last_seq FROM sessions LIMIT 1").get()
  );
  db.prepare(
    `INSERT INTO sessions (session_id, backend, last_active_at_ms, last_seq, row,
       started_at_ms, cwd, name, parent, native_session_id)
     ${IDS}
     SELECT ids.id, json_extract(:row, '$.backend'), at, :last_seq, json_patch(:row, json_object(
       'session_id', ids.id, 'name', 'task ' || i, 'title', 'Fix the problem number ' || i, 'started_at_ms', at - 60000,
       'last_active_at_ms', at, 'last_turn_at_ms', at, 'cwd', ${CWD},
       'parent', ${PARENT})),
       at - 60000, ${CWD}, 'task ' || i, ${PARENT}, json_extract(:row, '$.native_session_id')
     FROM ids`,
  ).run({ ...order, row: model.row, last_seq: model.last_seq });
  db.prepare(
    `INSERT INTO batches (session_id, first_seq, last_seq, count, at_ms, bytes)
     ${IDS}
     SELECT ids.id, b.first_seq, b.last_seq, b.count, at, b.bytes FROM batches b CROSS JOIN ids WHERE b.session_id = :model`,
  ).run({ ...order, model: model.session_id });
  db.prepare(
    `INSERT INTO run_marks (session_id, run_id, out_offset, err_offset, last_entry)
     ${IDS} SELECT ids.id, 'run-' || i, 4096, 0, 12 FROM ids`,
  ).run(order);
  const { seq } = /** @type {{ seq: number }} */ (
    db.prepare("SELECT max(last_seq) AS seq FROM batches WHERE session_id = ?").get(model.session_id)
  );
  const ids = db.prepare(`${IDS} SELECT id FROM ids`).all(order);
  db.exec("COMMIT");
  db.close();
  return ids.map((found) => ({ session_id: /** @type {{ id: string }} */ (found).id, last_seq: seq }));
}

/**
 * @param {string} path
 * @param {{ count: number, until: number, span: number }} order
 */
function fillObserved(path, order) {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous=OFF; BEGIN");
  for (const table of ["turn_events", "tool_events"]) {
    const found = /** @type {{ name: string }[]} */ (
      db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
    );
    const names = found.map(({ name }) => name);
    const values = names.map((name) => {
      if (name === "id")
        return "(SELECT max(id) FROM (SELECT max(id) AS id FROM turn_events UNION SELECT max(id) FROM tool_events)) + row_number() OVER (ORDER BY i, e.id)";
      if (name === "session_id") return "ids.id";
      return name === "created_at_ms" ? "at" : `e.${name}`;
    });
    db.prepare(
      `INSERT INTO ${table} (${names.join(", ")}) ${IDS}
       SELECT ${values.join(", ")} FROM (SELECT * FROM ${table} ORDER BY id LIMIT 6) AS e CROSS JOIN ids`,
    ).run(order);
  }
  db.exec("COMMIT");
  db.close();
}

/**
 * As the first version wrote them, which every later one can read.
 * @param {string} path
 * @param {{ session_id: string, last_seq: number }[]} marks
 */
function fillMarks(path, marks) {
  const bytes = Buffer.alloc(marks.length * SLOT_BYTES);
  marks.forEach(({ session_id, last_seq }, index) => {
    const slot = bytes.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES);
    slot.writeDoubleLE(last_seq, 0);
    slot[ID_AT - 1] = slot.write(session_id, ID_AT);
    const crc = crc32(slot.subarray(ID_AT - 1, ID_AT + session_id.length));
    slot.writeUInt32LE(crc32(slot.subarray(0, 8), crc), 8);
  });
  const fd = openSync(path, "w", 0o600);
  writeSync(fd, bytes);
  closeSync(fd);
}
