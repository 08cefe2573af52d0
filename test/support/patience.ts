// How long a test waits for something that must happen. Long, because the machine may be busy: only a failing test
// waits this long.

export const PATIENCE_MS = 45_000;

/** For `vi.waitFor`, whose own default of one second is too short on a busy machine. */
export const PATIENT = { timeout: PATIENCE_MS, interval: 20 };
