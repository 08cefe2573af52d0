// Agents the user can install, as part of a sentence: "`a` or `b`".
import { html, type TemplateResult } from "lit";
import { INSTALLABLE } from "../../../src/client/view/installable.ts";

export function installable(): TemplateResult[] {
  return INSTALLABLE.map((name, index) => html`${index === 0 ? "" : " or "}<code>${name}</code>`);
}
