import type { ReactNode } from "react";

export function AgentScreen(): ReactNode {
  return null;
}
