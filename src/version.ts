// The version of the package, set by the build (scripts/build.mjs).
declare const BLEMEES_VERSION: string | undefined;

export const VERSION: string = typeof BLEMEES_VERSION === "string" ? BLEMEES_VERSION : "0.0.0-source";
