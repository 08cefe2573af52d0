// The form of an elicitation (a JSON Schema of flat fields) ↔ questions and their answers.

import { isObject, type JsonObject } from "../base/json.ts";
import { asObject, asObjects, asString, asStrings, asText } from "../base/values.ts";
import type { Question } from "../protocol/requests.ts";
import { isObjectEntry } from "./values.ts";

const FORM_MODES: ReadonlySet<unknown> = new Set(["form", "openai/form", "openaiForm"]);
const PLAIN: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

/** One possible value: its label, and what the server expects. */
interface Option {
  label: string;
  value: unknown;
}

/** Undefined: not a form, or a required field cannot be asked as a question. */
export function readForm(params: JsonObject): { questions: Question[] } | undefined {
  if (!FORM_MODES.has(params["mode"]) || !isObject(params["requestedSchema"])) return undefined;
  const schema = params["requestedSchema"];
  const required = asStrings(schema["required"]);
  const fields = readFields(schema);
  const isComplete = required.every((name) => fields.some(([key]) => key === name));
  if (!isComplete) return undefined;
  return { questions: fields.map(([key, field]) => toQuestion(key, field, required.includes(key))) };
}

/** The reply to the server. Fields without an answer are omitted; invalid values are passed on, to be refused there. */
export function fillForm(params: JsonObject, answers: Record<string, string | string[]>): JsonObject {
  const fields = readFields(asObject(params["requestedSchema"]));
  return Object.fromEntries(
    fields.flatMap(([key, field]) => {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      const value = answer === undefined ? undefined : toValue(field, answer);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function readFields(schema: JsonObject): Array<[string, JsonObject]> {
  return Object.entries(asObject(schema["properties"]))
    .filter(isObjectEntry)
    .filter(
      ([, field]) => PLAIN.has(field["type"]) || (field["type"] === "array" && readOptions(field).length > 0),
    );
}

function toQuestion(key: string, field: JsonObject, isRequired: boolean): Question {
  const name = asText(field["title"]) ?? key;
  const description = asText(field["description"]);
  const question = description === undefined ? name : `${name}: ${description}`;
  const options = readOptions(field).map(({ label }) => ({ label }));
  return {
    id: key,
    question: isRequired ? question : `${question} (optional)`,
    header: key,
    ...(options.length > 0 ? { options } : {}),
    ...(field["type"] === "array" ? { multi_select: true } : {}),
  };
}

function readOptions(field: JsonObject): Option[] {
  if (field["type"] === "array") return readOptions({ ...asObject(field["items"]), type: "string" });
  if (field["type"] === "boolean") return [true, false].map((value) => ({ label: String(value), value }));
  const named = asObjects(field["oneOf"] ?? field["anyOf"]).flatMap((option) => {
    const value = asString(option["const"]);
    return value === undefined ? [] : [{ label: asText(option["title"]) ?? value, value }];
  });
  const names = asStrings(field["enumNames"]);
  return [...named, ...asStrings(field["enum"]).map((value, at) => ({ label: names[at] ?? value, value }))];
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
  const option = readOptions(field).find(({ label }) => label === text);
  return option === undefined ? text : option.value;
}
