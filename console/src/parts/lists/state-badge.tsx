import { Badge } from "@mantine/core";
import type { ReactNode } from "react";

export type StateColor = "gray" | "green" | "red" | "indigo" | "yellow";

interface Props {
  readonly color: StateColor;
  readonly children: string;
}

/** A word in a colour whose contrast is enough, light and dark. */
export function StateBadge({ color, children }: Props): ReactNode {
  // The darkest green and yellow of the palette are too light for their pale backgrounds.
  const light = `color-mix(in srgb, var(--mantine-color-${color}-9) 60%, black)`;
  return (
    <Badge
      color={color}
      variant="light"
      tt="none"
      miw="max-content"
      c={`light-dark(${light}, var(--mantine-color-${color}-2))`}
    >
      {children}
    </Badge>
  );
}
