import type { ReactNode } from "react";

export function KeysScreen(): ReactNode {
  return null;
}
