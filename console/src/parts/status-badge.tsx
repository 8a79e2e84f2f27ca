import type { Schemas } from "@holdfast/client";
import { Badge } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";
import { strongColor } from "./strong-color.ts";

export type PipelineStatus = NonNullable<Schemas["ProcessingState"]["pipeline_status"]>;

export const STATUS_COLORS: Readonly<Record<PipelineStatus, string>> = {
  queued: "gray",
  parsing: "indigo",
  chunking: "indigo",
  embedding: "indigo",
  completed: "green",
  failed: "red",
  cancelled: "gray",
};

/** Where a document's latest run is, in a word and a colour. */
export function StatusBadge({ status }: { readonly status: PipelineStatus }): ReactNode {
  const texts = useMessages(messages).status;
  const color = STATUS_COLORS[status];
  return (
    <Badge color={color} variant="light" tt="none" c={strongColor(color)}>
      {texts[status]}
    </Badge>
  );
}
