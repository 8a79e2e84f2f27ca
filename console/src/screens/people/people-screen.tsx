import type { ReactNode } from "react";

export function PeopleScreen(): ReactNode {
  return null;
}
