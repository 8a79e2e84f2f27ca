import { Box, Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { Bidi } from "./bidi.tsx";

interface Props {
  readonly title: string;
  /** One line below the title. */
  readonly text?: ReactNode;
  /** Buttons at the right. */
  readonly children?: ReactNode;
}

/** The title of a screen, which is the title of its page too. */
export function PageHeader({ title, text, children }: Props): ReactNode {
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <Box miw={0} flex="1 1 200px">
        <Title order={1} size="h2">
          <Bidi>{title}</Bidi>
        </Title>
        {text !== undefined && (
          <Text c="dimmed" component="div">
            {text}
          </Text>
        )}
      </Box>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}
