import type { ReactNode } from "react";

export function WelcomeScreen(): ReactNode {
  return null;
}
