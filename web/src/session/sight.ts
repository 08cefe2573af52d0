// What of a request card can be seen where it is drawn.

/** Whether a part of the element can be seen. */
export function isInSight(element: Element): boolean {
  const view = getView(element);
  const { top, bottom } = element.getBoundingClientRect();
  return top < view.bottom && bottom > view.top;
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

function getView(element: Element): DOMRect {
  return (element.closest(".requests") ?? document.documentElement).getBoundingClientRect();
}
