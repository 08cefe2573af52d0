// A screen whose terminal title is changed by the screen that opened it.
import type { Opener, Screen } from "../screen-types.ts";

export function withTitle(opener: Opener, change: (title: string) => string): Opener {
  return (app): Screen => {
    const screen = opener(app);
    return {
      title: () => change(screen.title()),
      onInput: (input) => screen.onInput(input),
      draw: (size) => screen.draw(size),
      onShown: (isShown) => screen.onShown?.(isShown),
      close: () => screen.close(),
    };
  };
}
