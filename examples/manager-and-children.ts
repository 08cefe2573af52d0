// A manager program: spawns two children of one session, waits for them and answers their requests, over HTTP.
//   npx tsx examples/manager-and-children.ts
import { HttpClient, type RequestRow } from "blemees/client";

const http = new HttpClient();
const cwd = process.cwd();

// The parent. We wait for the workers ourselves, so it does not need to be woken (`wakes_parent`).
const { session: lead } = await http.spawn({ backend: "demo", cwd, name: "lead" });
const parent = lead.session_id;
const workers = await Promise.all(
  ["use a tool", "approve"].map((prompt, index) =>
    http.spawn({ backend: "demo", cwd, prompt, name: `worker-${index + 1}`, parent, wakes_parent: false }),
  ),
);

for (const { session, message_id } of workers) {
  const { session_id, name } = session;
  for (;;) {
    // Resolves when the message's turn has ended, or when the agent is blocked on a request.
    const { reason, session: now } = await http.wait(
      session_id,
      message_id === undefined ? {} : { message_id },
    );
    if (reason !== "blocked") {
      console.log(`[${name}] ${now.last_result?.subtype}: ${now.last_result?.text}`);
      break;
    }
    // With `tree`, includes the requests of all descendants.
    for (const request of await http.allRequests({ session_id: parent, tree: true })) await answer(request);
  }
}

for (const { depth, session } of await http.family(parent)) {
  console.log(`${"  ".repeat(depth)}${session.name}: ${session.activity_state}, ${session.turns} turn(s)`);
}
console.log(`removed ${(await http.remove(parent, { tree: true })).length} sessions`);

async function answer({ session_id, request_id, shown_hash, payload }: RequestRow): Promise<void> {
  console.log(`[asked] ${payload.title}`);
  // The hash identifies what was shown; an answer with another hash is refused.
  await http.respond(session_id, request_id, { decision: "accept" }, { shown_hash });
}
