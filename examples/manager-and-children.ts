// A manager as a program: two workers below one session, waited for and answered from one place, over HTTP.
//   npx tsx examples/manager-and-children.ts
import { HttpClient, type RequestRow } from "blemees/client";

const http = new HttpClient();
const cwd = process.cwd();

// The head of the family. We wait for the workers ourselves, so it need not be woken for them (`wakes_parent`).
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
    // Answers when the message's turn has ended, or when the agent asks something and cannot go on.
    const { reason, session: now } = await http.wait(
      session_id,
      message_id === undefined ? {} : { message_id },
    );
    if (reason !== "blocked") {
      console.log(`[${name}] ${now.last_result?.subtype}: ${now.last_result?.text}`);
      break;
    }
    // With `tree` the lead has what any worker below it asks.
    for (const request of await http.allRequests({ session_id: parent, tree: true })) await answer(request);
  }
}

for (const { depth, session } of await http.family(parent)) {
  console.log(`${"  ".repeat(depth)}${session.name}: ${session.activity_state}, ${session.turns} turn(s)`);
}
console.log(`removed ${(await http.remove(parent, { tree: true })).length} sessions`);

async function answer({ session_id, request_id, shown_hash, payload }: RequestRow): Promise<void> {
  console.log(`[asked] ${payload.title}`);
  // The hash says which version was looked at: an answer to anything else is refused.
  await http.respond(session_id, request_id, { decision: "accept" }, { shown_hash });
}
