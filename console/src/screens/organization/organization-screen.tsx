import type { ReactNode } from "react";

export function OrganizationScreen(): ReactNode {
  return null;
}
