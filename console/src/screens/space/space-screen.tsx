import type { ReactNode } from "react";

export function SpaceScreen(): ReactNode {
  return null;
}
