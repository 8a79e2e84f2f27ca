import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../../app/context.ts";
import { spacesQuery } from "../../../app/spaces.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import type { StateColor } from "../../../parts/lists/state-badge.tsx";
import { messages } from "./messages.ts";
import type { Webhook } from "./webhook-queries.ts";

export const STATE_COLORS: Readonly<Record<Webhook["status"], StateColor>> = {
  active: "green",
  paused: "yellow",
  disabled: "red",
};

/** Whose events a webhook gets. */
export function EventsOf({ spaceId }: { readonly spaceId: string | null }): ReactNode {
  const texts = useMessages(messages);
  const { data } = useQuery(spacesQuery(useHoldfast()));
  if (spaceId === null) return texts.organization;
  return <Bidi>{data?.find(({ id }) => id === spaceId)?.name ?? spaceId}</Bidi>;
}
