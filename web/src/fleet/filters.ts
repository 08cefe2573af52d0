// The panel of the list: its order, and which sessions it shows.
import { html, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import { type FleetFilter, STATE_FILTERS, type StateFilter } from "../../../src/client/view/fleet-filter.ts";
import { nameProjects } from "../../../src/client/view/fleet-groups.ts";
import { ARRANGEMENTS, type Arrangement, listKnown } from "./arrange.ts";

const ARRANGEMENT_LABELS: Readonly<Record<Arrangement, string>> = {
  state: "By state",
  project: "By project",
  newest: "Newest first",
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AGES: readonly { name: string; filter: Pick<FleetFilter, "newerMs" | "olderMs"> }[] = [
  { name: "in the last hour", filter: { newerMs: HOUR_MS } },
  { name: "in the last day", filter: { newerMs: DAY_MS } },
  { name: "in the last week", filter: { newerMs: 7 * DAY_MS } },
  { name: "not for a day", filter: { olderMs: DAY_MS } },
  { name: "not for a week", filter: { olderMs: 7 * DAY_MS } },
];
const COSTS_USD = [0.1, 1, 10, 100] as const;

export interface FiltersContext {
  fleet: Fleet;
  /** Sessions that were started outside. */
  outside: string;
  arrangement: Arrangement;
  picked: FleetFilter;
  arrange(arrangement: Arrangement): void;
  pick(picked: FleetFilter): void;
}

export function filtersPanel({
  fleet,
  outside,
  arrangement,
  picked,
  arrange,
  pick,
}: FiltersContext): TemplateResult {
  const { labels, projects, agents } = listKnown(fleet);
  const titles = nameProjects(projects);
  const set = (change: Loose): void => pick(omitUndefined({ ...picked, ...change }));
  const age = AGES.findIndex(
    ({ filter }) => filter.newerMs === picked.newerMs && filter.olderMs === picked.olderMs,
  );
  return html`<div class="fleet-filters" id="fleet-filters" role="group" aria-label="Filters">
    ${choice(
      "List",
      arrangement,
      ARRANGEMENTS.map((value) => ({ value, text: ARRANGEMENT_LABELS[value] })),
      (value) => {
        const found = ARRANGEMENTS.find((one) => one === value);
        if (found !== undefined) arrange(found);
      },
    )}
    <div class="fleet-states" role="group" aria-label="States">
      ${STATE_FILTERS.map((state) => stateButton(state, picked.states ?? [], (states) => set({ states })))}
      <button
        type="button"
        class="small"
        aria-pressed=${String(picked.archived === true)}
        @click=${() => set({ archived: picked.archived === true ? undefined : true })}
      >
        archived
      </button>
    </div>
    ${choice(
      "Project",
      picked.project ?? "",
      withAny("All projects", projects, (path) => titles.get(path) ?? path),
      (value) => set({ project: value || undefined }),
    )}
    ${labels.length === 0 ? nothing : choice("Label", picked.labels?.[0] ?? "", withAny("Any label", labels), (value) => set({ labels: value === "" ? undefined : [value] }))}
    ${choice("Agent", picked.agent ?? "", withAny("All agents", agents), (value) => set({ agent: value || undefined }))}
    ${choice(
      "Active",
      String(age),
      [
        { value: "-1", text: "At any time" },
        ...AGES.map(({ name }, at) => ({ value: String(at), text: name })),
      ],
      (value) => set({ newerMs: undefined, olderMs: undefined, ...AGES[Number(value)]?.filter }),
    )}
    ${choice(
      "Cost",
      String(picked.minCostUsd ?? ""),
      [
        { value: "", text: "Any" },
        ...COSTS_USD.map((usd) => ({ value: String(usd), text: `$${usd} or more` })),
      ],
      (value) => set({ minCostUsd: value === "" ? undefined : Number(value) }),
    )}
    <a href=${outside}>Started outside</a>
  </div>`;
}

type Loose = { [Name in keyof FleetFilter]?: FleetFilter[Name] | undefined };

function omitUndefined(filter: Loose): FleetFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as FleetFilter;
}

function stateButton(
  state: StateFilter,
  chosen: readonly StateFilter[],
  set: (states: readonly StateFilter[] | undefined) => void,
): TemplateResult {
  const isChosen = chosen.includes(state);
  const toggle = (): void => {
    const states = isChosen ? chosen.filter((one) => one !== state) : [...chosen, state];
    set(states.length === 0 ? undefined : states);
  };
  return html`<button type="button" class="small" aria-pressed=${String(isChosen)} @click=${toggle}>${state}</button>`;
}

interface Option {
  value: string;
  text: string;
}

function withAny(
  any: string,
  values: readonly string[],
  toText = (value: string): string => value,
): Option[] {
  return [{ value: "", text: any }, ...values.map((value) => ({ value, text: sanitizeLine(toText(value)) }))];
}

function choice(
  label: string,
  chosen: string,
  options: readonly Option[],
  set: (value: string) => void,
): TemplateResult {
  return html`<label class="fleet-choice">
    <span>${label}</span>
    <select @change=${(event: Event) => set((event.currentTarget as HTMLSelectElement).value)}>
      ${options.map(({ value, text }) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}
    </select>
  </label>`;
}
