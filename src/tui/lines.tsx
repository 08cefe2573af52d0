// Rows of text on the terminal, by Ink. For Ink a row is one character that stands for it: the rows are no wider than the
// screen, and taking them apart into characters and codes to put them together again was nine tenths of a frame.
import { Box, Text } from "ink";
import { createContext, type ReactElement, useContext, useInsertionEffect } from "react";
import type { Painted } from "./paint.ts";

/** Private characters, so many that any screen has one for each of its rows. */
const FIRST_MARK = 0xf0000;
/** So wide is the screen for Ink. */
export const ROW_MARK_COLUMNS = 1;

/** What the screen wants to be seen; read by whoever puts the frame on the terminal. */
export const Wanted = createContext<{ now: Painted }>({ now: { rows: [] } });

export function Rows({ rows, cursor }: Painted): ReactElement {
  const wanted = useContext(Wanted);
  // Ink writes the frame when React commits it; only insertion effects run before that.
  useInsertionEffect(() => {
    wanted.now = { rows, cursor };
  });
  return (
    <Box flexDirection="column">
      {/* One text: a layout node a row would cost more than the rows themselves. */}
      <Text>{rows.map((_, at) => String.fromCodePoint(FIRST_MARK + at)).join("\n")}</Text>
    </Box>
  );
}

/** The frame that Ink laid out, with the rows in the places of their marks. */
export function filledFrame(frame: string, rows: readonly string[]): string[] {
  return frame.split("\n").map((line) => rows[(line.codePointAt(0) ?? 0) - FIRST_MARK] ?? "");
}
