// Replaces the SDK's JSON Schema validator in the build (scripts/build.mjs): it is larger than the rest of the client, and
// would compile schemas that a server chose. Servers check their own input; their output is only read by the model.

export const CORS_IS_POSSIBLE = false;

export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}
