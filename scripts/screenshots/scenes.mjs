// What is played on the stage: sessions of an afternoon in a web shop, and what their agent does on each message.

/**
 * @typedef {object} Step one of think, say and tool
 * @property {string} [think]
 * @property {string} [say]
 * @property {string} [tool]
 * @property {object} [input]
 * @property {string} [output]
 * @property {boolean} [isBad]
 * @property {{ rule?: string }} [asks] it waits for an answer first
 * @property {boolean} [hangs] and nothing more: it works on
 * @property {number} [seconds] on the clock of the stage
 */
/**
 * @typedef {object} Turn
 * @property {Step[]} steps
 * @property {[number, number]} [tokens] in, out
 * @property {number} [usd]
 */
/**
 * @typedef {object} Scene
 * @property {string} name
 * @property {string} [backend]
 * @property {string} [parent] its name
 * @property {string} text
 * @property {number} [after] minutes on the clock before it
 * @property {"accept" | "decline"} [answer] what a person says after `waits` seconds
 * @property {number} [waits]
 * @property {"idle" | "asks" | "works"} [until] what is waited for; "idle" unless said
 */

const TEST_CODE = `test("a discount never makes the total negative", () => {
  const cart = cartOf({ price: 5, discount: 20 });
  expect(total(cart)).toBe(0);
});`;
const FIX = {
  file_path: "src/cart/total.ts",
  old_string: "  return sum(cart.items) - cart.discount;",
  new_string: "  return Math.max(0, sum(cart.items) - cart.discount);",
};

/** By the message that the agent gets. @type {Readonly<Record<string, Turn>>} */
export const TURNS = {
  "Update the dependencies": {
    steps: [
      { say: "I look at what is outdated.", seconds: 3 },
      {
        tool: "Bash",
        input: { command: "npm outdated" },
        output: "vite  6.0.1  7.1.0\nzod  3.25.1  4.1.5",
        seconds: 6,
      },
      {
        tool: "Edit",
        input: { file_path: "package.json", old_string: '"zod": "^3"', new_string: '"zod": "^4"' },
        output: "ok",
        seconds: 1,
      },
      {
        tool: "Bash",
        input: { command: "npm install" },
        output: "added 4, changed 31 packages",
        seconds: 48,
      },
      {
        tool: "Bash",
        input: { command: "npm test" },
        output: "1 failed, 211 passed",
        isBad: true,
        seconds: 64,
      },
      {
        tool: "Grep",
        input: { pattern: "z\\.string\\(\\)\\.email" },
        output: "src/account/form.ts:12",
        seconds: 1,
      },
      { tool: "Bash", input: { command: "npm test" }, output: "212 passed", seconds: 61 },
      { say: "Both are updated; all 212 tests pass.", seconds: 4 },
    ],
    tokens: [48_200, 3_900],
    usd: 0.41,
  },
  "Why is the search slow?": {
    steps: [
      { think: "The query has no index on lower(title).", seconds: 9 },
      { tool: "Grep", input: { pattern: "lower\\(title\\)" }, output: "src/search/query.ts:31", seconds: 1 },
      { tool: "Read", input: { file_path: "src/search/query.ts" }, output: "…", seconds: 1 },
      {
        tool: "Bash",
        input: { command: "psql -c 'explain analyze …'" },
        output: "Seq Scan on products, 812 ms",
        seconds: 4,
      },
      { say: "It reads the whole table: `lower(title)` has no index.", seconds: 5 },
    ],
    tokens: [31_000, 2_100],
    usd: 0.22,
  },
  "Add the index": {
    steps: [
      {
        tool: "Write",
        input: { file_path: "migrations/042_title.sql", content: "create index …" },
        output: "ok",
        seconds: 1,
      },
      {
        tool: "Bash",
        input: { command: "npm run migrate" },
        asks: {},
        output: "042_title: done",
        seconds: 12,
      },
      { say: "The index is there: 812 ms became 3 ms.", seconds: 4 },
    ],
    tokens: [35_400, 1_700],
    usd: 0.19,
  },
  "Write the notes of the release": {
    steps: [
      { tool: "Bash", input: { command: "git log --oneline v2.3..HEAD" }, output: "42 commits", seconds: 1 },
      { think: "Most of them are about the search and the cart.", seconds: 340 },
      {
        tool: "Write",
        input: { file_path: "CHANGELOG.md", content: "## 2.4 …" },
        output: "ok",
        seconds: 2,
      },
      { say: "The notes of 2.4 are in `CHANGELOG.md`.", seconds: 160 },
    ],
    tokens: [41_900, 6_200],
    usd: 0.36,
  },
  "Shorter, please": {
    steps: [
      {
        tool: "Edit",
        input: { file_path: "CHANGELOG.md", old_string: "a", new_string: "b" },
        output: "ok",
        seconds: 1,
      },
      { say: "Half as long now.", seconds: 95 },
    ],
    tokens: [12_300, 1_400],
    usd: 0.09,
  },
  "Make the pictures smaller": {
    steps: [
      { tool: "Glob", input: { pattern: "public/**/*.png" }, output: "61 files", seconds: 1 },
      {
        tool: "Bash",
        input: { command: "npx sharp-cli -i public/*.png -o public" },
        asks: {},
        output: "61 files, 38 MB → 6 MB",
        seconds: 412,
      },
      { tool: "WebFetch", input: { url: "http://localhost:3000" }, output: "200", seconds: 7 },
      { say: "38 MB became 6 MB.", seconds: 5 },
    ],
    tokens: [22_800, 1_100],
    usd: 0.13,
  },
  "Bring the checkout to the new cart": {
    steps: [
      { think: "Three parts: the cart, its documents, the flaky test.", seconds: 11 },
      { tool: "Read", input: { file_path: "src/checkout/page.ts" }, output: "…", seconds: 1 },
      { tool: "Grep", input: { pattern: "oldCart" }, output: "14 matches in 6 files", seconds: 2 },
      { say: "Three sessions work on it: the totals, the documents, and the flaky test.", seconds: 6 },
    ],
    tokens: [62_700, 4_800],
    usd: 0.57,
  },
  "Make the totals right": {
    steps: [
      { think: "A discount that is higher than the price gives a negative total.", seconds: 8 },
      {
        say: `The total can become **negative** when a discount is higher than the price. A test that shows it:\n\n\`\`\`ts\n${TEST_CODE}\n\`\`\``,
        seconds: 7,
      },
      {
        tool: "Read",
        input: { file_path: "src/cart/total.ts" },
        output: "export function total(cart: Cart): number {\n  return sum(cart.items) - cart.discount;\n}",
        seconds: 1,
      },
      { tool: "Edit", input: FIX, output: "The file has been updated.", seconds: 1 },
      { say: "Now the tests of the cart, to be sure.", seconds: 2 },
      {
        tool: "Bash",
        input: { command: "npm test -- src/cart", description: "Run the tests of the cart" },
        asks: { rule: "npm test:*" },
        output: "14 passed",
        seconds: 9,
      },
    ],
    tokens: [28_300, 2_600],
    usd: 0.24,
  },
  "Bring the documents up to date": {
    steps: [
      {
        tool: "Glob",
        input: { pattern: "docs/**/*.md" },
        output: "docs/cart.md\ndocs/checkout.md",
        seconds: 1,
      },
      { tool: "Read", input: { file_path: "docs/cart.md" }, output: "…", seconds: 1 },
      {
        tool: "AskUserQuestion",
        input: {
          questions: [
            {
              question: "The old cart is still named in docs/cart.md. What should happen to it?",
              header: "Old cart",
              options: [
                { label: "Remove it", description: "It is gone from the code too." },
                { label: "Keep it as history", description: "In a section at the end." },
              ],
              multiSelect: false,
            },
          ],
        },
        asks: {},
      },
    ],
  },
  "Find why the payment test is flaky": {
    steps: [
      {
        tool: "Bash",
        input: { command: "npm test -- payment --repeat 20" },
        output: "18 passed, 2 failed",
        isBad: true,
        seconds: 71,
      },
      { tool: "Read", input: { file_path: "test/payment.test.ts" }, output: "…", seconds: 1 },
      { say: "Two of twenty runs fail: the test waits for a fixed 50 ms. I run it", hangs: true },
    ],
  },
};

/** In the order in which they are played. @type {readonly Scene[]} */
export const SCENES = [
  { name: "dependencies", text: "Update the dependencies" },
  { name: "search", text: "Why is the search slow?", after: 52 },
  { name: "search", text: "Add the index", after: 24, answer: "accept", waits: 1_260 },
  { name: "tour", backend: "demo", text: "approve", after: 71, answer: "accept", waits: 610 },
  { name: "release", text: "Write the notes of the release", after: 38 },
  { name: "release", text: "Shorter, please", after: 49 },
  { name: "images", text: "Make the pictures smaller", after: 44, answer: "accept", waits: 900 },
  { name: "checkout", text: "Bring the checkout to the new cart", after: 58 },
  {
    name: "flaky-test",
    parent: "checkout",
    text: "Find why the payment test is flaky",
    after: 2,
    until: "works",
  },
  { name: "totals", parent: "checkout", text: "Make the totals right", after: 1, until: "asks" },
  { name: "documents", parent: "checkout", text: "Bring the documents up to date", after: 1, until: "asks" },
];
