// Sets `--visible-height`, so that the composer stays above a phone's keyboard, which on some systems covers the page
// without resizing it.

/** Returns a function that stops it. */
export function followVisibleHeight(view: VisualViewport | null, root: HTMLElement): () => void {
  if (view === null) return () => undefined;
  const update = (): void => {
    // When zoomed in, the visible part is small on purpose.
    if (view.scale > 1.01) root.style.removeProperty("--visible-height");
    else root.style.setProperty("--visible-height", `${Math.round(view.height)}px`);
  };
  view.addEventListener("resize", update);
  update();
  return () => {
    view.removeEventListener("resize", update);
    root.style.removeProperty("--visible-height");
  };
}
