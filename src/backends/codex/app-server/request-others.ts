// Requests for more permissions, and questions of the model.

import { isObject, type JsonObject } from "../../../base/json.ts";
import {
  asObject,
  asObjects,
  asString,
  asStrings,
  asText,
  defined,
  omitNulls,
} from "../../../base/values.ts";
import type { Question } from "../../../protocol/requests.ts";
import { cutTitle } from "../../request-title.ts";
import { DECLINE } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

/** `item/permissions/requestApproval`. Codex has no "stop" here, so no `cancel`. */
export function askPermissions(_state: CodexState, params: JsonObject): Asked {
  const permissions = readGranted(params);
  const isShown = Object.keys(permissions).length > 0;
  return {
    request_type: "permissions",
    payload: {
      title: cutTitle(`more permissions: ${wordsFor(permissions)}`),
      ...defined({ reason: asText(params["reason"]), cwd: asText(params["cwd"]) }),
      input: permissions,
      choices: [
        ...(isShown
          ? [
              { decision: "accept" as const, remembers: ["until the turn ends"] },
              { decision: "acceptForSession" as const, remembers: ["until the session ends"] },
            ]
          : []),
        DECLINE,
      ],
    },
  };
}

/** Exactly what was asked is granted. */
export function readGranted(params: JsonObject): JsonObject {
  const { network, fileSystem } = asObject(params["permissions"]);
  return omitNulls({
    ...(isObject(network) ? { network } : {}),
    ...(isObject(fileSystem) ? { fileSystem } : {}),
  });
}

/** `item/tool/requestUserInput`. Codex accepts an empty answer. */
export function askUserInput(_state: CodexState, params: JsonObject): Asked {
  const questions = asObjects(params["questions"]).flatMap(toQuestion);
  const details =
    typeof params["isBlocking"] === "boolean" ? { isBlocking: params["isBlocking"] } : undefined;
  return {
    request_type: "user_input",
    payload: {
      title: cutTitle(questions.map(({ question }) => question).join(" · ") || "a question without text"),
      questions,
      choices: [...(questions.length > 0 ? [{ decision: "accept" as const }] : []), DECLINE],
      ...defined({ details }),
    },
  };
}

function toQuestion(value: JsonObject): Question[] {
  const id = asString(value["id"]);
  if (id === undefined) return [];
  const options = asObjects(value["options"]).flatMap((option) => {
    const label = asText(option["label"]);
    return label === undefined ? [] : [{ label, ...defined({ description: asText(option["description"]) }) }];
  });
  return [
    {
      id,
      question: asText(value["question"]) ?? id,
      ...defined({ header: asText(value["header"]) }),
      ...(options.length > 0 ? { options } : {}),
      ...(value["isOther"] === true ? { allows_other: true } : {}),
      ...(value["isSecret"] === true ? { is_secret: true } : {}),
    },
  ];
}

function wordsFor({ network, fileSystem }: JsonObject): string {
  const { entries, read, write } = asObject(fileSystem);
  const files = Array.isArray(entries)
    ? asObjects(entries).map(
        ({ access, path }) => `${asString(access) ?? "access"} ${describePath(asObject(path))}`,
      )
    : [...asStrings(write).map((path) => `write ${path}`), ...asStrings(read).map((path) => `read ${path}`)];
  const words = [...(asObject(network)["enabled"] === true ? ["network"] : []), ...files];
  return words.join(", ") || "see the request";
}

function describePath(path: JsonObject): string {
  return asText(path["path"]) ?? asText(path["pattern"]) ?? JSON.stringify(path["value"] ?? "?");
}
