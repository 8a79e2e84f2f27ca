import type { ReactNode } from "react";

export function ChatScreen(): ReactNode {
  return null;
}
