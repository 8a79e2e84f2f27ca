import type { ReactNode } from "react";

export function OperationsScreen(): ReactNode {
  return null;
}
