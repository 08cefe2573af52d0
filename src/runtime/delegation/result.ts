// The result for the calling agent: the sub-agent's report within the limit, and where to find all of it.
import { toMessage } from "../../base/coded-error.ts";
import { capText } from "../context/cut-text.ts";
import { estimateText } from "../context/estimate.ts";
import { formatReference } from "../context/ledger.ts";
import type { AgentInvocationInput } from "./types.ts";

export interface ResultOrder {
  answer: string;
  returnMode?: AgentInvocationInput["returnMode"];
  /** Limit of the whole result, including the reference. */
  maxTokens: number;
  refs: {
    invocationId: string;
    /** Relative to the workspace; undefined: no transcript. */
    transcriptPath?: string | undefined;
  };
  /** Saves the whole answer if it is cut; returns the file name. */
  keep(whole: string): Promise<string>;
}

/** Share of `maxTokens` for "brief". */
const BRIEF_RATIO = 0.4;
const NO_ANSWER = "The sub-agent gave no report.";

export async function compactResult(order: ResultOrder): Promise<string> {
  const { maxTokens, returnMode, refs } = order;
  const answer = order.answer.trim() === "" ? NO_ANSWER : order.answer.trim();
  const most = returnMode === "brief" ? Math.max(1, Math.floor(maxTokens * BRIEF_RATIO)) : maxTokens;
  const place = refs.transcriptPath === undefined ? "" : ` in ${refs.transcriptPath}`;
  const reference = `invocation ${refs.invocationId}${place}`;
  const whole = appendReference(answer, reference);
  if (estimateText(whole) <= most) return whole;
  const cut = `${reference}; ${await saveReport(order, answer)}`;
  const room = most - estimateText(appendReference("", cut)) - 1;
  // With this little room the report matters more than the reference.
  return room > most / 3 ? appendReference(capText(answer, room), cut) : capText(answer, most);
}

function appendReference(text: string, reference: string): string {
  return `${text}\n\n${formatReference(reference)}`;
}

async function saveReport({ keep }: ResultOrder, answer: string): Promise<string> {
  try {
    return `the full report is in ${await keep(answer)}`;
  } catch (error) {
    return `the full report could not be saved: ${toMessage(error)}`;
  }
}
