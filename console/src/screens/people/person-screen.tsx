import type { ReactNode } from "react";

export function PersonScreen(): ReactNode {
  return null;
}
