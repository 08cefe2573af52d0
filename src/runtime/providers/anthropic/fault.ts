// Errors of the SDK as our own. It is asked for what it knows by shape, so that an injected client can fail the same way.
import { isObject } from "../../../base/json.ts";
import { answerFailure, findProviderError, type Place, transportError, vendorFailure } from "../failure.ts";
import { ProviderError } from "../types.ts";
import { findVendorError } from "../vendor-error.ts";

export function anthropicError(place: Place, error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted || findProviderError(error) !== undefined || !isObject(error)) {
    return transportError(place, error, signal);
  }
  const body = error["error"];
  const { status, headers } = error;
  if (typeof status === "number") {
    const text = body === undefined ? String(error["message"] ?? "") : (JSON.stringify(body) ?? "");
    const known = headers instanceof Headers ? headers : new Headers();
    return new ProviderError(answerFailure(place, { status, headers: known, text }), error);
  }
  // An error event in the middle of a stream has no status.
  const vendor = findVendorError(body);
  if (vendor !== undefined) return new ProviderError(vendorFailure(place, vendor), error);
  return transportError(place, error, signal);
}
