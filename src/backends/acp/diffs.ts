// File changes of a tool, from the diffs (whole old and new text) in the content of a tool call. Pure.

import { diffHunks, formatHunks } from "../../base/diff.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asText } from "../../base/values.ts";
import type { RequestPayload } from "../../protocol/requests.ts";

export type Change = NonNullable<RequestPayload["changes"]>[number];

/** `isWhole`: the tool writes whole files, so that previous content is replaced. */
export function findChanges(content: unknown, isWhole = false): Change[] {
  return asObjects(content).flatMap((entry) => {
    const path = asText(entry["path"]);
    if (entry["type"] !== "diff" || path === undefined) return [];
    const [before, after] = [asString(entry["oldText"]), asString(entry["newText"])];
    return [
      {
        path,
        kind: isWhole
          ? wholeKind(classifyChange(entry, before, after))
          : classifyChange(entry, before, after),
        diff: formatHunks(diffHunks(before ?? "", after ?? "")).join("\n"),
      },
    ];
  });
}

function classifyChange(
  entry: JsonObject,
  before: string | undefined,
  after: string | undefined,
): Change["kind"] {
  const reported = asObject(entry["_meta"])["kind"];
  if (reported === "add" || reported === "delete" || reported === "update" || reported === "overwrite")
    return reported;
  if (before === undefined) return "add";
  return after === undefined ? "delete" : "update";
}

function wholeKind(kind: Change["kind"]): Change["kind"] {
  return kind === "update" ? "overwrite" : kind;
}
