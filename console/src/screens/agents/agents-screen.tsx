import type { ReactNode } from "react";

export function AgentsScreen(): ReactNode {
  return null;
}
