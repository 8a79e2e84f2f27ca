import type { ReactNode } from "react";

export function DocumentScreen(): ReactNode {
  return null;
}
