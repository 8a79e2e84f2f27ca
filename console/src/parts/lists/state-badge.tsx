import { Badge } from "@mantine/core";
import type { ReactNode } from "react";

export type StateColor = "gray" | "green" | "red" | "indigo" | "yellow";

interface Props {
  readonly color: StateColor;
  readonly children: string;
}

/** A word in a colour whose contrast is enough, light and dark. */
export function StateBadge({ color, children }: Props): ReactNode {
  const light = color === "yellow" ? "dark-6" : `${color}-9`;
  return (
    <Badge
      color={color}
      variant="light"
      tt="none"
      c={`light-dark(var(--mantine-color-${light}), var(--mantine-color-${color}-2))`}
    >
      {children}
    </Badge>
  );
}
