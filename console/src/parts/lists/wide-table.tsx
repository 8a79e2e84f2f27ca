import { Box, Table } from "@mantine/core";
import type { ReactNode } from "react";
import "./wide-table.css";

interface Props {
  /** What the table lists, for those who hear it. */
  readonly label: string;
  /** The titles of the columns; the last one may be empty, above buttons. */
  readonly columns: readonly string[];
  readonly children: ReactNode;
  /** The narrowest that it is readable; below, it scrolls within itself. */
  readonly minWidth?: number;
}

/** A table that scrolls sideways within itself where the screen is narrow, also by the keyboard. */
export function WideTable({ label, columns, children, minWidth = 640 }: Props): ReactNode {
  return (
    <Box
      role="region"
      aria-label={label}
      // A region that scrolls is reached by Tab, so that the arrow keys scroll it.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      style={{ overflowX: "auto" }}
    >
      <Table className="wide-table" miw={minWidth} aria-label={label} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column, index) =>
              column === "" ? <Table.Td key={index} /> : <Table.Th key={column}>{column}</Table.Th>,
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Box>
  );
}
