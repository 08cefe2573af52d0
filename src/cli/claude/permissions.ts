// A request of the ledger as the `can_use_tool` request that claude sent, and the program's answer as one of the ledger.
// Pure.
import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asStrings, defined } from "../../base/values.ts";
import type { Answer, RequestRow } from "../../client/index.ts";

/** Undefined if it is not a tool's: limits of the daemon are for a person. */
export function toToolRequest({ payload, item_id }: RequestRow): JsonObject | undefined {
  const { tool_name, input, details } = payload;
  if (tool_name === undefined) return undefined;
  return {
    subtype: "can_use_tool",
    tool_name,
    input: input ?? {},
    ...details,
    ...defined({ tool_use_id: item_id }),
  };
}

/** `note`: what of the program's answer has no choice here. Undefined: it is no answer. */
export function readToolAnswer(
  row: RequestRow,
  response: JsonObject,
): { answer: Answer; note?: string } | undefined {
  const { behavior, message, interrupt } = response;
  if (behavior === "deny") {
    const text = asString(message);
    const decision = interrupt === true ? "cancel" : "decline";
    return { answer: { decision, ...(text !== undefined && text !== "" && { message: text }) } };
  }
  if (behavior !== "allow") return undefined;
  const updated = response["updatedInput"];
  if (row.payload.questions !== undefined) return { answer: { answers: readAnswers(row, updated) } };
  const updates = asObjects(response["updatedPermissions"]);
  const choice = updates.length === 0 ? undefined : findChoice(row, updates);
  const isChanged =
    updated !== undefined && JSON.stringify(updated) !== JSON.stringify(row.payload.input ?? {});
  const answer: Answer = {
    decision: "accept",
    ...choice,
    ...(isChanged && { updated_input: asObject(updated) }),
  };
  if (updates.length === 0 || choice !== undefined) return { answer };
  return {
    answer,
    note: `request ${row.request_id}: this call is allowed, but updatedPermissions fit none of its choices`,
  };
}

/** The only choice that keeps the permission for as long. */
function findChoice(
  { payload }: RequestRow,
  updates: readonly JsonObject[],
): { decision: "acceptForSession" | "acceptAlways"; option?: string } | undefined {
  const isForSession = updates.every(({ destination }) => destination === "session");
  const decision = isForSession ? "acceptForSession" : "acceptAlways";
  const [only, ...others] = payload.choices.filter((choice) => choice.decision === decision);
  if (only === undefined || others.length > 0) return undefined;
  return { decision, ...defined({ option: only.option }) };
}

/** The program puts answers into the tool's input, by the text of the question. */
function readAnswers({ payload }: RequestRow, updated: unknown): Record<string, string | string[]> {
  const given = asObject(asObject(updated)["answers"]);
  return Object.fromEntries(
    (payload.questions ?? []).map(({ id, question }) => {
      const value = given[question] ?? given[id];
      return [id, Array.isArray(value) ? asStrings(value) : (asString(value) ?? "")];
    }),
  );
}
