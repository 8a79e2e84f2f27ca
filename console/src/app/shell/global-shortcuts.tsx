import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { useRoles } from "../context.ts";
import { messages } from "../messages.ts";

interface Props {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** The keys that work on every screen. */
export function GlobalShortcuts({ onPalette, onHelp }: Props): ReactNode {
  const { nav, header } = useMessages(messages);
  const navigate = useNavigate();
  const { isOperator } = useRoles();
  const go = (
    keys: string,
    label: string,
    to: "/search" | "/chat" | "/agents" | "/people" | "/keys" | "/operations" | "/organization" | "/",
  ) => ({ keys, label, isGlobal: true, run: () => void navigate({ to }) }) as const;
  useShortcuts([
    { keys: "mod+k", label: header.palette, isGlobal: true, run: onPalette },
    { keys: "?", label: header.shortcuts, isGlobal: true, run: onHelp },
    go("g s", nav.spaces, "/"),
    go("g f", nav.search, "/search"),
    go("g c", nav.chat, "/chat"),
    go("g a", nav.agents, "/agents"),
    go("g p", nav.people, "/people"),
    go("g k", nav.keys, "/keys"),
    go("g o", nav.organization, "/organization"),
    ...(isOperator ? [go("g x", nav.operations, "/operations")] : []),
  ]);
  return null;
}
