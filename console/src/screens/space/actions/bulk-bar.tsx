import { Button, Group, Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import type { ListState } from "../list/use-list.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly list: ListState;
  readonly onMove: () => void;
  readonly onReprocess: () => void;
  readonly onRemove: () => void;
}

/** What can be done with what is selected. */
export function BulkBar({ list, onMove, onReprocess, onRemove }: Props): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const { count, total, selection } = list;
  if (count === 0) return null;
  return (
    <Paper
      withBorder
      p={6}
      component="section"
      aria-label={texts.selected(formats.number(count), count === 1)}
    >
      <Group gap="xs">
        <Text size="sm" fw={600} role="status" miw={100}>
          {texts.selected(formats.number(count), count === 1)}
        </Text>
        <Button size="compact-sm" variant="default" onClick={onMove}>
          {texts.move}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onReprocess}>
          {texts.reprocess}
        </Button>
        <Button size="compact-sm" variant="default" c="var(--mantine-color-error)" onClick={onRemove}>
          {texts.remove}
        </Button>
        {selection.kind === "some" && total > count && (
          <Button size="compact-sm" variant="subtle" onClick={list.selectAll}>
            {texts.all(formats.number(total))}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={list.clear}>
          {texts.clear}
        </Button>
      </Group>
    </Paper>
  );
}
