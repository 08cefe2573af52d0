// The relatives of sessions in memory. Their views are made many times per second, so who is above and below them is kept
// here; that of other sessions is read from the store.
import type { SessionRow } from "../../protocol/session.ts";
import type { Kin } from "../../store/types.ts";

type Member = Pick<SessionRow, "session_id" | "parent">;

export const NO_KIN: Kin = { above: [], children: [] };

export class Relatives {
  readonly #kin = new Map<string, Kin>();
  /** Children in memory, by parent. */
  readonly #loaded = new Map<string, Set<string>>();

  of(session_id: string): Kin {
    return this.#kin.get(session_id) ?? NO_KIN;
  }

  /** The session is in memory now; `stored` is what the store knows. */
  add({ session_id, parent }: Member, stored: Kin): void {
    const children = new Set([...stored.children, ...(this.#loaded.get(session_id) ?? [])]);
    this.#kin.set(session_id, { above: [...stored.above], children: [...children] });
    if (parent !== undefined) {
      const siblings = this.#loaded.get(parent) ?? new Set();
      this.#loaded.set(parent, siblings.add(session_id));
      const known = this.#kin.get(parent)?.children;
      if (known?.includes(session_id) === false) known.push(session_id);
      if (this.#kin.has(parent)) this.#extend(parent, new Set());
    }
    this.#extend(session_id, new Set());
  }

  /** It is only in the store from now on. */
  unload({ session_id, parent }: Member): void {
    this.#kin.delete(session_id);
    const siblings = parent === undefined ? undefined : this.#loaded.get(parent);
    siblings?.delete(session_id);
    if (parent !== undefined && siblings?.size === 0) this.#loaded.delete(parent);
  }

  /** It no longer exists: the lines of its descendants end before it. */
  forget(member: Member): void {
    const { session_id, parent } = member;
    this.unload(member);
    const siblings = parent === undefined ? undefined : this.#kin.get(parent)?.children;
    const at = siblings?.indexOf(session_id) ?? -1;
    if (at >= 0) siblings?.splice(at, 1);
    for (const { above } of this.#kin.values()) {
      const end = above.indexOf(session_id);
      if (end >= 0) above.length = end;
    }
  }

  /** The lines of those below a session in memory. A circular family is walked once. */
  #extend(session_id: string, seen: Set<string>): void {
    if (seen.has(session_id)) return;
    seen.add(session_id);
    const line = [session_id, ...this.of(session_id).above];
    for (const child of this.#loaded.get(session_id) ?? []) {
      const kin = this.#kin.get(child);
      if (kin === undefined) continue;
      const own = line.indexOf(child);
      kin.above = own < 0 ? line : line.slice(0, own);
      this.#extend(child, seen);
    }
  }
}
