// Public entry of the daemon drivers.
export { createFleetDriver } from "./fleet-driver.ts";
export { createSessionDriver, type SessionDriverOptions } from "./session-driver.ts";
