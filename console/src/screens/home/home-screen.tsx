import type { ReactNode } from "react";

export function HomeScreen(): ReactNode {
  return null;
}
