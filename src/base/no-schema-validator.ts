// Replaces the JSON Schema validator of the SDKs for the Model Context Protocol in the build (scripts/build.mjs): it is larger
// than the rest of them, and would compile schemas that a server chose. Servers check their own input; ours checks calls with
// the schemas of its tools, and a server's output is only read by the model.

export { default as process } from "node:process";
export const CORS_IS_POSSIBLE = false;

export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}
