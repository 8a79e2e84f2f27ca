import { Text, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { useLiveState } from "../context.ts";
import { messages } from "../messages.ts";

const MARKS = { live: "●", behind: "▲", starting: "○" } as const;
/** On white, the darkest shades that Mantine has are not dark enough for small text. */
const onWhite = (shade: string): string => `color-mix(in srgb, var(--mantine-color-${shade}), black 25%)`;
const COLORS = {
  live: `light-dark(${onWhite("green-9")}, var(--mantine-color-green-4))`,
  behind: `light-dark(${onWhite("orange-9")}, var(--mantine-color-orange-4))`,
  starting: "dimmed",
} as const;

/** Whether what is shown is what is. */
export function LiveMark(): ReactNode {
  const texts = useMessages(messages).header;
  const state = useLiveState();
  const hints = { live: texts.liveText, behind: texts.behindText, starting: texts.starting };
  return (
    <Tooltip label={hints[state]} multiline maw={280}>
      <Text
        size="sm"
        c={COLORS[state]}
        role="status"
        data-live={state}
        tabIndex={0}
        style={{ whiteSpace: "nowrap" }}
      >
        <span aria-hidden>{MARKS[state]}</span> {texts[state]}
      </Text>
    </Tooltip>
  );
}
