import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { useMessages } from "../../messages/messages.ts";
import { strongColor } from "../../parts/strong-color.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly number: number;
  readonly title: string;
  readonly text: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

/** One of the first steps; all are there from the start, since nothing has to be done in order. */
export function Step({ number, title, text, isDone, children }: Props): ReactNode {
  const texts = useMessages(messages);
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Title order={2} size="h4" id={id}>
            {texts.step(number, title)}
          </Title>
          {isDone && (
            <Badge color="green" variant="light" tt="none" c={strongColor("green")}>
              ✓ {texts.done}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {text}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
