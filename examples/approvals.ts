// Answers an agent's requests with a custom rule: read-only commands are accepted, everything else is declined.
//   npx tsx examples/approvals.ts
import { type Answer, connect, type PendingRequest, readRequest } from "blemees/client";

const HARMLESS = /^(ls|cat|git (status|diff|log))( |$)/;

const client = await connect({ client: "approvals/1.0" });
// With Claude: { backend: "claude", options: { cwd: process.cwd(), approvals: true } }
const session = await client.open({ backend: "demo" });

const turn = session.turn("approve");
for await (const event of turn) {
  const request = readRequest(event);
  if (request?.status === "pending") {
    console.log(`[asked] ${request.payload.title}`);
    // The hash identifies what was shown; an answer with another hash is refused.
    const { shown_hash } = request;
    await session.respond(request.request_id, decide(request), { shown_hash });
  } else if (request !== undefined) {
    console.log(`[${request.status}] ${JSON.stringify(request.answer)}`);
  }
  if (event.type === "agent.delta" && event.kind === "text") process.stdout.write(event.text ?? "");
}
const { subtype } = await turn.result();
console.log(`\n[${subtype}]`);

await session.close({ delete: true });
await client.close();

function decide({ payload }: PendingRequest): Answer {
  if (payload.command !== undefined && HARMLESS.test(payload.command)) return { decision: "accept" };
  return { decision: "decline", message: "only reading is allowed here" };
}
