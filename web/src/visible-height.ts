// The height that a person sees: a phone's keyboard covers the page without making it smaller on some systems, so the
// frame is told (`--visible-height`), and what stands at its bottom stays above the keys.

/** Gives what ends it. */
export function followVisibleHeight(view: VisualViewport | null, root: HTMLElement): () => void {
  if (view === null) return () => undefined;
  const tell = (): void => {
    // Zoomed in, the visible part is small on purpose.
    if (view.scale > 1.01) root.style.removeProperty("--visible-height");
    else root.style.setProperty("--visible-height", `${Math.round(view.height)}px`);
  };
  view.addEventListener("resize", tell);
  tell();
  return () => {
    view.removeEventListener("resize", tell);
    root.style.removeProperty("--visible-height");
  };
}
