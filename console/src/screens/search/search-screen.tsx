import type { ReactNode } from "react";

export function SearchScreen(): ReactNode {
  return null;
}
