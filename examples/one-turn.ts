// One question, one answer. Start the daemon first; the demo agent needs no account.
//   npx tsx examples/one-turn.ts "use a tool"
import { connect } from "blemees/client";

const prompt = process.argv[2] ?? "hello";

const client = await connect({ client: "one-turn/1.0" });
const session = await client.open({ backend: "demo", options: { cwd: process.cwd() } });

const turn = session.turn(prompt);
for await (const event of turn) {
  if (event.type === "agent.delta" && event.kind === "text") process.stdout.write(event.text ?? "");
  if (event.type === "agent.tool_use") console.log(`[tool] ${event.name}`);
}
const { subtype, usage } = await turn.result();
console.log(`\n[${subtype}] ${usage?.output_tokens ?? 0} tokens`);

await session.close();
await client.close();
