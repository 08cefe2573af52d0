// What the programs that tests start inherit besides the environment of the tests.

/**
 * With extra certificates, Node 20 reads and parses all certificates at every start, which takes longer than the rest of
 * the start. Tests talk to loopback only.
 */
export const CHILD_ENV = { NODE_EXTRA_CA_CERTS: "" };
