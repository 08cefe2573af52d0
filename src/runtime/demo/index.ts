// The demo: demian with a script instead of a model. It needs no account and says so, and lets a newcomer see a streamed
// answer, a tool call, an approval, a question, an interrupt and a resume.
import type { AgentDefinition } from "../agents/types.ts";
import { createScriptedProvider } from "../providers/scripted/index.ts";
import type { ChatRequest, ResolvedProvider } from "../providers/types.ts";
import type { RuntimeOrder } from "../session-types.ts";
import { performScene } from "./scenes.ts";
import { CLOCK, demoTools, QUESTION, SHELL } from "./tools.ts";

export const DEMO = "demo";
/** With `@20ms` behind it: so long between two words. */
const DEMO_MODEL = "demo-scripted";
const PACE_MS = 20;

const AGENT: AgentDefinition = {
  name: DEMO,
  description: "A script, not a language model.",
  mode: "primary",
  prompt: { system: "You are the demo agent." },
  tools: { visible: [CLOCK, SHELL, QUESTION] },
  permissions: [
    { tool: CLOCK, decision: "allow" },
    { tool: QUESTION, decision: "allow" },
    { tool: SHELL, decision: "ask", reason: "This is a demo: whatever you decide, nothing is run." },
  ],
};

/** Makes a runtime the demo, whatever is configured. It leaves nothing behind in the workspace. */
export function asDemo(order: RuntimeOrder): RuntimeOrder {
  const provider = createScriptedProvider({
    reply: (request) => ({ paceMs: paceOf(request), ...performScene(request.messages) }),
  });
  const resolved: ResolvedProvider = { key: DEMO, type: provider.id, model: DEMO_MODEL, provider };
  return {
    ...order,
    agents: [AGENT],
    tools: demoTools(),
    providers: new Map([[DEMO, resolved]]),
    // Without a sandbox there must be no other agent, tool or model to choose.
    isAlone: true,
    flags: {
      ...order.flags,
      defaultAgent: DEMO,
      defaultProvider: DEMO,
      sandbox: { mode: "off" },
      transcript: { enabled: false },
      persistentGrants: { enabled: false },
    },
  };
}

function paceOf({ model }: ChatRequest): number {
  const said = /@(\d{1,5})ms$/.exec(model)?.[1];
  return said === undefined ? PACE_MS : Number(said);
}
