// What goes back to the agent that delegated: the report of the sub-agent, not longer than wanted, and where the whole is.
import { messageOf } from "../../base/coded-error.ts";
import { capText } from "../context/cut-text.ts";
import { estimateText } from "../context/estimate.ts";
import { referenceLine } from "../context/ledger.ts";
import type { AgentInvocationInput } from "./types.ts";

export interface ResultOrder {
  answer: string;
  returnMode?: AgentInvocationInput["returnMode"];
  /** Of everything, the reference too. */
  maxTokens: number;
  refs: {
    invocationId: string;
    /** Relative to the workspace; undefined: nothing is recorded. */
    transcriptPath?: string | undefined;
  };
  /** Keeps the whole answer when it is cut; gives back how to name the file. */
  keep(whole: string): Promise<string>;
}

/** Of `maxTokens`, with "brief". */
const BRIEF_RATIO = 0.4;
const NO_ANSWER = "The sub-agent gave no report.";

export async function compactResult(order: ResultOrder): Promise<string> {
  const { maxTokens, returnMode, refs } = order;
  const answer = order.answer.trim() === "" ? NO_ANSWER : order.answer.trim();
  const most = returnMode === "brief" ? Math.max(1, Math.floor(maxTokens * BRIEF_RATIO)) : maxTokens;
  const place = refs.transcriptPath === undefined ? "" : ` in ${refs.transcriptPath}`;
  const reference = `invocation ${refs.invocationId}${place}`;
  const whole = withReference(answer, reference);
  if (estimateText(whole) <= most) return whole;
  const cut = `${reference}; ${await kept(order, answer)}`;
  const room = most - estimateText(withReference("", cut)) - 1;
  // With so little room the report itself is worth more than where to find it.
  return room > most / 3 ? withReference(capText(answer, room), cut) : capText(answer, most);
}

function withReference(text: string, reference: string): string {
  return `${text}\n\n${referenceLine(reference)}`;
}

async function kept({ keep }: ResultOrder, answer: string): Promise<string> {
  try {
    return `the whole report is in ${await keep(answer)}`;
  } catch (error) {
    return `the whole report could not be kept: ${messageOf(error)}`;
  }
}
