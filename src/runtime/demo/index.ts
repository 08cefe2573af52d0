// The demo: demian with a script instead of a model. It needs no account, and shows a streamed answer, a tool call, an
// approval, a question, an interrupt and a resume.
import type { AgentDefinition } from "../agents/types.ts";
import { createScriptedProvider } from "../providers/scripted/index.ts";
import type { ChatRequest, ResolvedProvider } from "../providers/types.ts";
import type { RuntimeOrder } from "../session-types.ts";
import { performScene } from "./scenes.ts";
import { CLOCK, createDemoTools, QUESTION, SHELL } from "./tools.ts";

export const DEMO = "demo";
/** A suffix such as `@20ms` sets the delay between words. */
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
    { tool: SHELL, decision: "ask", reason: "This is a demo: nothing is run, whatever you decide." },
  ],
};

/** Turns a runtime into the demo, whatever is configured. It writes nothing to the workspace. */
export function asDemo(order: RuntimeOrder): RuntimeOrder {
  const provider = createScriptedProvider({
    reply: (request) => ({ paceMs: readPace(request), ...performScene(request.messages) }),
  });
  const resolved: ResolvedProvider = { key: DEMO, type: provider.id, model: DEMO_MODEL, provider };
  return {
    ...order,
    agents: [AGENT],
    tools: createDemoTools(),
    providers: new Map([[DEMO, resolved]]),
    // The sandbox is off, so no other agent, tool or model may be chosen.
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

function readPace({ model }: ChatRequest): number {
  const pace = /@(\d{1,5})ms$/.exec(model)?.[1];
  return pace === undefined ? PACE_MS : Number(pace);
}
