// Rows of text on the terminal, by Ink. The rows are no wider than the screen, so nothing is wrapped or cut here.
import { Box, Text } from "ink";
import { createContext, type ReactElement, useContext, useInsertionEffect } from "react";

export interface RowsProps {
  rows: readonly string[];
  cursor?: { x: number; y: number } | undefined;
}

/** Where the screen wants the cursor; read by whoever puts the frame on the terminal. */
export const CursorPlace = createContext<{ at?: { x: number; y: number } | undefined }>({});

export function Rows({ rows, cursor }: RowsProps): ReactElement {
  const place = useContext(CursorPlace);
  // Ink writes the frame when React commits it; only insertion effects run before that.
  useInsertionEffect(() => {
    place.at = cursor;
  });
  return (
    <Box flexDirection="column">
      {/* One text: a layout node a row would cost more than the rows themselves. */}
      <Text wrap="truncate">{rows.map((row) => (row === "" ? " " : row)).join("\n")}</Text>
    </Box>
  );
}
