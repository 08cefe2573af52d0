// The door of the drivers for sessions of the daemon.
export { createFleetDriver } from "./fleet-driver.ts";
export { createSessionDriver, type SessionDriverOptions } from "./session-driver.ts";
