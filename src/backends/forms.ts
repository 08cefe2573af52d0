// The form of an elicitation (a JSON Schema of flat fields) ↔ questions and their answers.
import { isObject, type JsonObject } from "../base/json.ts";
import type { Question } from "../protocol/requests.ts";
import { isObjectEntry, objectOf, objectsOf, stringOf, stringsOf, textOf } from "./values.ts";

const FORM_MODES: ReadonlySet<unknown> = new Set(["form", "openai/form", "openaiForm"]);
const PLAIN: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

/** One value that may be chosen: how it is called, and what the server wants to hear. */
interface Option {
  label: string;
  value: unknown;
}

/** Undefined: not a form, or one with a field that must be filled in and that no question can ask for. */
export function formOf(params: JsonObject): { questions: Question[] } | undefined {
  if (!FORM_MODES.has(params["mode"]) || !isObject(params["requestedSchema"])) return undefined;
  const schema = params["requestedSchema"];
  const required = stringsOf(schema["required"]);
  const fields = fieldsOf(schema);
  const isComplete = required.every((name) => fields.some(([key]) => key === name));
  if (!isComplete) return undefined;
  return { questions: fields.map(([key, field]) => toQuestion(key, field, required.includes(key))) };
}

/** What the server gets. Fields without an answer are left out; what does not fit goes out as it is, to be refused there. */
export function fillForm(params: JsonObject, answers: Record<string, string | string[]>): JsonObject {
  const fields = fieldsOf(objectOf(params["requestedSchema"]));
  return Object.fromEntries(
    fields.flatMap(([key, field]) => {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      const value = answer === undefined ? undefined : toValue(field, answer);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function fieldsOf(schema: JsonObject): Array<[string, JsonObject]> {
  return Object.entries(objectOf(schema["properties"]))
    .filter(isObjectEntry)
    .filter(
      ([, field]) => PLAIN.has(field["type"]) || (field["type"] === "array" && optionsOf(field).length > 0),
    );
}

function toQuestion(key: string, field: JsonObject, isRequired: boolean): Question {
  const name = textOf(field["title"]) ?? key;
  const description = textOf(field["description"]);
  const question = description === undefined ? name : `${name}: ${description}`;
  const options = optionsOf(field).map(({ label }) => ({ label }));
  return {
    id: key,
    question: isRequired ? question : `${question} (optional)`,
    header: key,
    ...(options.length > 0 ? { options } : {}),
    ...(field["type"] === "array" ? { multi_select: true } : {}),
  };
}

function optionsOf(field: JsonObject): Option[] {
  if (field["type"] === "array") return optionsOf({ ...objectOf(field["items"]), type: "string" });
  if (field["type"] === "boolean") return [true, false].map((value) => ({ label: String(value), value }));
  const named = objectsOf(field["oneOf"] ?? field["anyOf"]).flatMap((option) => {
    const value = stringOf(option["const"]);
    return value === undefined ? [] : [{ label: textOf(option["title"]) ?? value, value }];
  });
  const names = stringsOf(field["enumNames"]);
  return [...named, ...stringsOf(field["enum"]).map((value, at) => ({ label: names[at] ?? value, value }))];
}

function toValue(field: JsonObject, answer: string | string[]): unknown {
  const chosen = (Array.isArray(answer) ? answer : [answer]).map((text) => choose(field, text));
  if (field["type"] === "array") return chosen;
  const [value] = chosen;
  const isNumber = field["type"] === "number" || field["type"] === "integer";
  if (!isNumber || typeof value !== "string" || value.trim() === "") return value;
  return Number.isFinite(Number(value)) ? Number(value) : value;
}

function choose(field: JsonObject, text: string): unknown {
  const option = optionsOf(field).find(({ label }) => label === text);
  return option === undefined ? text : option.value;
}
