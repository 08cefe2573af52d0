// Approval of a patch. The request has neither paths nor diff: they are in the item it names.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString, asText, defined } from "../../../base/values.ts";
import { formatChanges } from "../../../protocol/change-labels.ts";
import type { Choice, RequestPayload } from "../../../protocol/requests.ts";
import { cutTitle } from "../../request-title.ts";
import { isObjectEntry } from "../../values.ts";
import { readChanges } from "./item-tools.ts";
import { CANCEL, DECLINE, findItem } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

type Change = NonNullable<RequestPayload["changes"]>[number];

const TOOL_NAME = "apply_patch";
const FOR_SESSION: Choice = { decision: "acceptForSession", remembers: ["changes of these files"] };

export function askFileChange(state: CodexState, params: JsonObject): Asked {
  const changes = readChanges(findItem(state, params)).flatMap(toChange);
  return { request_type: "file_change", payload: toPayload(params, changes, DECLINE) };
}

/** `applyPatchApproval`, of clients of the first version. `decline`: how it can be declined. */
export function askLegacyFileChange(params: JsonObject, decline: Choice): Asked {
  const changes = Object.entries(asObject(params["fileChanges"])).filter(isObjectEntry).map(toLegacyChange);
  return { request_type: "file_change", payload: toPayload(params, changes, decline) };
}

function toPayload(params: JsonObject, changes: Change[], decline: Choice): RequestPayload {
  const root = asText(params["grantRoot"]);
  const what = formatChanges(changes);
  const session =
    root === undefined ? FOR_SESSION : { ...FOR_SESSION, remembers: [`writing anywhere under ${root}`] };
  // What cannot be shown cannot be allowed.
  const isShown = changes.length > 0 || root !== undefined;
  return {
    title: cutTitle(`${TOOL_NAME}: ${what || (root === undefined ? "unknown" : `write under ${root}`)}`),
    ...defined({ reason: asText(params["reason"]) }),
    ...(changes.length > 0 ? { changes } : {}),
    tool_name: TOOL_NAME,
    ...(root === undefined ? {} : { input: { grantRoot: root } }),
    choices: [...(isShown ? [{ decision: "accept" as const }, session] : []), decline, CANCEL],
  };
}

function toChange(change: JsonObject): Change[] {
  const path = asText(change["path"]);
  if (path === undefined) return [];
  const kind = asObject(change["kind"]);
  return [
    {
      path,
      kind: classifyChange(kind["type"]),
      ...defined({ diff: asString(change["diff"]), move_path: asText(kind["move_path"]) }),
    },
  ];
}

function toLegacyChange([path, change]: [string, JsonObject]): Change {
  return {
    path,
    kind: classifyChange(change["type"]),
    ...defined({
      diff: asString(change["unified_diff"]) ?? asString(change["content"]),
      move_path: asText(change["move_path"]),
    }),
  };
}

function classifyChange(type: unknown): Change["kind"] {
  return type === "add" || type === "delete" ? type : "update";
}
