import { expect, test } from "vitest";
import { formatCrash, formatTail } from "../../src/base/exit-message.ts";

test("a crash message keeps the end of stderr, where the reason is", () => {
  const tail = ["a warning ".repeat(400), "Error: the real reason"];
  const message = formatCrash({ code: 1 }, tail);
  expect(message).toMatch(/^stderr tail: ….* \| Error: the real reason$/);
  expect(message.length).toBeLessThan(2100);
});

test("a short one is complete, and without stderr the exit is the message", () => {
  expect(formatCrash({ code: 1 }, ["a", "b"])).toBe("stderr tail: a | b");
  expect(formatCrash({ code: 3 }, [])).toBe("exit 3");
  expect(formatCrash({ signal: "SIGKILL" }, [])).toBe("killed by SIGKILL");
});

test("the reason an agent did not start is bounded too, from the end", () => {
  expect(formatTail(["x".repeat(5000), "no such model"])).toMatch(/^…x+\nno such model$/);
  expect(formatTail([])).toBe("");
});
