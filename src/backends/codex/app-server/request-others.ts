// Requests for more rights, and questions of the model.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { Question } from "../../../protocol/requests.ts";
import { titleOf } from "../../request-title.ts";
import { objectOf, objectsOf, optional, stringOf, stringsOf, textOf, withoutNulls } from "../../values.ts";
import { DECLINE } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

/** `item/permissions/requestApproval`. Codex knows no "stop" here, so no `cancel`. */
export function askPermissions(_state: CodexState, params: JsonObject): Asked {
  const permissions = grantedOf(params);
  const isShown = Object.keys(permissions).length > 0;
  return {
    request_type: "permissions",
    payload: {
      title: titleOf(`more rights: ${wordsFor(permissions)}`),
      ...optional("reason", textOf(params["reason"])),
      ...optional("cwd", textOf(params["cwd"])),
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

/** What is granted is what was asked, no more. */
export function grantedOf(params: JsonObject): JsonObject {
  const { network, fileSystem } = objectOf(params["permissions"]);
  return withoutNulls({
    ...(isObject(network) ? { network } : {}),
    ...(isObject(fileSystem) ? { fileSystem } : {}),
  });
}

/** `item/tool/requestUserInput`. No answer at all is one that Codex takes. */
export function askUserInput(_state: CodexState, params: JsonObject): Asked {
  const questions = objectsOf(params["questions"]).flatMap(toQuestion);
  const details =
    typeof params["isBlocking"] === "boolean" ? { isBlocking: params["isBlocking"] } : undefined;
  return {
    request_type: "user_input",
    payload: {
      title: titleOf(questions.map(({ question }) => question).join(" · ") || "a question without words"),
      questions,
      choices: [...(questions.length > 0 ? [{ decision: "accept" as const }] : []), DECLINE],
      ...optional("details", details),
    },
  };
}

function toQuestion(value: JsonObject): Question[] {
  const id = stringOf(value["id"]);
  if (id === undefined) return [];
  const options = objectsOf(value["options"]).flatMap((option) => {
    const label = textOf(option["label"]);
    return label === undefined ? [] : [{ label, ...optional("description", textOf(option["description"])) }];
  });
  return [
    {
      id,
      question: textOf(value["question"]) ?? id,
      ...optional("header", textOf(value["header"])),
      ...(options.length > 0 ? { options } : {}),
      ...(value["isOther"] === true ? { allows_other: true } : {}),
      ...(value["isSecret"] === true ? { is_secret: true } : {}),
    },
  ];
}

function wordsFor({ network, fileSystem }: JsonObject): string {
  const { entries, read, write } = objectOf(fileSystem);
  const files = Array.isArray(entries)
    ? objectsOf(entries).map(
        ({ access, path }) => `${stringOf(access) ?? "access"} ${placeOf(objectOf(path))}`,
      )
    : [...stringsOf(write).map((path) => `write ${path}`), ...stringsOf(read).map((path) => `read ${path}`)];
  const words = [...(objectOf(network)["enabled"] === true ? ["network"] : []), ...files];
  return words.join(", ") || "see the request";
}

function placeOf(path: JsonObject): string {
  return textOf(path["path"]) ?? textOf(path["pattern"]) ?? JSON.stringify(path["value"] ?? "?");
}
