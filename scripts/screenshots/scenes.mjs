// The scripted sessions in the pictures, and what their agent does for each message.

/**
 * @typedef {object} Step one of think, say and tool
 * @property {string} [think]
 * @property {string} [say]
 * @property {string} [tool]
 * @property {object} [input]
 * @property {string} [output]
 * @property {boolean} [isBad]
 * @property {{ rule?: string }} [asks] waits for an answer first
 * @property {boolean} [hangs] keeps running
 * @property {number} [seconds] on the simulated clock
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
 * @property {number} [after] minutes before it on the simulated clock
 * @property {"accept" | "decline"} [answer] the answer after `waits` seconds
 * @property {number} [waits]
 * @property {"idle" | "asks" | "works"} [until] default "idle"
 */

const TEST_CODE = `test("a discount never makes the total negative", () => {
  const cart = createCart({ price: 5, discount: 20 });
  expect(total(cart)).toBe(0);
});`;
const FIX = {
  file_path: "src/cart/total.ts",
  old_string: "  return sum(cart.items) - cart.discount;",
  new_string: "  return Math.max(0, sum(cart.items) - cart.discount);",
};

/** By message. @type {Readonly<Record<string, Turn>>} */
export const TURNS = {
  "Update the dependencies": {
    steps: [
      { say: "Checking for outdated packages.", seconds: 3 },
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
      { say: "Updated both; all 212 tests pass.", seconds: 4 },
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
      { say: "It scans the whole table because `lower(title)` has no index.", seconds: 5 },
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
      { say: "Added the index: 812 ms is now 3 ms.", seconds: 4 },
    ],
    tokens: [35_400, 1_700],
    usd: 0.19,
  },
  "Write the release notes": {
    steps: [
      { tool: "Bash", input: { command: "git log --oneline v2.3..HEAD" }, output: "42 commits", seconds: 1 },
      { think: "Most commits are about search and the cart.", seconds: 340 },
      {
        tool: "Write",
        input: { file_path: "CHANGELOG.md", content: "## 2.4 …" },
        output: "ok",
        seconds: 2,
      },
      { say: "The 2.4 release notes are in `CHANGELOG.md`.", seconds: 160 },
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
  "Compress the images": {
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
      { say: "Reduced 38 MB to 6 MB.", seconds: 5 },
    ],
    tokens: [22_800, 1_100],
    usd: 0.13,
  },
  "Migrate checkout to the new cart": {
    steps: [
      { think: "Three parts: the cart, its docs, the flaky test.", seconds: 11 },
      { tool: "Read", input: { file_path: "src/checkout/page.ts" }, output: "…", seconds: 1 },
      { tool: "Grep", input: { pattern: "oldCart" }, output: "14 matches in 6 files", seconds: 2 },
      { say: "I started three sessions: the totals, the docs and the flaky test.", seconds: 6 },
    ],
    tokens: [62_700, 4_800],
    usd: 0.57,
  },
  "Fix the cart totals": {
    steps: [
      { think: "A discount larger than the price makes the total negative.", seconds: 8 },
      {
        say: `The total goes **negative** when a discount exceeds the price. A failing test:\n\n\`\`\`ts\n${TEST_CODE}\n\`\`\``,
        seconds: 7,
      },
      {
        tool: "Read",
        input: { file_path: "src/cart/total.ts" },
        output: "export function total(cart: Cart): number {\n  return sum(cart.items) - cart.discount;\n}",
        seconds: 1,
      },
      { tool: "Edit", input: FIX, output: "The file has been updated.", seconds: 1 },
      { say: "Running the cart tests to confirm.", seconds: 2 },
      {
        tool: "Bash",
        input: { command: "npm test -- src/cart", description: "Run the cart tests" },
        asks: { rule: "npm test:*" },
        output: "14 passed",
        seconds: 9,
      },
    ],
    tokens: [28_300, 2_600],
    usd: 0.24,
  },
  "Update the docs": {
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
              question: "docs/cart.md still mentions the old cart. What should I do with it?",
              header: "Old cart",
              options: [
                { label: "Remove it", description: "It no longer exists in the code." },
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
      { say: "2 of 20 runs fail: the test waits a fixed 50 ms. Rerunning it", hangs: true },
    ],
  },
};

/** In order. @type {readonly Scene[]} */
export const SCENES = [
  { name: "dependencies", text: "Update the dependencies" },
  { name: "search", text: "Why is the search slow?", after: 52 },
  { name: "search", text: "Add the index", after: 24, answer: "accept", waits: 1_260 },
  { name: "tour", backend: "demo", text: "approve", after: 71, answer: "accept", waits: 610 },
  { name: "release", text: "Write the release notes", after: 38 },
  { name: "release", text: "Shorter, please", after: 49 },
  { name: "images", text: "Compress the images", after: 44, answer: "accept", waits: 900 },
  { name: "checkout", text: "Migrate checkout to the new cart", after: 58 },
  {
    name: "flaky-test",
    parent: "checkout",
    text: "Find why the payment test is flaky",
    after: 2,
    until: "works",
  },
  { name: "totals", parent: "checkout", text: "Fix the cart totals", after: 1, until: "asks" },
  { name: "documents", parent: "checkout", text: "Update the docs", after: 1, until: "asks" },
];
