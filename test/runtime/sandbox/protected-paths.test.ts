// Where links with the names of environment files lead, and what is masked of it.
import { realpathSync } from "node:fs";
import { expect, test } from "vitest";
import { findProtected } from "../../../src/runtime/sandbox/protected-paths.ts";
import { type Finds, Tree } from "../../../src/runtime/sandbox/tree.ts";

const PROGRAM = realpathSync("/usr/bin/env");

/** A tree in which this was found. */
class Found extends Tree {
  override async search(): Promise<Finds> {
    return { secrets: [PROGRAM], gits: [] };
  }
}

test.each([
  ["/usr", [PROGRAM]],
  ["/var/tmp", []],
])("in the workspace %s, what is masked of /usr is what lies in it", async (root, masked) => {
  expect((await findProtected(new Found(root), false)).maskedFiles).toEqual(masked);
});
