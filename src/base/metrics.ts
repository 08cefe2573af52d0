// Counters and gauges of the daemon in the Prometheus format. Names are declared once, where they are counted.

export interface Counter {
  /** Labels are few and bounded: never an id. */
  add(by?: number, labels?: Readonly<Record<string, string>>): void;
}

export interface Metrics {
  counter(name: string, help: string): Counter;
  /** Read on every scrape. Several values must differ in their labels. */
  gauge(name: string, help: string, read: () => number | readonly Sample[]): void;
  /** Called before every scrape, for gauges that cannot be read at once. One that fails leaves them as they were. */
  beforeScrape(read: () => Promise<void>): void;
  /** The text exposition format, version 0.0.4. */
  text(): string;
  scrape(): Promise<string>;
}

export interface Sample {
  value: number;
  labels: Readonly<Record<string, string>>;
}

interface Family {
  type: "counter" | "gauge";
  help: string;
  /** The formatted labels, with braces or empty, and the value. */
  samples(): [string, number][];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export function createMetrics(): Metrics {
  const families = new Map<string, Family>();
  const readers: (() => Promise<void>)[] = [];

  function declare(name: string, family: Family): void {
    if (!METRIC_NAME.test(name)) throw new Error(`"${name}" is not a valid metric name`);
    if (families.has(name)) throw new Error(`the metric ${name} is declared twice`);
    families.set(name, family);
  }

  const text = (): string =>
    [...families]
      .sort(byName)
      .map(([name, family]) => familyText(name, family))
      .join("");

  return {
    counter(name, help) {
      const values = new Map<string, number>();
      declare(name, {
        type: "counter",
        help,
        // Present from the start, so that "never" and "missing" differ.
        samples: () => (values.size === 0 ? [["", 0]] : [...values]),
      });
      return {
        add(by = 1, labels) {
          // Counters never decrease; callers on the event path do not get an exception for trying.
          if (!(by >= 0)) return;
          const key = labels === undefined ? "" : labelText(labels);
          values.set(key, (values.get(key) ?? 0) + by);
        },
      };
    },
    gauge(name, help, read) {
      declare(name, {
        type: "gauge",
        help,
        samples() {
          const found = read();
          if (typeof found === "number") return [["", found]];
          return found.map(({ value, labels }) => [labelText(labels), value]);
        },
      });
    },
    beforeScrape: (read) => void readers.push(read),
    text,
    async scrape() {
      await Promise.allSettled(readers.map((read) => read()));
      return text();
    },
  };
}

function familyText(name: string, family: Family): string {
  let samples: [string, number][];
  try {
    samples = family.samples().sort(byName);
  } catch {
    // A gauge that cannot be read is missing; it must not hide the others.
    return "";
  }
  const lines = samples.map(([labels, value]) => `${name}${labels} ${numberText(value)}\n`);
  return `# HELP ${name} ${escapeHelp(family.help)}\n# TYPE ${name} ${family.type}\n${lines.join("")}`;
}

/** The same labels give the same text, in any order. */
function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels)
    .filter(([name]) => LABEL_NAME.test(name))
    .sort(byName)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
