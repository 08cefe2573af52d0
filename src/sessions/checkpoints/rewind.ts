// The other half of an undo: the agent forgets the turns whose files were undone, if it can.
import type { Rewound } from "../../backends/types.ts";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { NumberedTurn } from "../core/jobs.ts";
import type { CheckpointRecord } from "./records.ts";
import { listRemembered } from "./spans.ts";
import type { UndoPlan } from "./undo.ts";

/** The session's agent. */
export interface Rewinder {
  canRewind: boolean;
  /** The backend's name. */
  name: string;
  /** Throws `session_busy`, `spawn_failed`. */
  rewind(turns: readonly NumberedTurn[]): Promise<Rewound>;
}

/** `turns`: to forget, oldest first. `reason`: why none. */
export interface RewindPlan {
  turns: readonly NumberedTurn[];
  reason?: string;
}

export function planRewind(
  { turn, isWhole }: Pick<UndoPlan, "turn" | "isWhole">,
  records: readonly CheckpointRecord[],
  { order, agent }: { order: UndoBody; agent: Pick<Rewinder, "canRewind" | "name"> },
): RewindPlan {
  const none = (reason: string): RewindPlan => ({ turns: [], reason });
  if (order.files_only === true) return none("only files were asked for");
  if (!agent.canRewind) return none(`${agent.name} cannot forget turns`);
  if (!isWhole) return none("not all files of these turns are undone");
  const turns = listRemembered(records, turn);
  return turns.length === 0 ? none("the agent has forgotten these turns already") : { turns };
}

export async function performRewind(plan: RewindPlan, agent: Rewinder): Promise<UndoReply["conversation"]> {
  const { turns, reason } = plan;
  if (turns.length === 0) return { rewound: false, ...defined({ reason }) };
  try {
    const { first, reason: why } = await agent.rewind(turns);
    const turn = turns.find(({ turn_id }) => turn_id === first)?.turn;
    return { rewound: first === turns[0]?.turn_id, ...defined({ turn, reason: why }) };
  } catch (error) {
    return { rewound: false, reason: toMessage(error) };
  }
}
