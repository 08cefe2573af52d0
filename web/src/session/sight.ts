// What of a request card can be seen where it is drawn.

/** Whether a part of the element can be seen. */
export function isInSight(element: Element): boolean {
  const view = getView(element);
  const { top, bottom } = element.getBoundingClientRect();
  const end = findBarOver(element)?.getBoundingClientRect().top ?? view.bottom;
  return top < Math.min(view.bottom, end) && bottom > view.top;
}

/** Scrolls a choice that remembers something, with what that is, out from under the bar of the other choices. */
export function uncover(element: Element): void {
  const bar = findBarOver(element);
  if (bar === undefined) return;
  for (const part of [element.closest<HTMLElement>(".choice-row"), element as HTMLElement]) {
    if (part === null) continue;
    part.style.scrollMarginBlockEnd = `${bar.offsetHeight}px`;
    part.scrollIntoView({ block: "nearest" });
  }
}

/** Whether the subject can be seen from its start to its end; enough to decline is the start. */
export function isAllInSight(card: HTMLElement, isDecline: boolean): boolean {
  const view = getView(card);
  const { top } = card.getBoundingClientRect();
  if (top < view.top - 1 || top > view.bottom) return false;
  const [end, choices] = [".card-details", ".card-decide"].map((name) =>
    card.querySelector(name)?.getBoundingClientRect(),
  );
  return isDecline || end === undefined || choices === undefined || end.top <= choices.top;
}

/** The element itself first. */
export function listAncestors(element: Element): Element[] {
  const found: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) found.push(at);
  return found;
}

/** The choices that stay in sight cover what scrolls beneath them. */
function findBarOver(element: Element): HTMLElement | undefined {
  const bar = element.closest(".card")?.querySelector<HTMLElement>(".card-decide");
  return bar?.contains(element) ? undefined : (bar ?? undefined);
}

function getView(element: Element): DOMRect {
  return (element.closest(".requests") ?? document.documentElement).getBoundingClientRect();
}
