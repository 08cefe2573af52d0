// The OpenAPI document describes the server: every route and every shape, without dangling references.
import { expect, test } from "vitest";
import { createOpenApi } from "../../../src/servers/http/openapi.ts";
import { ROUTES } from "../../../src/servers/http/routes/index.ts";

const document = createOpenApi(ROUTES);

test("every row is an operation with a name of its own", () => {
  const names = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(names).toEqual(expect.arrayContaining(ROUTES.map(({ name }) => name)));
  expect(new Set(names).size).toBe(ROUTES.length);
});

test("every reference leads to a shape, and every shape is used or refused with", () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(refs.filter((ref) => !known.includes(ref ?? ""))).toEqual([]);
  expect(known.filter((name) => !refs.includes(name))).toEqual([]);
  expect(refs).toContain("#/components/schemas/SessionView");
});

test("numbers are numbers, lists are texts, and what is optional is said to be", () => {
  const parameters = document.paths["/sessions"]?.["get"]?.parameters ?? [];
  const by = (name: string) => parameters.find((one) => one.name === name);
  expect(by("limit")).toMatchObject({ required: false, schema: { type: "integer", minimum: 1 } });
  expect(by("state")).toMatchObject({ required: false, schema: { type: "string" } });
  expect(by("live")).toMatchObject({ schema: { enum: expect.arrayContaining(["true", "false"]) } });
  const [id] = document.paths["/sessions/{id}"]?.["get"]?.parameters ?? [];
  expect(id).toMatchObject({ name: "id", in: "path", required: true });
});

test("an answer may carry what was shown, in both forms", () => {
  const text = JSON.stringify(document.components.schemas["RespondBody"]);
  expect(text.match(/shown_hash/g)).toHaveLength(2);
});
