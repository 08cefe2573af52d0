// demian in your own program: a tool, an agent that sees it, and a session. The scripted model needs no account; leave
// out `providers` to use the models of your configuration, and `isAlone` to get demian's own tools and agents.
//   npx tsx examples/embed-demian.ts
import { createRuntime, createScriptedProvider, createTool } from "blemees/demian";

const stock = createTool<{ item: string }>({
  name: "stock",
  description: "Looks up how many pieces of an item are in stock.",
  inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
  metadata: { sideEffect: "none" },
  execute: ({ item }) => `${item}: ${item === "bolts" ? 12 : 0} pieces`,
});

const provider = createScriptedProvider({
  reply: ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return { text: `The shelf says ${last.content}.` };
    return { text: "I look it up.", toolCalls: [{ name: "stock", input: { item: "bolts" } }] };
  },
});

const runtime = await createRuntime({
  cwd: process.cwd(),
  env: process.env,
  isAlone: true,
  flags: { defaultAgent: "clerk", defaultProvider: "script", transcript: { enabled: false } },
  providers: new Map([["script", { key: "script", type: "scripted", model: "script", provider }]]),
  tools: [stock],
  agents: [
    {
      name: "clerk",
      description: "Answers questions about the stock.",
      mode: "primary",
      prompt: { system: "You are a clerk. Look things up before you answer." },
      tools: { visible: ["stock"] },
      permissions: [],
    },
  ],
});
const session = await runtime.openSession({
  // Every call that no rule decides is asked about.
  ask: async ({ title }) => {
    console.log(`[asked] ${title}`);
    return { decision: "allow" };
  },
  onEvent: (event) => {
    if (event.type === "tool.completed") console.log(`[${event.name}] ${event.content}`);
  },
});
const { outcome, text } = await session.run({ text: "How many bolts are left?" });
console.log(`[${outcome}] ${text}`);
await runtime.close();
